"""Acts on elements as a person would: click, type, choose."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from playwright.async_api import ElementHandle, FileChooser, Locator

from browse_together.contract.actions import interaction
from browse_together.contract.actions.base import ElementAction
from browse_together.contract.errors import ElementNotInteractable, WithoutEffect
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import AS_GIVEN
from browser_service.actions.page.editing import paste
from browser_service.actions.page.pointer import check_button
from browser_service.actions.support import code_boxes, scaled_frames
from browser_service.actions.support.code_boxes import in_boxes
from browser_service.actions.support.copied import pasted
from browser_service.actions.support.editors import or_of_editor, replace_text, typed_into, unless_editor
from browser_service.actions.support.field_values import (
    Question,
    not_as_given,
)
from browser_service.actions.support.options import check_there
from browser_service.actions.support.secret_values import kept_whole, to_type
from browser_service.actions.support.sliders import take_last_step
from browser_service.actions.support.typed_values import GONE, field_after, filled_reply, typed_reply
from browser_service.actions.support.witness import Witness
from browser_service.host import world
from browser_service.host.elements import locators, targets
from browser_service.host.elements.filled_fields import FIELD, Field
from browser_service.host.elements.locators import without_state_check
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import results, script
from browser_service.host.stages.delta import TURNS, shows_changes
from browser_service.host.tabs.presses import NO_PRESS, chord, clicks, filling, sent, typing

_READY_FOR_KEYS: Final = results.bounded(script("keys_ready"))
_IS_FIELD: Final = results.bounded("e => e.isContentEditable || e.matches('input, textarea')")
_FINAL_EVENTS: Final = {"left": "click", "middle": "auxclick", "right": "contextmenu"}
_ACTIVATING_KEYS: Final = ("Enter", "Space", " ")
"""Keys that may submit a form or click."""
_CHOOSER_S: Final = 1.0


async def click(page: BrowserPage, action: interaction.Click) -> Json:
    check_button(page, action.button)
    element = await _element(page, action)
    frame = page.looks.document_of(action.selector, action.frame)
    scaled = await _is_scaled(page, action, element)

    async def press_mouse(found: Locator) -> None:
        times = 0 if action.trial else action.click_count
        by_mouse = scaled_frames.click(page.playwright, found, action) if scaled else None
        clicking = by_mouse or locators.click(found, **action.own_arguments(), timeout=action.timeout)
        await sent(clicking, clicks(times, action.modifiers))

    if action.trial or action.no_wait_after:
        await page.elements.act(element, action.selector, press_mouse, strict=action.strict)
        return {}
    with page.tab.file_choosers.during_act() as opened_chooser:
        asked = page.looks.state_question(TURNS) if shows_changes(page, action) else None
        kind = _FINAL_EVENTS[action.button]
        async with Witness(element, frame, kind=kind, force=action.force or scaled, asked=asked) as witness:
            await page.elements.act(element, action.selector, press_mouse, strict=action.strict)
            verdict = await witness.verdict()
        page.note_target(action.selector, action.frame, verdict.lasting)
        if verdict.asks:
            await asyncio.wait({opened_chooser}, timeout=_CHOOSER_S)
    verdict.check(action.selector, acted=page.observer.had_effect)
    if verdict.saves:
        page.observer.expect_download()
    if verdict.state is not None:
        page.looks.note_state(verdict.state)
    page.observer.add_lines(
        *verdict.lines(),
        *([_describe_chooser(action, opened_chooser.result())] if opened_chooser.done() else []),
        silence=verdict.silence,
    )
    return {}


def _describe_chooser(action: interaction.Click, chooser: FileChooser) -> str:
    where: Json = {"selector": action.selector, **({"frame": action.frame} if action.frame else {})}
    upload = next_call("upload_file", **where, files=[{"name": "a.txt", "text": "..."}])
    several = "files" if chooser.is_multiple() else "a file"
    return f"it asks for {several}, and got none: {upload}"


async def fill(page: BrowserPage, action: interaction.Fill) -> Json:
    element = await _element(page, action, for_act=isinstance(action.value, str))
    target, text = await to_type(page, element, action.value, action.timeout)

    async def put(field: Locator | ElementHandle) -> None:
        if isinstance(field, ElementHandle) and await code_boxes.have_room(field, text):
            await code_boxes.enter(field, text, action.selector, action.timeout)
            return
        async with kept_whole(page, field, action.value, text, action.selector):
            put_in = field.fill(text, force=action.force, no_wait_after=action.no_wait_after, timeout=action.timeout)
            await sent(put_in, filling(text))

    async def put_text(found: Locator) -> None:
        await unless_editor(found, put)

    async def fill_field() -> Json:
        async def enter() -> None:
            if isinstance(target, Locator):
                await page.elements.act(target, action.selector, put_text, strict=action.strict)
            else:
                await put(target)

        event = "input" if text else None
        result = await field_after(page, action, element, enter, text, event=event, enters=True)
        if result is not None and (told := await in_boxes(element, result["value"], text, action)):
            return {"observed": f"{AS_GIVEN}, {told}"}
        if result is not None and result["type"] == "range":
            step = partial(take_last_step, element, result["value"], action.timeout)
            result = await field_after(page, action, element, step, text, event=None)
        return filled_reply(result, action, text)

    async def replace() -> Json:
        handle = await world.handle_of(element, action.timeout)
        return {"observed": await replace_text(page.playwright, handle, action.selector, text, action.timeout)}

    return await or_of_editor(fill_field(), replace)


async def type_(page: BrowserPage, action: interaction.Type) -> Json:
    element, receiver = await _for_keys(page, action, types=True, parts=isinstance(action.text, str))
    is_field = action.selector is not None or results.value_of(await world.evaluate(element, _IS_FIELD)) is True
    if not (is_field or isinstance(action.text, str)):
        raise ElementNotInteractable(
            "No field has the focus, and a secret goes into one alone.",
            hint=f"Name it: {next_call('type', selector='...', text={'secret': action.text.secret})}.",
        )
    target, text = await to_type(page, receiver, action.text, action.timeout)

    async def put() -> None:
        if isinstance(target, ElementHandle) and await code_boxes.have_room(target, text):
            await code_boxes.enter(target, text, action.selector, action.timeout)
            return
        if isinstance(target, Locator) or isinstance(action.text, str):
            type_in = target.press_sequentially if isinstance(target, Locator) else target.type
            within, waits_not = action.allowed_ms(), action.no_wait_after
            await sent(type_in(text, delay=action.delay, no_wait_after=waits_not, timeout=within), typing(text))
            return
        async with kept_whole(page, target, action.text, text, action.selector):
            for sign in text:  # each goes to the element itself, even if the page moves the focus meanwhile
                pressing = target.type(
                    sign, delay=action.delay, no_wait_after=action.no_wait_after, timeout=action.timeout
                )
                await sent(pressing, typing(sign))

    if not is_field:
        await put()
        return {}
    result = await field_after(page, action, element, put, text, event=None)
    if result is not None and (told := await in_boxes(element, result["value"], text, action)):
        return {"observed": f"{AS_GIVEN}, {told}"}
    if result is not None and result["editor"] and not result["secret"]:
        return {"observed": await typed_into(element, text)}
    return typed_reply(result, text)


async def _for_keys(
    page: BrowserPage, action: interaction.Type | interaction.Press, *, types: bool, parts: bool = True
) -> tuple[Locator | ElementHandle, Locator | ElementHandle]:
    """Return the element for keys, and the one that receives them: its editor, if it is a part of one and that
    counts."""
    if action.selector is None:
        focused = await targets.focused_element(page.playwright)
        return focused, focused
    element = await page.elements.find(action.selector, action.frame, strict=action.strict)
    ready = await world.evaluate(element, _READY_FOR_KEYS, argument=[types, parts], timeout_ms=action.timeout)
    return element, await targets.focused_element(page.playwright) if results.value_of(ready) is True else element


async def press(page: BrowserPage, action: interaction.Press) -> Json:
    if action.pastes:
        return await paste(page, pasted(page, action))
    _, element = await _for_keys(page, action, types=False)

    async def press_keys() -> None:
        async with targets.released_on_error(page.playwright, action.key):
            pressing = element.press(
                action.key, delay=action.delay, no_wait_after=action.no_wait_after, timeout=action.timeout
            )
            await sent(pressing, chord(action.key))

    if action.copies:
        return await _copy(page, element, press_keys)
    async with AsyncExitStack() as stack:
        witness = None
        if action.key.endswith(_ACTIVATING_KEYS) and not action.no_wait_after:
            witness = await stack.enter_async_context(Witness(element, None, kind="keyup"))
        await press_keys()
        if witness is not None:
            verdict = await witness.verdict()
            page.observer.add_lines(*verdict.lines(), silence=verdict.silence)
    return {}


async def _copy(page: BrowserPage, element: Locator | ElementHandle, press_keys: Callable[[], Awaitable[None]]) -> Json:
    copied = await page.session.clipboards.copy(page.files, element, press_keys)
    if copied is None:
        return {"observed": "nothing that can be copied was selected"}
    return {"observed": f"{len(copied.text):,} characters were copied, for you alone, in this session"}


async def hover(page: BrowserPage, action: interaction.Hover) -> Json:
    element = await _element(page, action)

    scaled = await _is_scaled(page, action, element)

    async def put_mouse(found: Locator) -> None:
        if scaled:
            await scaled_frames.hover(page.playwright, found, action.position, action.timeout)
            return
        await sent(found.hover(**action.own_arguments(), timeout=action.timeout), clicks(0, action.modifiers))

    await page.elements.act(element, action.selector, put_mouse, strict=action.strict)
    return {}


async def select_option(page: BrowserPage, action: interaction.SelectOption) -> Json:
    element = await _element(page, action)

    async def pick(found: Locator) -> list[str]:
        await check_there(found, action.own_arguments(), action.selector, action.timeout)
        return await sent(found.select_option(**action.own_arguments(), timeout=action.timeout), NO_PRESS)

    choose = partial(page.elements.act, element, action.selector, pick, strict=action.strict)
    question = Question(Field, FIELD, "change", fits=lambda field: bool(field["selected"]))
    chosen, field = await question.after(page, action.selector, element, choose)
    page.remember_field(action.selector, action.frame, field, strict=action.strict)
    names = ", ".join(map(repr, chosen)) or "nothing"
    if field is None:
        return {"selected": [*chosen], "observed": f"selected {names}; {GONE}"}
    selected = field["selected"]
    if selected != chosen:
        now = ", ".join(map(repr, selected)) or "nothing"
        raise not_as_given(f"The page shows {now} selected instead of {names}.", action.selector)
    twins = [f"{text!r} is {which}" for text, which in field["twins"].items() if text in action.given_texts]
    return {"selected": [*chosen], "observed": "; ".join([f"selected {names}", *twins])}


async def check(page: BrowserPage, action: interaction.Check) -> Json:
    return await _set_tick(page, action, ticked=True)


async def uncheck(page: BrowserPage, action: interaction.Uncheck) -> Json:
    return await _set_tick(page, action, ticked=False)


async def _set_tick(page: BrowserPage, action: interaction.Check | interaction.Uncheck, *, ticked: bool) -> Json:
    """Set the tick, and judge by what the page shows afterwards, which may change late or be reverted."""
    element = await _element(page, action)

    scaled = await _is_scaled(page, action, element)

    async def tick(found: Locator) -> None:
        if scaled:
            ticking = scaled_frames.tick(page.playwright, found, action, ticked=ticked)
        else:
            ticking = (found.check if ticked else found.uncheck)(**action.own_arguments(), timeout=action.timeout)
        await sent(ticking, clicks(0 if action.trial else 1))

    async def act() -> None:
        await without_state_check(page.elements.act(element, action.selector, tick, strict=action.strict))

    question = Question(Field, FIELD, "click", fits=lambda field: field["checked"] is ticked)
    _, field = await question.after(page, action.selector, element, act)
    if field is None:
        return {"observed": GONE}
    checked = field["checked"]
    if action.trial:
        return {"checked": checked}
    if checked is not ticked:
        raise WithoutEffect(
            f"The element matching '{action.selector}' is {'not' if ticked else 'still'} checked after {action.name()}:"
            " a script of the page, or the answer of its server, set it back.",
            hint=f"See what the page says about it: {next_call('snapshot')}.",
            details={"selector": action.selector, "context": {"checked": checked}},
        )
    page.remember_field(action.selector, action.frame, field, strict=action.strict)
    return {"checked": checked, "observed": f"it is {'checked' if checked else 'not checked'} now"}


async def _is_scaled(page: BrowserPage, action: ElementAction, element: Locator) -> bool:
    if page.looks.document_of(action.selector, action.frame) is not None:
        return False
    return await scaled_frames.has(page.playwright, element)


async def _element(page: BrowserPage, action: ElementAction, *, for_act: bool = True) -> Locator:
    return await page.elements.find(action.selector, action.frame, strict=action.strict, for_act=for_act)

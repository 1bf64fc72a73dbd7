"""Explains why an action on an element failed, with a look at the page if Playwright's error does not tell."""

import json
import re
from collections import Counter
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page
from typing_extensions import TypedDict

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.cuts import cut, shown_of
from browse_together.contract.errors import BrowseError, ElementNotInteractable
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import quoted
from browser_service.host import errors, world
from browser_service.host.elements import frames
from browser_service.host.elements.locators import (
    DESCRIBE,
    Candidate,
    Candidates,
    evaluate_all,
    find,
    is_xpath,
    none_if_gone,
)
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import index_of
from browser_service.host.scripts import results, script

_MOST_CANDIDATES: Final = 8
_LISTED_OPTIONS: Final = 12
_SAID: Final = 500
_FILE_INPUT: Final = "input[type=file]"
_LIST: Final = "xpath=ancestor::select"
_LOOK_MS: Final = 1_500
_WORDS: Final = re.compile(r"\w+(?:[ '\u2019-]\w+)*[.!?\u2026]?")
"""A selector that is only words. A lower-case one may be a tag name."""

_OBSTACLES: Final = script("obstacles")
_HAS_SHADOW: Final = results.bounded("() => [...document.querySelectorAll('*')].some(e => e.shadowRoot)")


class ElementState(TypedDict):
    """The result of _OBSTACLES."""

    words: str
    behind: str
    """The name of an open dialog that is in front of the element."""
    inert: bool
    untouchable: bool
    label: str
    unseen: str
    disabled: bool
    choice: str
    """Label of an option within a list."""
    inner: bool
    """Whether an element without size contains something visible."""
    options: list[str]


async def explain(error: PlaywrightError, page: BrowserPage, action: Action) -> BrowseError:
    """Explain why an action on an element failed, with a look at the page if the error itself does not tell."""
    url = page.url
    if errors.is_timeout(error) and errors.began(error):
        return errors.translate(error, action, url=url)  # the act itself may have changed what the page shows
    try:
        return await _by_selectors(error, page, action) or errors.translate(error, action, url=url)
    except PlaywrightError as second:
        return errors.translate(second, action, url=url)


async def _by_selectors(error: PlaywrightError, page: BrowserPage, action: Action) -> BrowseError | None:
    live, frame = page.playwright, action.aim.frame
    selectors = [each for each in (action.aim.selector, action.aim.onto) if each is not None]
    if frame is not None and (wrong_frame := await _wrong_frame(error, page, action, frame)):
        return wrong_frame
    for selector in selectors if errors.is_ambiguous(error) or errors.is_timeout(error) else ():
        count = await find(live, selector, frame).count()
        if errors.is_ambiguous(error) and (count > 1 or selector is selectors[-1]):
            return await _ambiguous(page, find(live, selector, frame), selector, frame)
        if errors.is_timeout(error) and not count:
            return await _not_found(live, action, selector)
    if selectors and errors.is_timeout(error) and action.effect is Effect.ACTS:
        if selectors[1:] and _names(error, selectors[1]):
            action = action.model_copy(update={"selector": selectors[1]})
        return await _by_state(error, live, action, find(live, action.aim.selector or selectors[0], frame))
    return None


def _names(error: PlaywrightError, selector: str) -> bool:
    """Return whether Playwright waited for this element."""
    return any(json.dumps(f"{engine}{selector}") in str(error) for engine in ("", "aria-ref="))


async def _by_state(error: PlaywrightError, page: Page, action: Action, locator: Locator) -> BrowseError:
    """Explain by the element's state, because Playwright's log may have ended too early to tell."""
    states = await evaluate_all(list[ElementState], locator, _OBSTACLES, _can_be_tried(action))
    translated = errors.translate(error, action, url=page.url, shown=states[0]["words"] if states else None)
    if errors.NO_CHOOSER in str(error):
        translated.advice = await _ways_to_give_files(page, action)
    if states and states[0]["inert"]:
        return _inert(action, states[0], translated)
    if not states or not isinstance(translated, ElementNotInteractable):
        return translated
    state = states[0]
    wrong, right, hint = _cause(translated.message, state) or ("", "", "")
    message, advice = translated.message.replace(wrong, right, 1), hint or translated.advice
    if state["label"] and not state["disabled"]:
        message = f"{message.removesuffix('.')}; its label would take the click."
    if state["behind"]:
        message = f"{message.removesuffix('.')}; the dialog {quoted(state['behind'])} is open."
    if instead := _instead(action, state):
        advice = f"{instead}."
    return ElementNotInteractable(message, hint=advice, details=translated.details)


async def of_inert(page: BrowserPage, action: Action, error: BrowseError) -> BrowseError | None:
    """Explain an act in vain if its element is inert; return None if it is not."""
    if not (selector := action.aim.selector):
        return None
    found = find(page.playwright, selector, action.aim.frame)
    states = await none_if_gone(evaluate_all(list[ElementState], found, _OBSTACLES, arg=False))
    return _inert(action, states[0], error) if states and states[0]["inert"] else None


def _inert(action: Action, state: ElementState, error: BrowseError) -> BrowseError:
    """Say that the page takes no acts on an element, and which dialog is in front of it."""
    behind = f", behind the dialog {quoted(state['behind'])}" if state["behind"] else ""
    return ElementNotInteractable(
        f"Element matching selector '{action.aim.selector}' is inert{behind}: the page takes no acts on it now.",
        hint=f"{'Act in the dialog first, or close it' if behind else 'Look what has to be done first'}: "
        f"{next_call('snapshot')}.",
        details={**error.details, "context": {"reason": "is inert", "lastError": cut(error.message, _SAID)}},
    )


async def _ways_to_give_files(page: Page, action: Action) -> str:
    """Name the page's file input, because a click opened no file chooser, or say that there is none."""
    inputs = await page.locator(_FILE_INPUT).count()
    if inputs:
        named = next_call(
            "upload_file", selector=_FILE_INPUT if inputs == 1 else f"{_FILE_INPUT} >> nth=0", files=[...]
        )
        return f"Name the input itself, hidden or not: {named}."
    dropped = next_call("drop", selector=action.aim.selector, files=[...])
    return f"The page has no file input, and a picker of its own (showOpenFilePicker) gets none. It may take {dropped}."


def _can_be_tried(action: Action) -> bool:
    return "trial" in type(action).model_fields


def _instead(action: Action, state: ElementState) -> str:
    """Return the call on a stand-in for the element: its label, its list, or something visible inside it; "" for
    none."""
    selector, frame = action.aim.selector, {"frame": action.aim.frame} if action.aim.frame else {}
    if state["disabled"]:
        return ""
    if state["label"]:
        return next_call(action.name(), selector=state["label"], **frame)
    if state["choice"]:
        return next_call("select_option", selector=f"{selector} >> {_LIST}", label=state["choice"], **frame)
    if state["inner"] and _can_be_tried(action):
        return next_call(action.name(), selector=f"{selector} >> :visible >> nth=0", **frame)
    return ""


def _cause(message: str, state: ElementState) -> tuple[str, str, str] | None:
    """Return the words to replace, their replacement, and the hint."""
    if "is covered by another element" in message and state["untouchable"]:
        start = message.index("is covered by")
        keyboard = next_call("press", selector="...", key="Enter")
        return (
            message[start : message.index(" (waited")],
            "takes no pointer events (pointer-events: none)",
            f"The page has it switched off for the mouse. Try the keyboard: {keyboard}.",
        )
    if "is not visible" in message and state["choice"]:
        return "is not visible", "is an option of a list, which shows it only while it is open", ""
    if "is not visible" in message and state["unseen"]:
        inner = ", and what is in it has" if state["inner"] else ""
        return "is not visible", f"is not visible: {state['unseen']}{inner}", ""
    if state["options"] and "option" in message:
        return "", "", offered(state["options"])
    return None


def offered(options: list[str]) -> str:
    """Name the options of a list."""
    shown = shown_of(len(options), _LISTED_OPTIONS)
    named, more = "; ".join(map(quoted, options[:shown])), len(options) - shown
    return f"It offers {named or 'nothing'}{f' and {more} more' if more > 0 else ''}."


async def _wrong_frame(error: PlaywrightError, page: BrowserPage, action: Action, frame: str) -> BrowseError | None:
    """Return the error if the frame's selector is at fault."""
    live = page.playwright
    locator = find(live, frame, None)
    if "<iframe> was expected" in str(error):
        return errors.no_frame(frame, url=live.url)
    if errors.is_timeout(error) and await locator.count() == 0:
        hint = "That is `frame`, which takes the ref or a selector of an iframe, such as iframe[name='...']."
        return errors.not_found(frame, action.aim.timeout or action.allowed_ms(), url=live.url, hint=hint)
    if errors.is_ambiguous(error) and await locator.count() > 1:
        return await _ambiguous(page, locator, frame)
    return None


async def _ambiguous(page: BrowserPage, locator: Locator, selector: str, frame: str | None = None) -> BrowseError:
    """List the candidates, each with what finds it alone and what a person tells it apart by."""
    described = (await evaluate_all(Candidates, locator, DESCRIBE, _MOST_CANDIDATES))["value"]
    refs = await page.looks.refs(locator, _MOST_CANDIDATES, _LOOK_MS)
    nodes = page.looks.view.tree if page.looks.view else []
    candidates: list[Json] = []
    for number, (facts, ref) in enumerate(zip(described, (each.own for each in refs), strict=False)):
        index = index_of(nodes, ref) if ref else None
        where = place(nodes, index) if index is not None else ""
        css = facts["css"] if facts["css"] and await find(page.playwright, facts["css"], frame).count() == 1 else ""
        address = ref or css or f"{selector} >> nth={number}"
        told: Json = {"tag": facts["tag"], "text": facts["text"], "visible": facts["visible"]}
        candidates.append({"selector": address, **told, **({"in": where} if where else {})})
    _tell_apart(candidates, described)
    return errors.ambiguous(selector, candidates, await locator.count(), url=page.url)


def _tell_apart(candidates: list[Json], described: list[Candidate]) -> None:
    """Give candidates that are alike what is near them, and where they are if that is alike too."""
    facts = [{"near": each["near"], "after": each["after"], "at": each["at"]} for each in described]
    for kind in ("near", "after", "at"):
        seen = Counter(map(_seen, candidates))
        for candidate, fact in zip(candidates, facts, strict=False):
            if seen[_seen(candidate)] > 1 and fact[kind]:
                candidate[kind] = fact[kind]


def _seen(candidate: Json) -> tuple[object, ...]:
    return tuple(value for name, value in candidate.items() if name != "selector")


async def _not_found(page: Page, action: Action, selector: str) -> BrowseError:
    hint, matches = None, list[frames.FrameMatch]()
    if is_xpath(selector) and results.value_of(await world.evaluate(page, _HAS_SHADOW)):
        hint = "XPath does not look into shadow DOM, which this page has: use CSS, text=, role= or a ref."
    elif len(page.frames) > 1 and not action.aim.frame:
        hint = (
            f"The page has frames: name one with `frame`, or take a ref from {next_call('snapshot')}, which "
            "reaches into all."
        )
        if matches := [match for match in await frames.matching(page, selector) if match.count]:
            hint = f"It is in {frames.describe(matches)}: {frames.way_in(matches)}."
    if not matches and _WORDS.fullmatch(selector) and selector != selector.lower():
        ref = next_call("find", text=selector)
        hint = f"It was looked up as CSS. By its words: text={selector}, or the ref that {ref} gives."
    allowed = action.aim.timeout or action.allowed_ms()
    return errors.not_found(selector, allowed, url=page.url, hint=hint, frames=frames.to_json(matches))

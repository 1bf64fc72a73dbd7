"""The owner's rules about acts, each checked when it would run, by its element as it is then; and about what pages send
by themselves, whoever in a browser sends it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final
from urllib.parse import urljoin

from playwright.async_api import ElementHandle, Locator, Request

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import CalledTool, Input, Keys, Reports
from browse_together.contract.calls import Call
from browse_together.contract.cuts import cut
from browse_together.contract.errors import Forbidden
from browse_together.contract.model import Json
from browse_together.contract.quoting import address, quoted
from browser_service.host import world
from browser_service.host.calls import CallRun
from browser_service.host.elements import page_tools, targets
from browser_service.host.handle.page import BrowserPage
from browser_service.host.network.guard import Sent, refuse_requests
from browser_service.host.record.record import PageRecord
from browser_service.host.scripts import results, script
from browser_service.host.stages.guard import KEY as GUARD_KEY
from browser_service.host.tabs.tab import Tab
from browser_service.host.world.ties import is_chromium
from browser_service.security.act_rules import Act, ActRule, ActRules
from browser_service.security.urls import origin_of

_ELEMENT_WORDS: Final = results.bounded(script("element_words"))
_ENTER: Final = ("Enter", "NumpadEnter", "\n", "\r")
WAYS: Final = "The account's owner may do it: browse-together run --person, or change the rule in policy.toml."
Page = tuple[PageRecord, Tab]


@contextmanager
def leave(page: BrowserPage, call: Call) -> Iterator[None]:
    """Give the page's requests the leave of the owner's rules while a person acts, or if a person confirmed the act."""
    page.record.has_leave = call.by_person or bool({*call.confirmed} - {GUARD_KEY})
    try:
        yield
    finally:
        page.record.has_leave, page.record.loading = False, None


async def check_act(page: BrowserPage, action: Action) -> None:
    """Raise Forbidden if a rule prevents an act now, or wants a person to confirm it. What a person does needs no
    leave.

    For rules about elements, wait for the element as the act itself would: Playwright's errors mean that the act could
    not be done either.
    """
    if not page.act_rules or page.call.by_person or action.parts():  # each part is checked by itself
        return
    done = action.canonical()
    act = _act(page, action, done)
    page.record.loading = act if act.loads else None
    if done.page_tool is not None:
        await _check_tool(page, action, act, done.page_tool)
    elif not done.input.activates or not page.act_rules.asks_element(act):
        _judge(page, action, [act])
    elif done.aim.selector is None:
        await _check_keys(page, action, act, await targets.focused_element(page.playwright))
    else:
        element = await page.elements.find(done.aim.selector, done.aim.frame, strict=done.aim.strict)
        timeout_ms = done.aim.timeout or done.allowed_ms()
        handle = await world.handle_of(element, timeout_ms)
        if done.input is Input.POINTER:
            await _check_click(page, action, act, handle, timeout_ms)
        else:
            await _check_keys(page, action, act, handle)


async def _check_tool(page: BrowserPage, action: Action, act: Act, called: CalledTool) -> None:
    """Check the call of a page's tool by what that says of itself. Only as it is now is it called."""
    frame = await page.elements.frame_or_main(called.frame, action.allowed_ms())
    tool = await page_tools.named(frame, called.name)
    if tool is not None and (called.as_recorded or not page.looks.tool_mark(called)):
        page.looks.note_tools({called: tool["mark"]})
    _judge(page, action, [act.model_copy(update=page_tools.facts(tool) if tool else {})])


async def check_field(page: BrowserPage, action: Action, field: ElementHandle) -> None:
    """Check a field that an action is about to tick, or in which it is about to choose."""
    if page.act_rules and not page.call.by_person:
        await _check_keys(page, action, _act(page, action, action), field)


async def check_button(page: BrowserPage, action: Action, button: Locator, timeout_ms: float) -> None:
    if page.act_rules and not page.call.by_person:
        handle = await world.handle_of(button, timeout_ms)
        await _check_click(page, action, _act(page, action, action), handle, timeout_ms)


def check_session_act(rules: ActRules, call: Call, action: Action) -> None:
    """Raise Forbidden if a rule prevents an act on a whole session: there is no page on which to ask a person."""
    act = Act(action=action.name(), effect=action.effect, url=action.requested_url or "")
    if not call.by_person and (rule := rules.deciding(act)) is not None:
        raise _forbidden(rule, _description(action, act))


def _act(page: BrowserPage, action: Action, done: Action) -> Act:
    """Return what is known of the act without its element; `done` is the action in its canonical form."""
    url = done.requested_url if done.requested_url and (done.navigates or done.request_method) else ""
    here = page.playwright.url if page.record.live else page.record.url
    return Act(
        action=done.name(),
        called=action.name(),
        effect=done.effect,
        url=urljoin(here, url) if url else here,
        loads=bool(url and done.navigates),
        method=done.request_method,
    )


async def _check_click(page: BrowserPage, action: Action, act: Act, element: ElementHandle, timeout_ms: float) -> None:
    """Check a click by the element that receives it, and by the one it was meant for."""
    done = action.canonical()
    point = done.aim.point.model_dump() if done.aim.point else None
    await element.scroll_into_view_if_needed(timeout=timeout_ms)
    clicked = await targets.point_of(element, point, ticks=done.reports >= Reports.READ_BACK)
    receiver = await targets.element_at(page.playwright, *clicked)
    found = [each for each in (receiver, element) if each is not None]
    _judge(page, action, [act.model_copy(update=await _facts(each, {})) for each in found])


async def _check_keys(page: BrowserPage, action: Action, act: Act, element: ElementHandle) -> None:
    """Check keys by what they trigger: a form's button, if Enter is pressed in a field."""
    done = action.canonical()
    keys = done.presses or Keys()
    *modifiers, key = keys.chord.rsplit("+", 1)
    how: Json = {
        "entered": key in _ENTER or any(sign in keys.text for sign in "\r\n"),
        "typed": done.presses is not None and not keys.chord,
        "accessKey": key.lower() if any("Alt" in each for each in modifiers) else "",
    }
    _judge(page, action, [act.model_copy(update=await _facts(element, how))])


async def _facts(element: ElementHandle, how: Json) -> dict[str, str]:
    return results.read(dict[str, str], await world.evaluate(element, _ELEMENT_WORDS, how)) or {}


def _judge(page: BrowserPage, action: Action, acts: Sequence[Act]) -> None:
    """Raise Forbidden if a rule prevents one of `acts`, which are one act, judged by each of its elements."""
    decided = [(rule, act) for act in acts if (rule := page.act_rules.deciding(act))]
    if not decided:
        return
    rule, act = min(decided, key=lambda each: each[0].decision != "refuse")
    key = _key(rule, action, acts)
    if key in page.call.confirmed:
        return
    what = _description(action, act)
    context = {"rule": rule.name, "what": what, "key": key, "ways": WAYS}
    if rule.decision == "confirm":
        raise Forbidden(
            f'{what}: the rule "{rule.name}" wants a person to confirm that. Nothing was done.',
            hint="Make it a call of its own, and a person is asked.",
            details={"context": {**context}},
        )
    raise _forbidden(rule, what)


def _forbidden(rule: ActRule, what: str) -> Forbidden:
    decision = "refuses that" if rule.decision == "refuse" else "leaves that to a person"
    return Forbidden(
        f'{what}: the rule "{rule.name}" {decision}. Nothing was done.',
        hint=WAYS,
        details={"context": {"rule": rule.name}},
    )


def _description(action: Action, act: Act) -> str:
    element = f" {act.role} {quoted(cut(act.words, 100))}" if act.words else ""
    return f"{action.name()}{element} at {origin_of(act.url) or cut(act.url, 100) or 'no page'}"


def _key(rule: ActRule, action: Action, acts: Sequence[Act]) -> str:
    """Make the key of a confirmation, which is for this very act, with these arguments, on such an element, and no
    other."""
    facts = [rule.name, action.wire_body(), *(act.model_dump(mode="json") for act in acts)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


class RequestRules:
    """The refusal of requests that a rule leaves to a person. A person's call, or one that a person has allowed, may
    send them; a question to a person about the page is not enough."""

    def __init__(self, rules: ActRules, pages: Callable[[], Iterable[Page]], running: Mapping[str, CallRun]) -> None:
        """`pages` returns those that are live, `running` has the calls of clients."""
        self._rules = rules
        self._pages = pages
        self._running = running

    def is_persons(self, sent: Sent) -> bool:
        """Say if a person sends a request, in a tab of their own browser on which no agent acts. If nobody knows the
        sender, a request for a document is a person's: it is a new tab."""
        senders = self._senders(sent)
        if not senders:
            return sent.document
        return not any(record.guarded or self._acted_on(record) for record, _ in senders)

    def _is_free(self, page: Page) -> bool:
        return _has_leave(page) or not (page[0].guarded or self._acted_on(page[0]))

    def _acted_on(self, page: PageRecord) -> bool:
        return any(run.acts and run.call.page_id == page.page_id for run in self._running.values())

    def refuses(self, sent: Sent, ours: bool) -> bool:  # noqa: FBT001 - says it of the browser
        """Return whether to refuse a request, and tell the holder of its page. In a browser that is not ours, requests
        of unknown senders are its person's."""
        senders = self._senders(sent) if sent.leads_on else []
        rule = self._rules.against_request(sent.method, sent.url) or self._against_redirect(sent, senders)
        if rule is None:
            return False
        senders = senders or self._senders(sent)
        if any(map(self._is_free, senders)) or not (senders or ours):
            return False
        if len(senders) == 1:  # else nobody knows whose it is
            _tell(senders[0], rule, sent)
        return True

    def _against_redirect(self, sent: Sent, senders: list[Page]) -> ActRule | None:
        """Return the rule against a redirect from an address that an agent gave; None if there is none."""
        acts = [record.loading for record, _ in senders if record.loading is not None]
        return self._rules.deciding(acts[0].model_copy(update={"url": sent.url})) if len(acts) == 1 else None

    def _senders(self, sent: Sent) -> list[Page]:
        """Return the page that sends a request; for a frame or service worker, all pages that show its origin."""
        pages = [*self._pages()]
        for name in (sent.frame_id, *sent.within):
            if exact := [(record, tab) for record, tab in pages if tab.target_id == name]:
                return exact
        origin = origin_of(sent.sender)
        return [(record, tab) for record, tab in pages if origin and _shows(tab, origin)]


async def watch_requests(page: BrowserPage) -> None:
    """Check also what a person's page sends, from the first call on. An engine that cannot check all that a browser
    sends checks what the page sends."""
    if page.tab.watched or not page.act_rules.watches_requests:
        return
    page.tab.watched, rules, sender = True, page.act_rules, (page.record, page.tab)

    def refuses(request: Request) -> bool:
        rule = rules.against_request(request.method, request.url)
        if rule is None or _has_leave(sender):
            return False
        _tell(sender, rule, Sent(request.method, request.url))
        return True

    if not is_chromium(page.playwright.context):
        await refuse_requests(page.playwright, refuses)


def _has_leave(page: Page) -> bool:
    """Say if a person sends from the page, or allowed that: by a call, or in a page of theirs that no call has used."""
    record, tab = page
    return record.has_leave or (record.of_person and not tab.watched)


def _shows(tab: Tab, origin: str) -> bool:
    return any(f"{frame.url}/".startswith(f"{origin}/") for frame in tab.page.frames)


def _tell(page: Page, rule: ActRule, sent: Sent) -> None:
    record, tab = page
    if record.holder_id and tab.events.notices.allows():  # a notice without a client would go to all
        what = f"{record.page_id}: {sent.method} {address(sent.url)} was not sent"
        record.tell(record.holder_id, f'{what}: the rule "{rule.name}" leaves that to a person. {WAYS}')

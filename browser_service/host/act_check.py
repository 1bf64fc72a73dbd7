"""Checks an act by the owner's rules, at the moment when it would be done, and by its element of then."""

import contextlib
import hashlib
import json
from typing import Final
from urllib.parse import urljoin

from playwright.async_api import ElementHandle, Locator, Route
from playwright.async_api import Error as PlaywrightError

from browser_service.host.elements import targets
from browser_service.host.page.handle import BrowserPage
from browser_service.host.scripts import script
from browser_service.security.act_rules import Act, ActRule, ActRules
from browser_service.security.urls import origin_of
from shared.actions.base import Action
from shared.calls import Call
from shared.errors import BrowseError, Forbidden
from shared.quoting import address, quoted

_ELEMENT_WORDS: Final = script("element_words")
_FOUND_WITHIN_MS: Final = 2_000
_WAYS: Final = "The account's owner may do it: browse-together run --person, or change the rule in policy.toml."


async def check_act(page: BrowserPage, action: Action) -> None:
    """Raise Forbidden for an act that a rule keeps from being done now. Where the rule says so, a person is asked.
    What a person does needs nobody's leave."""
    if not page.act_rules or page.call.by_person or action.parts():  # each part is checked by itself
        return
    act = _act(page, action)
    if action.activates and page.act_rules.asks_element(act):
        act = await _with_element(page, action, act)
    _judge(page, action, act)


async def watch_requests(page: BrowserPage) -> None:
    """Have the owner's rules asked about what the page sends by itself, from its first call on. What a person does, or
    has allowed, may send it."""
    rules, record = page.act_rules, page.record
    if not rules.watches_requests or page.tab.watched:
        return
    page.tab.watched = True

    async def decide(route: Route) -> None:
        request = route.request
        rule = rules.against_request(request.method, request.url)
        with contextlib.suppress(PlaywrightError):  # its page has gone
            if rule is None or record.has_leave or record.person is not None:
                await route.fallback()
                return
            await route.abort("blockedbyclient")
            text = (
                f'{request.method} {address(request.url)} was not sent: the rule "{rule.name}" leaves that to a person.'
            )
            page.tell(record.holder_id, f"{record.page_id}: {text} {_WAYS}")

    await page.playwright.route("**/*", decide)


async def check_element(page: BrowserPage, action: Action, element: Locator) -> None:
    """Check an element that an action goes on to click, such as a form's button."""
    if page.act_rules and not page.call.by_person:
        _judge(page, action, _act(page, action).model_copy(update=await _facts(element)))


def check_session_act(rules: ActRules, call: Call, action: Action) -> None:
    """Raise Forbidden for an act on a whole session that a rule keeps from being done: there is no page to ask on."""
    act = Act(action=action.name(), effect=action.effect, url=action.requested_url or "")
    if not call.by_person and (rule := rules.deciding(act)) is not None:
        raise _forbidden(rule, _description(action, act))


def _act(page: BrowserPage, action: Action) -> Act:
    url = action.requested_url if action.requested_url and (action.navigates or action.from_page) else ""
    here = page.playwright.url if page.current.live else page.record.url
    return Act(
        action=action.name(), effect=action.effect, url=urljoin(here, url) if url else here, method=action.sent_method
    )


async def _with_element(page: BrowserPage, action: Action, act: Act) -> Act:
    """Add what is known of the element. One that is not there is the handler's business."""
    try:
        if action.requested_selector is not None:
            element: Locator | ElementHandle = await page.element(
                action.requested_selector, action.requested_frame, strict=True
            )
        else:
            element = await targets.focused_element(page.playwright)
        return act.model_copy(update=await _facts(element, entered=action.requested_key.endswith("Enter")))
    except (PlaywrightError, BrowseError):
        return act


async def _facts(element: Locator | ElementHandle, *, entered: bool = False) -> dict[str, str]:
    if isinstance(element, Locator):
        element = await element.element_handle(timeout=_FOUND_WITHIN_MS)
    facts = await element.evaluate(_ELEMENT_WORDS, entered)
    return {"role": str(facts["role"]), "words": str(facts["words"])}


def _judge(page: BrowserPage, action: Action, act: Act) -> None:
    rule = page.act_rules.deciding(act)
    if rule is None:
        return
    key = _key(rule, action, act)
    if key in page.call.confirmed:
        return
    what = _description(action, act)
    context = {"rule": rule.name, "what": what, "key": key}
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
        hint=_WAYS,
        details={"context": {"rule": rule.name}},
    )


def _description(action: Action, act: Act) -> str:
    element = f" {act.role} {quoted(act.words[:100])}" if act.words else ""
    return f"{action.name()}{element} at {origin_of(act.url) or act.url[:100] or 'no page'}"


def _key(rule: ActRule, action: Action, act: Act) -> str:
    """Make what a confirmation is for: this very act, by these arguments, on such an element, and no other."""
    facts = [rule.name, action.wire_body(), act.model_dump(mode="json")]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]

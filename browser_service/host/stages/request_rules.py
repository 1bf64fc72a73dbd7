"""Checks what pages send by themselves against the owner's rules, whoever in a browser sends it."""

from collections.abc import Callable, Iterable, Mapping

from playwright.async_api import Request

from browser_service.host.calls import CallRun
from browser_service.host.network.guard import Sent, is_chromium, refuse_requests
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.stages.rules import WAYS
from browser_service.host.tabs.record import PageRecord
from browser_service.host.tabs.tab import Tab
from browser_service.security.act_rules import ActRule, ActRules
from browser_service.security.urls import origin_of
from shared.quoting import address

Page = tuple[PageRecord, Tab]


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

"""Answers, blocks or extends a page's requests by mocks, blocks and extra headers, which belong to the pageId and not
to its window.

A popup starts with a copy of its opener's, but may request its first document before that. All of them end with the
page, with the service, and when the page passes to another client, which must neither send the other's keys nor get
mocked answers. While a page has routes, Playwright disables its HTTP cache. `interception` covers what routes do not
see.
"""

import asyncio
import itertools
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Route
from typing_extensions import TypedDict

from browse_together.contract.errors import ResourceExhausted, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.network.interception import Interception
from browser_service.host.network.patterns import UrlPattern
from browser_service.host.network.tab_events import TabEvents
from browser_service.host.network.traffic import Traffic

_MOST_ROUTES: Final = 50
_MOST_COMPARED: Final = 1_000
"""The most patterns of a page. The service compares each request with all of them."""


@dataclass(frozen=True)
class MockAnswer:
    status: int
    headers: dict[str, str]
    body: str
    delay_s: float


class RuleJson(TypedDict):
    patterns: list[str]
    answer: MockAnswer | None
    method: str | None
    types: list[str]
    route_id: str


@dataclass
class Rule:
    """A rule for requests that are mocked or blocked."""

    patterns: tuple[UrlPattern, ...]
    method: str | None = None
    types: frozenset[str] = frozenset()
    answer: MockAnswer | None = None
    """None for a block."""
    route_id: str = ""
    matched: int = 0

    @property
    def kind(self) -> Literal["mock", "block"]:
        return "block" if self.answer is None else "mock"

    @property
    def key(self) -> tuple[object, ...]:
        """Return what identifies the rule: a later rule with the same key replaces it."""
        return self.kind, tuple(pattern.text for pattern in self.patterns), self.method, self.types

    @property
    def size(self) -> int:
        """Return the number of expressions that each request is compared with."""
        return sum(pattern.size for pattern in self.patterns)

    def sockets(self) -> list[str]:
        """Return the patterns of its WebSockets in Chromium's form."""
        by_type = ["ws://*:*/*", "wss://*:*/*"] if "websocket" in self.types else []
        return by_type + [url for pattern in self.patterns for url in pattern.sockets()]

    def applies(self, url: str, method: str, resource_type: str) -> bool:
        if self.method not in {None, method}:
            return False
        return resource_type in self.types or any(pattern.matches(url) for pattern in self.patterns)

    def to_json(self) -> Json:
        """Serialise the rule completely; `from_json` reads it back."""
        return {
            "patterns": [pattern.text for pattern in self.patterns],
            "answer": {**vars(self.answer)} if self.answer else None,
            "method": self.method,
            "types": [*self.types],
            "route_id": self.route_id,
        }

    @classmethod
    def from_json(cls, data: RuleJson) -> "Rule":
        """Read what `to_json` returned. Raises ValidationFailed for a pattern that is none."""
        patterns = tuple(UrlPattern(text) for text in data["patterns"])
        return cls(patterns, data["method"], frozenset(data["types"]), data["answer"], data["route_id"])

    def describe(self) -> Json:
        """Describe the rule for any reader of the page, without a mock's content."""
        description: Json = {"routeId": self.route_id, "kind": self.kind, "matched": self.matched}
        if self.patterns:
            description["patterns"] = [pattern.text for pattern in self.patterns]
        if self.types:
            description["resourceTypes"] = [*sorted(self.types)]
        if self.method:
            description["method"] = self.method
        if self.answer:
            description |= {"status": self.answer.status, "bodyLength": len(self.answer.body)}
        if any(pattern.too_slow for pattern in self.patterns):
            description["ended"] = "A regular expression took too long for a URL and matches nothing any more."
        return description


class Held(Protocol):
    """A page, of which the network's rules need to know who holds it."""

    @property
    def holder_id(self) -> str: ...


@dataclass(eq=False)
class PageNetwork:
    """The rules and headers of one page, applied to each Playwright page behind it."""

    traffic: Traffic
    page: Held
    owner: str = ""
    """The client that held the page when the rules or headers were set."""
    rules: list[Rule] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    offline: bool = False
    """True to refuse requests of frames of other sites. Chromium does it for the page itself."""
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _routing: Page | None = None
    _interception: Interception = field(init=False)

    def __post_init__(self) -> None:
        self._interception = Interception(self)

    def inherit(self, opener: "PageNetwork") -> None:
        """Copy the opener's rules and headers to a popup."""
        self.owner, self.headers = opener.owner, {**opener.headers}
        for rule in opener.rules:
            self.rules.append(replace(rule, route_id=f"r{next(self._numbers)}", matched=0))

    async def attach(self, page: Page, events: TabEvents, *, came_by_itself: bool) -> None:
        """Apply everything to another Playwright page, which is behind the pageId now."""
        self._routing = None
        self._interception.attach()
        if self.foreign:
            self.rules, self.headers = [], {}
        self.traffic.attach(page, events)
        if came_by_itself:
            await self.traffic.backfill(page)
        if self.headers:
            await page.set_extra_http_headers(self.headers)
        await self._update(page)

    async def set_offline(self, page: Page, *, offline: bool) -> None:
        self.offline = offline
        await self._update(page)

    async def set_headers(self, page: Page, headers: dict[str, str]) -> None:
        await page.set_extra_http_headers(headers)
        self.owner, self.headers = self.page.holder_id, headers

    async def add(self, page: Page, rule: Rule) -> Rule:
        """Add a rule. Raises ResourceExhausted if there are too many."""
        remaining = [each for each in self.rules if each.key != rule.key]
        if len(remaining) >= _MOST_ROUTES:
            raise ResourceExhausted(
                f"The page has {_MOST_ROUTES} routes, which is the limit.",
                hint=f"Remove some of them: {next_call('list_routes')}, {next_call('remove_routes', ...)}.",
            )
        if sum(each.size for each in remaining) + rule.size > _MOST_COMPARED:
            raise ResourceExhausted(
                f"The page's routes would have more than {_MOST_COMPARED} patterns, {{a,b}} being two, and a regular "
                "expression 50.",
                hint="Name what they have in common, such as *.example.com; or remove some: "
                f"{next_call('remove_routes', ...)}.",
            )
        rule.route_id = f"r{next(self._numbers)}"
        removed = [each for each in self.rules if each not in remaining]
        self.owner, self.rules = self.page.holder_id, [*remaining, rule]
        await self._update(page)
        await self._forget(page, removed)
        return rule

    async def remove(self, page: Page, route_ids: list[str] | None) -> list[Rule]:
        """Remove the given rules, or all. Raises ValidationFailed for an id that the page does not have."""
        known = {rule.route_id for rule in self.rules}
        if unknown := [route_id for route_id in route_ids or () if route_id not in known]:
            raise ValidationFailed(
                f"routeIds: the page has no route {unknown[0]!r}.",
                hint=f"It has {', '.join(sorted(known)) or 'none'}: {next_call('list_routes')}.",
                details=field_details("routeIds"),
            )
        removed = [rule for rule in self.rules if route_ids is None or rule.route_id in route_ids]
        self.rules = [rule for rule in self.rules if rule not in removed]
        await self._update(page)
        await self._forget(page, removed)
        return removed

    @property
    def foreign(self) -> bool:
        """Return whether a client other than the present holder set the rules or headers."""
        return bool(self.rules or self.headers) and self.owner != self.page.holder_id

    async def clear(self, page: Page) -> None:
        removed, self.rules = self.rules, []
        await self._update(page)
        await self._forget(page, removed)
        if self.headers:
            await self.set_headers(page, {})

    def describe(self) -> Json:
        """Describe the rules, and list the names of the headers; their values may be secrets."""
        return {"routes": [rule.describe() for rule in self.rules], "extraHeaders": [*self.headers]}

    async def _forget(self, page: Page, removed: list[Rule]) -> None:
        """Clear answers of removed mocks from the memory cache."""
        if any(rule.answer is not None for rule in removed):
            await self._interception.forget_answers(page)

    async def _update(self, page: Page) -> None:
        routes = bool(self.rules) or self.offline
        if routes and self._routing is not page:
            await page.route("**/*", self._decide)
            self._routing = page
        elif not routes and self._routing is page:
            await page.unroute("**/*", self._decide)
            self._routing = None
        blocks = [rule for rule in self.rules if rule.answer is None]
        sockets = () if self.offline else {url for rule in blocks for url in rule.sockets()}
        redirects = any(rule.patterns for rule in blocks)
        await self._interception.update(page, rules=bool(self.rules), redirects=redirects, sockets=sockets)

    async def _decide(self, route: Route) -> None:
        request = route.request
        rule = self._rule(request.url, request.method, request.resource_type)
        try:
            if rule is None and self.offline:
                await route.abort("internetdisconnected")
            elif rule is None:
                await route.fallback()
            elif rule.answer is None:
                rule.matched += 1
                await route.abort("blockedbyclient")
            else:
                rule.matched += 1
                self.traffic.note_mock(request, rule.route_id)
                await asyncio.sleep(rule.answer.delay_s)  # the delay that the rule asks for
                answer = rule.answer
                await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)
        except PlaywrightError:
            return  # the page is gone

    def _rule(self, url: str, method: str, resource_type: str) -> Rule | None:
        """Return the latest rule that applies."""
        return next((rule for rule in reversed(self.rules) if rule.applies(url, method, resource_type)), None)

    def blocks(self, url: str, method: str) -> bool:
        """Return whether a rule blocks this URL, and count the match."""
        rule = self._rule(url, method, resource_type="websocket" if url.startswith(("ws:", "wss:")) else "")
        if rule is None or rule.answer is not None:
            return False
        rule.matched += 1
        return True

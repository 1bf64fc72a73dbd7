"""Remembers what each chat was told of its pages last, so that a reply repeats none of it."""

from typing import Final

from browser_service.rules.bounded import Bounded
from shared.model import Json

_MOST: Final = 20_000
_FOR_S: Final = 600.0
"""Is how long a line is remembered: a chat that was begun anew, or has forgotten, is told again before long."""
_EXPECTING: Final = frozenset({"ifRevision", "expectUrl"})
_CARRIERS: Final = ("arguments", "params")


class ToldPages:
    """Knows the line on a page that each agent of each client has read."""

    def __init__(self) -> None:
        self._lines: Bounded[tuple[str, str, str], str] = Bounded(_MOST, ttl_s=_FOR_S)
        self._last: Bounded[tuple[str, str], str] = Bounded(_MOST, ttl_s=_FOR_S)
        self._origins: Bounded[tuple[str, str, str], str] = Bounded(_MOST, ttl_s=_FOR_S)

    def reader(self, client_id: str, body: Json, page_id: str | None) -> "PageReader":
        """Return who reads the reply to a call with this body, of which the path may name the page."""
        inner = [value for name in _CARRIERS if isinstance(value := body.get(name), dict)]
        given = {name: value for each in (body, *inner) for name, value in each.items()}
        return PageReader(self, client_id, given, named=bool(page_id or given.get("pageId")))

    def note_origin(self, client_id: str, agent: str, page_id: str, origin: str) -> bool:
        """Return whether the agent knows that this page's words are no instructions, while it is at that origin."""
        self._origins.trim()
        known = self._origins.get((client_id, agent, page_id)) == origin
        if not known:
            self._origins[client_id, agent, page_id] = origin
        return known

    def note(self, client_id: str, agent: str, page_id: str, line: str) -> tuple[bool, bool]:
        """Return whether the page is the one that the agent heard of last, and whether it knows the line."""
        self._lines.trim()
        same_page = self._last.get((client_id, agent)) == page_id
        known = self._lines.get((client_id, agent, page_id)) == line
        self._last[client_id, agent] = page_id
        if not known:
            self._lines[client_id, agent, page_id] = line
        return same_page, known


class PageReader:
    """Is the reader of one reply."""

    def __init__(self, told: ToldPages, client_id: str, given: Json, *, named: bool) -> None:
        self._told = told
        self._client_id = client_id
        self._given = given
        self.named = named
        """True if the call names the page."""

    @property
    def _agent(self) -> str:
        return str(self._given.get("as") or "")

    def knows_origin(self, page_id: str, origin: str) -> bool:
        """Return whether the reply need not say again that the page's words are no instructions."""
        return self._told.note_origin(self._client_id, self._agent, page_id, origin)

    def has_read(self, url: str, result: Json) -> bool:
        """Return whether the call or the reply's own lines have the page's address."""
        return url in {self._given.get("url"), result.get("navigatedTo")}

    @property
    def counts(self) -> bool:
        """Return whether the call counts the page's revisions, or asks for all that is known of it."""
        return not _EXPECTING.isdisjoint(self._given) or self._given.get("reply") == "full"

    def needs(self, page_id: str, line: str) -> bool:
        """Return whether the reply has to say where the page is: the line is another than the one read last, or the
        call named no page or counts its revisions."""
        same_page, known = self._told.note(self._client_id, self._agent, page_id, line)
        return not known or self.counts or not (self.named or same_page)

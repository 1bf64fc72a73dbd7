"""Remembers what each chat has read about its pages, so that replies do not repeat it."""

from typing import Final

from browse_together.contract.model import Json, object_at
from browser_service.rules.bounded import Bounded

_MOST: Final = 20_000
_FOR_S: Final = 600.0
"""How many seconds a line is remembered. After that it is repeated, for chats that began anew or have forgotten it."""
_EXPECTING: Final = frozenset({"ifRevision", "expectUrl"})
_CARRIERS: Final = ("arguments", "params")


class ToldPages:
    """The line about each page that each agent of each client has read."""

    def __init__(self) -> None:
        self._lines: Bounded[tuple[str, str, str], str] = Bounded(_MOST, ttl_s=_FOR_S)
        self._last: Bounded[tuple[str, str], str] = Bounded(_MOST, ttl_s=_FOR_S)
        self._origins: Bounded[tuple[str, str, str], str] = Bounded(_MOST, ttl_s=_FOR_S)

    def reader(self, client_id: str, body: Json, page_id: str | None) -> "PageReader":
        """Return the reader of the reply to a call with this body. The call's path may name the page instead."""
        inner = [value for name in _CARRIERS if isinstance(value := body.get(name), dict)]
        given = {name: value for each in (body, *inner) for name, value in each.items()}
        return PageReader(self, client_id, given, named=bool(page_id or given.get("pageId")))

    def note_origin(self, client_id: str, agent: str, page_id: str, origin: str) -> bool:
        """Return whether the agent was already told that this page's words are no instructions, at this origin;
        remember that it is told now."""
        self._origins.trim()
        known = self._origins.get((client_id, agent, page_id)) == origin
        if not known:
            self._origins[client_id, agent, page_id] = origin
        return known

    def note(self, client_id: str, agent: str, page_id: str, line: str) -> tuple[bool, bool]:
        """Return whether the agent's last reply was about this page, and whether the agent has read this line; remember
        both."""
        self._lines.trim()
        same_page = self._last.get((client_id, agent)) == page_id
        known = self._lines.get((client_id, agent, page_id)) == line
        self._last[client_id, agent] = page_id
        if not known:
            self._lines[client_id, agent, page_id] = line
        return same_page, known


class PageReader:
    """The reader of one reply."""

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
        """Return whether the reply need not repeat that the page's words are no instructions."""
        return self._told.note_origin(self._client_id, self._agent, page_id, origin)

    def has_read(self, url: str, result: Json) -> bool:
        """Return whether the call or the act's own line already has the page's address."""
        return url in {self._given.get("url"), result.get("navigatedTo")}

    @property
    def counts(self) -> bool:
        """Return whether the call needs the page's revision, or asks for a full reply."""
        return not _EXPECTING.isdisjoint(self._given) or self._given.get("reply") == "full"

    def needs(self, page_id: str, line: str) -> bool:
        """Return whether the reply must have the line about the page: it differs from the one that was read last, the
        call needs the revision, or the call named no page and the agent's last one was on another."""
        same_page, known = self._told.note(self._client_id, self._agent, page_id, line)
        return not known or self.counts or not (self.named or same_page)


def page_to_name(envelope: Json, reader: PageReader | None) -> str:
    """Return the page that the calls in a reply are to name, because its call did: the caller may have others."""
    return str(object_at(envelope, "page").get("pageId", "")) if reader is not None and reader.named else ""

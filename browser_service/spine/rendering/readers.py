"""Remembers what each chat has read about its pages, so that replies do not repeat it."""

from typing import Final

from browse_together.contract.model import Json, object_at
from browser_service.rules.bounded import Bounded

_MOST: Final = 20_000
_FOR_S: Final = 600.0
"""How many seconds a line is remembered. After that it is repeated, for chats that began anew or have forgotten it."""
_EXPECTING: Final = frozenset({"ifRevision", "expectUrl"})
_CARRIERS: Final = ("arguments", "params")


class Readers:
    """What each agent of each client has read of each page."""

    def __init__(self) -> None:
        self.lines = Bounded[tuple[str, str, str], str](_MOST, ttl_s=_FOR_S)
        self.latest = Bounded[tuple[str, str], str](_MOST, ttl_s=_FOR_S)
        """The page that an agent's last reply was about."""
        self.origins = Bounded[tuple[str, str, str], str](_MOST, ttl_s=_FOR_S)
        """Where an agent was told that a page's words are no instructions."""

    def reader(self, client_id: str, body: Json, page_id: str | None) -> "Reader":
        """Return the reader of the reply to a call with this body. The call's path may name the page instead."""
        inner = [value for name in _CARRIERS if isinstance(value := body.get(name), dict)]
        given = {name: value for each in (body, *inner) for name, value in each.items()}
        return Reader(self, client_id, given, named=bool(page_id or given.get("pageId")))


class Reader:
    """The reader of one reply."""

    def __init__(self, readers: Readers, client_id: str, given: Json, *, named: bool) -> None:
        self._readers, self._url = readers, given.get("url")
        self._agent = (client_id, str(given.get("as") or ""))
        self.named = named
        """True if the call names the page."""
        self.counts = not _EXPECTING.isdisjoint(given) or given.get("reply") == "full"
        """True if the call needs the page's revision, or asks for a full reply."""

    def knows_origin(self, page_id: str, origin: str) -> bool:
        """Return whether the agent was already told that this page's words are no instructions, at this origin;
        remember that it is told now."""
        origins, key = self._readers.origins, (*self._agent, page_id)
        origins.trim()
        known = origins.get(key) == origin
        if not known:
            origins[key] = origin
        return known

    def has_read(self, url: str, result: Json) -> bool:
        """Return whether the call or the act's own line already has the page's address."""
        return url in {self._url, result.get("navigatedTo")}

    def needs(self, page_id: str, line: str) -> bool:
        """Return whether the reply must have the line about the page, and remember that it is read: it differs from
        the one that was read last, the call needs the revision, or the call named no page and the agent's last one was
        on another."""
        lines, latest, key = self._readers.lines, self._readers.latest, (*self._agent, page_id)
        lines.trim()
        same_page, known = latest.get(self._agent) == page_id, lines.get(key) == line
        latest[self._agent] = page_id
        if not known:
            lines[key] = line
        return not known or self.counts or not (self.named or same_page)


def page_to_name(envelope: Json, reader: Reader | None) -> str:
    """Return the page that the calls in a reply are to name, because its call did: the caller may have others."""
    return str(object_at(envelope, "page").get("pageId", "")) if reader is not None and reader.named else ""

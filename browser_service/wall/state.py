"""What viewers of the wall see: the open pages, whose they are, and what agents ask people for."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.calls import ActivityRecord
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browser_service.clients.colours import Colours
from browser_service.security.auth import Identity
from browser_service.security.redaction import safe_url
from browser_service.security.urls import abridged, origin_of
from browser_service.sessions.directory import Directory
from browser_service.wall.agents import Agents, unix
from browser_service.wall.visited import Visited

_TITLE: Final = 200
_SAME_S: Final = 0.5
"""How often to look for changes that send no event, such as the end of a hold."""
_SHUT: Final = frozenset({"login", "code", "tab", "taken"})
"""Meanwhile a person may type a password, which only the account's own person may see."""


@dataclass(frozen=True, eq=False)
class WallState:
    """What one kind of viewer sees, with the pages by id."""

    pages: dict[str, Json]
    requests: list[Json]
    agents: list[Json]
    threads: dict[str, Json]
    """What the person and agents wrote, by the agents' handles."""
    halt: Json | None
    """What holds all agents, if anything does."""
    browsers: list[str]
    """The sessions in browsers of the person's own, into which they may put agents."""

    def since(self, former: "WallState | None") -> Json:
        """Return what differs from `former`, which the viewer already has; empty if nothing does."""
        if former is self:
            return {}
        if former is None:
            return {**vars(self)}
        patch: Json = {}
        for name in ("pages", "threads"):
            if changed := _changed(getattr(self, name), getattr(former, name)):
                patch[name] = changed
        for name in ("halt", "requests", "agents", "browsers"):
            if getattr(self, name) != getattr(former, name):
                patch[name] = getattr(self, name)
        return patch


def _changed(now: dict[str, Json], former: dict[str, Json]) -> Json:
    """Return what differs, with None for what is gone."""
    changed: Json = {name: each for name, each in now.items() if former.get(name) != each}
    return changed | dict.fromkeys(former.keys() - now.keys())


@dataclass(eq=False)
class Wall:
    """The open pages, shown to each viewer as far as that viewer may know them."""

    directory: Directory
    colours: Colours
    agents: Agents
    visited: Visited = field(default_factory=Visited)
    version: int = 0
    """Grows with each change of a page."""
    _on_change: list[Callable[[], None]] = field(default_factory=list)
    _known_at: float = 0.0
    _states: dict[tuple[str, str], WallState] = field(default_factory=dict)
    """The last states, by who may see them. All readers see the same, which is computed once."""
    _texts: dict[tuple[int, int], tuple[WallState | None, str]] = field(default_factory=dict)
    """The message from one state to another, by their ids. The former state is kept, because its id must stay
    unique."""

    @contextmanager
    def telling(self, on_change: Callable[[], None]) -> Iterator[None]:
        """Call `on_change` at each change of the version, within the block."""
        self._on_change.append(on_change)
        try:
            yield
        finally:
            self._on_change.remove(on_change)

    def note(self, page_id: str) -> None:
        """Note that a page was opened, changed or closed."""
        self.note_change()
        if (page := self.directory.get(page_id)) is not None:
            self.visited.note(page)

    def note_change(self) -> None:
        """Note that viewers see something else from now on."""
        self.version += 1
        self._known_at = 0.0
        for on_change in self._on_change:
            on_change()

    def is_locked(self, page_id: str, viewer: Identity) -> bool:
        """Return whether a viewer may know only that a page exists."""
        page = self.directory.get(page_id)
        return page is None or self._locks(page, viewer)

    def news(self, viewer: Identity, former: WallState | None) -> tuple[WallState, str]:
        """Return what a viewer sees, and the message that brings one with `former` up to date; empty if nothing
        changed."""
        if (now := time.monotonic()) - self._known_at > _SAME_S:
            self._known_at = now
            self._states.clear()
            self._texts.clear()
        who = viewer.request_id, "" if viewer.operator and not viewer.request_id else viewer.client_id
        state = self._states.get(who) or self._states.setdefault(who, self.state(viewer))
        key = id(former), id(state)
        if key not in self._texts:
            patch = state.since(former)
            message: Json = {"type": "state" if former is None else "patch", **patch}
            self._texts[key] = former, json.dumps(message, separators=(",", ":"), ensure_ascii=False) if patch else ""
        return state, self._texts[key][1]

    def state(self, viewer: Identity) -> WallState:
        pages = self.directory.pages()
        if viewer.request_id:
            pages = [page for page in pages if not self._locks(page, viewer)]
        shown = {page.page_id: self._page(page, viewer) for page in pages}
        asked = {
            page.person.request_id: self._request(page, viewer)
            for page in pages
            if page.person is not None and not page.person.is_hold
        }
        if viewer.request_id:
            return WallState(shown, [*asked.values()], [], {}, None, [])
        threads = self.agents.lines(pages) if viewer.operator else {}
        seen = None if viewer.operator else {page.page_id for page in pages if not self._locks(page, viewer)}
        rows, browsers = self.agents.rows(pages, seen), self.directory.sessions.attached if viewer.operator else []
        return WallState(shown, [*asked.values()], rows, threads, self.agents.halt(), browsers)

    def page(self, page_id: str, viewer: Identity) -> Json:
        page = self.directory.get(page_id)
        return {} if page is None else self._page(page, viewer)

    def _locks(self, page: PageState, viewer: Identity) -> bool:
        if viewer.request_id:
            return page.person is None or page.person.request_id != viewer.request_id
        if viewer.operator:
            return False
        in_hands = page.person is not None and page.person.kind in _SHUT
        return in_hands or not self.directory.open_to(page, viewer.client_id)

    def _page(self, page: PageState, viewer: Identity) -> Json:
        owner: Json | None = None
        if page.holder_id is not None:
            colour = self.colours.of(page.holder_id, page.holder_label)
            owner = {"label": page.holder_label, "agent": page.holder_agent, "colour": colour}
            if (halt := self.agents.halt_of(page.holder_id)) is not None:
                owner["halt"] = halt
        shown: Json = {
            "id": page.page_id,
            "session": page.session_id,
            "group": "parked" if page.parked else "people" if page.of_person else "agents",
            "owner": owner,
            "leftBy": page.left_by,
            "opener": page.opener_id,
            "revision": page.revision,
            "private": page.access == "private",
            **({"host": host} if (host := self.directory.sessions.host_of(page.session_id)) else {}),
        }
        if self._locks(page, viewer):
            return {**shown, "locked": True}
        return {
            **shown,
            "url": abridged(page.url),
            "title": cut(page.title, _TITLE),
            "dialog": page.dialog,
            "actedAt": self._when(page, page.acted_ago_ms) if page.acted_ago_ms is not None else None,
            "held": {"reason": page.hold_reason, "until": self._when(page, -page.hold_left_ms)}
            if page.hold_left_ms
            else None,
            "person": {"kind": page.person.kind, "by": page.person.asked_by, "requestId": page.person.request_id}
            if page.person is not None
            else None,
        }

    def _when(self, page: PageState, ago_ms: int) -> int:
        """Return the Unix time of something by its age in a page's state."""
        return unix(self.directory.noted_at(page.page_id) - ago_ms / 1000)

    def _request(self, page: PageState, viewer: Identity) -> Json:
        question = page.person
        assert question is not None  # noqa: S101 - only such pages come here
        shown: Json = {
            "id": question.request_id,
            "kind": question.kind,
            "pageId": page.page_id,
            "askedBy": question.asked_by,
            "joinedBy": [*question.joined_by],
            "askedAt": self._when(page, question.asked_ago_ms),
            "colour": self.colours.of(page.asker_id, question.asked_by) if page.asker_id else None,
        }
        if not (viewer.operator or viewer.request_id):
            return shown
        more: Json = {"message": question.message, "choices": [*question.choices], "ofRule": question.of_rule}
        return {**shown, **more, "origin": origin_of(page.url) or "", "url": safe_url(page.url), "mayAnswer": True}


def timeline_row(record: ActivityRecord) -> Json:
    """Return a record as a viewer's timeline shows it."""
    return record.model_dump(mode="json", exclude_none=True, exclude={"page_id", "session_id", "call_id"})

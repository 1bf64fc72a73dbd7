"""What viewers of the wall see of agents: presence, current and last act, lines, halts."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.model import Json, list_at, object_at
from browse_together.contract.pages import PageState
from browser_service.clients.colours import Colours
from browser_service.clients.presence import Clients, handle_of
from browser_service.clients.threads import Line, Threads
from browser_service.rules.bounded import Bounded
from browser_service.rules.halts import PAUSE_S, Halt, Halts
from browser_service.spine.register import CallRegister, Record
from browser_service.store.activity import Row

_MOST: Final = 1_000
_UNIX: Final = time.time() - time.monotonic()
"""Added to the service's clock for Unix time. It is constant, so that nothing's beginning seems to move."""
_READS_ON: Final = "get_call"


@dataclass(eq=False)
class Agents:
    """The agents that are present or hold a page."""

    clients: Clients
    colours: Colours
    threads: Threads
    halts: Halts
    register: CallRegister
    chosen_for: Callable[[str], str]
    """Returns the session into whose browser a person put a client, or an empty text."""
    _acts: Bounded[str, Callable[[], Row]] = field(default_factory=lambda: Bounded(_MOST))
    """The last act of each client, whose details are made once somebody looks."""

    def note_act(self, row: Row, whole: Callable[[], Row]) -> None:
        """Note what a client did last on a page: a row, and what returns it with its details."""
        if row.page_id:
            self._acts[row.client_id] = whole

    def rows(self, pages: list[PageState], seen: set[str] | None) -> list[Json]:
        """List the agents, each with the name by which a page can be handed to it. What they do is told of the `seen`
        pages only; None stands for all."""
        held = self._held(pages)
        running: dict[str, list[Record]] = {}
        for record in self.register.running():
            running.setdefault(record.client_id, []).append(record)
        return [
            {
                "id": handle_of(client_id),
                "label": label,
                "colour": self.colours.of(client_id, label),
                "since": self.clients.since(client_id),
                "pages": len(held.get(client_id, ())),
                "to": handle_of(client_id) if self.clients.present(client_id) else held[client_id][0],
                "doing": _seen(_doing(running.get(client_id, [])), seen),
                "last": _seen(_last(self._acts.get(client_id)), seen),
                "halt": self.halt_of(client_id),
                "session": self.chosen_for(client_id),
                "unread": self.threads.unread(client_id),
            }
            for client_id, label in sorted(self._labels(pages).items(), key=lambda each: each[1].casefold())
            if label
        ]

    def lines(self, pages: list[PageState]) -> dict[str, Json]:
        """Return the threads of these agents by their handles, for the account's own person."""
        found = {handle_of(each): self.threads.of(each) for each in self._labels(pages)}
        return {key: {"lines": [*map(_line, lines)]} for key, lines in found.items() if lines}

    def halt_of(self, client_id: str) -> Json | None:
        """Return what holds an agent, if anything does."""
        return _told(self.halts.of(client_id))

    def halt(self) -> Json | None:
        """Return what holds all agents, if anything does."""
        return _told(self.halts.of_all)

    def _labels(self, pages: list[PageState]) -> dict[str, str]:
        """Return the labels of clients that are present or hold an agent's page."""
        labels = self.clients.present_labels
        for page in pages:
            if page.holder_id is not None and not page.of_person:
                labels.setdefault(page.holder_id, page.holder_label)
        return labels

    @staticmethod
    def _held(pages: list[PageState]) -> dict[str, list[str]]:
        held: dict[str, list[str]] = {}
        for page in pages:
            if page.holder_id is not None:
                held.setdefault(page.holder_id, []).append(page.page_id)
        return held


def _doing(running: list[Record]) -> Json | None:
    """Return the call that a client began last, and how many wait because it is paused."""
    calls = [record for record in running if record.action != _READS_ON]
    if not calls:
        return None
    last = max(calls, key=lambda record: record.began_at)
    waiting = sum(bool(record.paused) for record in calls)
    return {"action": last.action, "pageId": last.page_id, "since": unix(last.began_at), "waiting": waiting}


def _last(whole: Callable[[], Row] | None) -> Json | None:
    """Return an act, with the most lasting selector of the element that it was aimed at."""
    if whole is None:
        return None
    row = whole()
    detail: Json = json.loads(row.detail)
    selector = str(object_at(detail, "arguments").get("selector", ""))
    aim = next(iter(list_at(object_at(detail, "targets"), selector)), selector)
    return {"action": row.action, "pageId": row.page_id, "at": round(row.at), "outcome": row.outcome, "aim": aim}


def unix(at: float) -> int:
    """Return a moment of the service's clock as Unix time: browsers make all ages on the wall of such times."""
    return round(at + _UNIX)


def _seen(act: Json | None, pages: set[str] | None) -> Json | None:
    return act if act is None or pages is None or act["pageId"] in pages else None


def _line(line: Line) -> Json:
    return {"by": line.by, "text": line.text, "about": line.about, "ofPerson": line.of_person, "at": line.at}


def _told(halt: Halt | None) -> Json | None:
    if halt is None:
        return None
    until = round(halt.at + PAUSE_S) if halt.how == "pause" else None
    return {"how": halt.how, "by": halt.by, "at": round(halt.at), "until": until}

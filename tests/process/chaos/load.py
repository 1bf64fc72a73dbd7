"""Makes what is in flight when something dies: acts that the site counts by key, and all actions of the catalogue in
turn."""

import random
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Scope, Unaddressed
from browse_together.contract.catalogue import ACTIONS
from tests.support.bodies import smallest
from tests.support.json import AnyJson

_SHORT_MS: Final = 700
_LABEL: Final = "G0"
_CHOSEN: Final[dict[str, dict[str, AnyJson]]] = {
    "hand_over_page": {"to": _LABEL},
    "record_video": {"maxSeconds": 1},
    "wait_for_selector": {"selector": "#never"},
    "find": {"text": "Scratch"},
}
"""Arguments in place of the smallest body, where that would do nothing or take too long."""


@dataclass(frozen=True)
class Act:
    """An act that the site counts."""

    key: str
    action: str
    arguments: dict[str, AnyJson]


@dataclass
class Ledger:
    """The outcome of every act, by its key."""

    codes: dict[str, str] = field(default_factory=dict)

    def wrongs(self, did: dict[str, int]) -> list[str]:
        """Return the acts that were done otherwise than their answer said."""
        return [
            f"{key}: {code}, and done {did.get(key, 0)} times"
            for key, code in self.codes.items()
            if not may_be(code, did.get(key, 0))
        ]


def may_be(code: str, times: int) -> bool:
    """Return whether an act with this answer may have been done so often."""
    match code:
        case "ok":
            return times == 1
        case "BROWSER_CRASHED" | "SESSION_NOT_FOUND" | "SERVICE_UNAVAILABLE" | "RESOURCE_EXHAUSTED":
            return times == 0
        case _:
            return times <= 1


def desk_acts(page_id: str, key: str, dice: random.Random, most: int) -> list[Act]:
    """Return some acts on a desk, which take their turns."""
    post = f"fetch('/did?key={key}-evaluate_script', {{method: 'POST'}}).then(reply => reply.status)"
    batched = f"fetch('/did?key={key}-batch', {{method: 'POST'}}).then(reply => reply.status)"
    known: dict[str, dict[str, AnyJson]] = {
        "click": {"selector": "#go"},
        "check": {"selector": "#box"},
        "fill": {"selector": "#field", "value": "x"},
        "select_option": {"selector": "#choice", "value": "1"},
        "press": {"key": "F2"},
        "evaluate_script": {"expression": post},
        "fetch": {"url": f"/did?key={key}-fetch", "method": "POST"},
        "batch": {"steps": [{"action": "evaluate_script", "expression": batched}]},
    }
    chosen = dice.sample(sorted(known), most)
    return [Act(f"{key}-{name}", name, {"pageId": page_id, **known[name]}) for name in chosen]


def catalogue_body(action: type[Action], page_id: str, session_id: str) -> dict[str, AnyJson]:
    """Return the body of the action on a page and a session that may be spoiled."""
    body = smallest(action, **_CHOSEN.get(action.name(), {}))
    if "timeout" in action.model_fields and action.name() != "browser_launch":
        body["timeout"] = _SHORT_MS
    if action.scope is Scope.PAGE and action.unaddressed is Unaddressed.ONLY_PAGE:
        body["pageId"] = page_id
    elif "session_id" in action.model_fields and action.name() != "create_session" and action.scope is not Scope.PAGE:
        body["sessionId"] = session_id
    return body


class Catalogue:
    """All actions in an order that the seed decides. Those that were not in flight at a kill come first."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._all = sorted(ACTIONS)
        self.uncovered = dice.sample(self._all, len(self._all))

    def next(self, kills_left: int) -> list[type[Action]]:
        """Return enough actions to finish the catalogue well before the end, and a few at least."""
        many = max(4, -(-3 * len(self.uncovered) // (2 * max(kills_left, 1))))
        names = self.uncovered[:many]
        more = self._dice.sample(self._all, max(0, 4 - len(names)))
        return [ACTIONS[name] for name in dict.fromkeys([*names, *more])]

    def were_in_flight(self, names: set[str]) -> None:
        self.uncovered = [name for name in self.uncovered if name not in names]

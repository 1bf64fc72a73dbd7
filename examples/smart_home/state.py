"""The state of the house, the record of what was done to it, and the followers of its changes."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import TypedDict

from mcp_home_simulator.state import HomeState, States

HISTORY_LENGTH = 12
SOMEBODY = "somebody"


class Deed(TypedDict):
    """One thing that was done to the house."""

    who: str
    what: str
    when: str


class View(States):
    """What a page shows: the house, how often each thing was done, and the latest deeds first."""

    counts: dict[str, int]
    history: list[Deed]


class Home(HomeState):
    """One house with its people in it. It counts every deed, so that a test can prove that nothing happened twice.

    It is not for several threads: call it from the event loop that serves it."""

    def __init__(self) -> None:
        super().__init__()
        self.lights |= {"salon": True, "garage": True}
        self.alarm = True
        super().set_presence(present=True)
        self.counts: Counter[str] = Counter()
        self.history: deque[Deed] = deque(maxlen=HISTORY_LENGTH)
        self._followers: set[asyncio.Event] = set()

    def view(self) -> View:
        return {**self.states(), "counts": dict(self.counts), "history": list(self.history)}

    def set_light_state(self, name: str, *, on: bool, who: str = SOMEBODY) -> None:
        super().set_light_state(name, on=on)
        self._record("set_light_state", who, f"turned {name} {'on' if on else 'off'}", target=name)

    def set_alarm_state(self, *, armed: bool, who: str = SOMEBODY) -> None:
        super().set_alarm_state(armed=armed)
        self._record("set_alarm_state", who, f"{'armed' if armed else 'disarmed'} the alarm")

    def set_presence(self, *, present: bool, who: str = SOMEBODY) -> None:
        super().set_presence(present=present)
        self._record("set_presence", who, "marked everyone as home" if present else "marked everyone as out")

    def login(self, who: str) -> None:
        self._record("login", who, "logged in")

    def logout(self, who: str) -> None:
        self._record("logout", who, "logged out")

    async def follow(self) -> AsyncGenerator[View]:
        """Yield the house now, and again after each change until `release_followers`.

        Changes while the follower is busy arrive as one: the newest view."""
        changed = asyncio.Event()
        self._followers.add(changed)
        try:
            while changed in self._followers:
                changed.clear()
                yield self.view()
                await changed.wait()
        finally:
            self._followers.discard(changed)

    def release_followers(self) -> None:
        """End every running `follow`, so that a server can stop."""
        followers, self._followers = self._followers, set()
        for changed in followers:
            changed.set()

    def _record(self, action: str, who: str, what: str, target: str = "") -> None:
        self.counts[action] += 1
        if target:
            self.counts[f"{action}:{target}"] += 1
        self.history.appendleft({"who": who, "what": what, "when": datetime.now(UTC).isoformat(timespec="seconds")})
        for changed in self._followers:
            changed.set()

"""Keeps the state of the house: its lights, alarm and presence, the record of deeds, and who follows its changes."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import TypedDict

LIGHTS = {"salon": True, "cocina": False, "dormitorio": False, "bano": False, "garage": True}
RESIDENTS = ("Carlos", "Ana")
HISTORY_LENGTH = 12


class HomeError(Exception):
    """Raised when the house cannot do what was asked. The text says why."""


class LightNotFoundError(HomeError):
    """Raised when no light has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Luz '{name}' no encontrada")


class Presence(TypedDict):
    """Says who is home."""

    present: bool
    known_people: list[str]


class States(TypedDict):
    """Holds the whole house at one moment."""

    lights: dict[str, bool]
    alarm: bool
    presence: Presence


class Deed(TypedDict):
    """Records one thing that was done to the house."""

    who: str
    what: str
    when: str


class View(States):
    """Holds what a page shows: the house, how often each thing was done, and the latest deeds first."""

    counts: dict[str, int]
    history: list[Deed]


class Home:
    """Runs one house, and counts each deed, so that a test can prove that nothing happened twice.

    It is not for several threads: call it from the event loop that serves it."""

    def __init__(self) -> None:
        self.lights = dict(LIGHTS)
        self.alarm = True
        self.people = list(RESIDENTS)
        self.present = True
        self.counts: Counter[str] = Counter()
        self.history: deque[Deed] = deque(maxlen=HISTORY_LENGTH)
        self._followers: set[asyncio.Event] = set()

    @classmethod
    def unoccupied(cls) -> "Home":
        """Make a house with all lights off, the alarm off and nobody in."""
        home = cls()
        home.lights, home.alarm, home.people, home.present = dict.fromkeys(LIGHTS, False), False, [], False
        return home

    def presence(self) -> Presence:
        return {"present": self.present, "known_people": list(self.people)}

    def lights_on(self) -> list[str]:
        return [name for name, on in self.lights.items() if on]

    def states(self) -> States:
        return {"lights": dict(self.lights), "alarm": self.alarm, "presence": self.presence()}

    def view(self) -> View:
        return {**self.states(), "counts": dict(self.counts), "history": list(self.history)}

    def set_light_state(self, name: str, *, on: bool, who: str) -> None:
        if name not in self.lights:
            raise LightNotFoundError(name)
        self.lights[name] = on
        self._record("set_light_state", who, f"turned {name} {'on' if on else 'off'}", target=name)

    def set_alarm_state(self, *, armed: bool, who: str) -> None:
        self.alarm = armed
        self._record("set_alarm_state", who, f"{'armed' if armed else 'disarmed'} the alarm")

    def set_presence(self, *, present: bool, who: str) -> None:
        self.present = present
        self.people = list(RESIDENTS) if present else []
        self._record("set_presence", who, "marked everyone as home" if present else "marked everyone as out")

    def login(self, who: str) -> None:
        self._record("login", who, "logged in")

    def logout(self, who: str) -> None:
        self._record("logout", who, "logged out")

    async def follow(self) -> AsyncGenerator[View]:
        """Yield the house now, and again after each change until `release_followers`.

        Changes that come while the follower is busy arrive as one: the newest view."""
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
        """End every `follow` that is under way, so that a server can stop."""
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

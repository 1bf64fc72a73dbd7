"""Tells a person's mouse and keyboard at a tab's own window from those of agents.

To a page they look alike. So the driver counts the presses that it sends, and the tab all that come: the person's are
the difference.
"""

import asyncio
import json
import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost
from browser_service.host.scripts import call_of, script

STILL_S: Final = 3.0
"""After a press of the person's, an agent's next act waits until there was none for so long."""
_KINDS: Final = {"pointerdown": "clicked", "keydown": "typed"}
_SENT: Final = "Driver.presses"
"""Message that our driver answers itself (sessions/driver.cjs), with the presses that it has sent to the page."""
_MOST: Final = 2_000
_ANSWERS_WITHIN_S: Final = 1.0
_LATE_S: Final = 0.5
"""An act's own press may come this long after its end."""

Counts = Mapping[str, int]


class Presses:
    """The presses in one tab, and which of them are a person's."""

    def __init__(self) -> None:
        self.on_persons: Callable[[], None] = lambda: None
        """Called for what a person did."""
        self._persons_at = -math.inf
        self._cdp: CDPSession | None = None
        self._acts = set[ActPresses]()
        self._late = dict.fromkeys(_KINDS, 0)
        """How many of the last act's presses have not come yet."""
        self._late_until = -math.inf

    async def note_by(self, cdp: CDPSession) -> None:
        """Make each document of the tab tell of presses; frames in processes of their own are left out."""
        self._cdp, name = cdp, f"_{secrets.token_hex(8)}"
        cdp.on("Runtime.bindingCalled", lambda event: self._note(event["payload"]) if event["name"] == name else None)
        source = call_of(script("presses"), json.dumps(name), json.dumps([*_KINDS]))
        await asyncio.gather(
            cdp.send("Page.enable"),
            cdp.send("Runtime.enable"),  # without these, documents to come have neither script nor function
            cdp.send("Runtime.addBinding", {"name": name, "executionContextName": name}),
            cdp.send(
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": source, "worldName": name, "runImmediately": True},
            ),
        )

    def begin_act(self) -> "ActPresses":
        act = ActPresses(asyncio.ensure_future(self._sent()))
        self._acts.add(act)
        return act

    async def end_act(self, act: "ActPresses") -> list[str]:
        """Return what a person did during an act of an agent, in words; empty for nothing, or if that is unknown."""
        before, after = await act.before, await self._sent()
        self._acts.discard(act)
        if before is None or after is None:
            return []
        done = []
        for kind, word in _KINDS.items():
            own, came = after.get(kind, 0) - before.get(kind, 0), act.came[kind]
            self._late[kind] = max(0, own - len(came))
            if len(came) > own:
                done.append(word)
                self._note_persons(came[-1])
        self._late_until = time.monotonic() + _LATE_S
        return done

    async def until_still(self) -> None:
        """Wait until the person has pressed nothing for STILL_S."""
        while (left_s := self._persons_at + STILL_S - time.monotonic()) > 0:  # noqa: ASYNC110 - a moment is waited for
            await asyncio.sleep(left_s)

    def _note(self, kind: str) -> None:
        now = time.monotonic()
        for act in self._acts:
            act.came[kind].append(now)
        if self._acts:
            return
        if self._late[kind] and now < self._late_until:
            self._late[kind] -= 1
        else:
            self._note_persons(now)

    def _note_persons(self, moment: float) -> None:
        self._persons_at = max(self._persons_at, moment)
        self.on_persons()

    async def _sent(self) -> Counts | None:
        """Return how many presses the driver has sent to the page; None if it is no driver of ours, or the page has
        gone."""
        if self._cdp is None:
            return None
        async with AtMost(_ANSWERS_WITHIN_S, PlaywrightError):
            return await self._cdp.send(_SENT)
        return None


class ActPresses:
    """The presses in a tab while an act of an agent runs."""

    def __init__(self, before: "asyncio.Future[Counts | None]") -> None:
        self.before = before
        """How many the driver had sent before."""
        self.came = {kind: deque[float](maxlen=_MOST) for kind in _KINDS}
        """When they came, by kind."""

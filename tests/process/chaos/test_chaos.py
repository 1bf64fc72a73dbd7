"""Tests that no page, login, owner or act is lost or done twice, whatever is killed, at whatever moment.

Each step puts acts of three chats and some of the catalogue's actions in flight, and kills one process with signal 9.
`make chaos` does it at length; BROWSE_CHAOS_SEED repeats a run as far as the machine's own timing lets it."""

import asyncio
import os
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import psutil
import pytest

from browse_together.contract.actions.traits import Effect
from tests.process.chaos import victims
from tests.process.chaos.chats import NO_REPLY, Chat, Sent
from tests.process.chaos.load import Act, Catalogue, catalogue_body, desk_acts, may_be
from tests.process.chaos.site import ChaosSite
from tests.process.chaos.targets import leaks
from tests.process.chaos.world import (
    ACTS_END_AS,
    ANSWERED_WITHIN_S,
    APART,
    KEPT,
    PLACES,
    TYPED,
    Place,
    World,
    failures,
    world,
)
from tests.support.processes import command

pytestmark = [pytest.mark.anyio, pytest.mark.own_start]

KINDS: Final = ("renderer", "browser", "driver", "service", "gateway")
FIRST_S: Final = (0.0, 0.05, 0.2, 0.5)
"""How many seconds after the acts the catalogue's actions may come."""
THEN_S: Final = (0.005, 0.02, 0.05, 0.1, 0.3)
"""How many seconds after these something may die."""
MORE_HANDLES: Final = 12
_ANEW: Final = 0.3
_LAST: Final = 6
"""Number of last kills without time for the catalogue's actions, because some are too quick to be hit otherwise."""


def asked_seed() -> int:
    asked = os.environ.get("BROWSE_CHAOS_SEED", "7")
    return random.SystemRandom().randrange(1_000_000) if asked == "random" else int(asked)


def plan(kills: int, dice: random.Random) -> list[str]:
    """Return what dies when. In the last third no service dies, so that its handles can be counted."""
    kinds = [KINDS[number % len(KINDS)] for number in range(kills)]
    dice.shuffle(kinds)
    last = kills - kills // 3
    late = [number for number in range(last, kills) if kinds[number] == "service"]
    early = [number for number in range(last) if kinds[number] not in {"service", "gateway"}]
    for number, other in zip(late, dice.sample(early, len(late)), strict=True):
        kinds[number], kinds[other] = kinds[other], kinds[number]
    return kinds


class Chaos:
    def __init__(self, here: World, kills: int) -> None:
        self.here = here
        self.kills = kills
        self.catalogue = Catalogue(here.dice)
        self.handles: dict[int, int] = {}
        self._last = ""
        self.wrongs: list[str] = []
        """Wrong answers and effects. A run goes on, and reports all of them at its end."""

    async def run(self) -> None:
        for number, kind in enumerate(plan(self.kills, self.here.dice)):
            try:
                await self._step(number, kind)
            except (AssertionError, TimeoutError) as error:
                raise AssertionError("\n".join([*self.wrongs, f"kill {number} ({kind}): {error!r}"])) from error
            if number == self.kills - self.kills // 3:
                self.handles = self._handles()

    async def _step(self, number: int, kind: str) -> None:
        here, dice = self.here, self.here.dice
        key = f"k{number}"
        lights = dict(here.site.home.counts)
        await asyncio.gather(*(self._move(place, f"{key}-{place.page_id}") for place in PLACES))
        doomed = here.chats[dice.randrange(1, len(here.chats))]
        spoiling = doomed if kind == "gateway" else dice.choice(here.chats)
        await _scratch(here, spoiling, key)
        victim = self._victim(kind, doomed)

        acts = {place: self._acts(place, key) for place in PLACES}
        sent = {
            act.key: (place, here.chat_of(place).send(act.action, **act.arguments))
            for place, some in acts.items()
            for act in some
        }
        await asyncio.sleep(dice.choice(FIRST_S))  # any moment will do
        spoilt = self._spoil(spoiling, key, number)
        await asyncio.sleep(dice.choice(THEN_S) if number < self.kills - _LAST else 0)  # likewise
        victim.kill()
        in_flight = [doomed] if kind == "gateway" else here.chats
        self.catalogue.were_in_flight(set().union(*(chat.in_flight for chat in in_flight)))

        assert not await victims.gone([victim])
        if kind == "gateway":
            await doomed.ended()
            await doomed.start()
        await self._ended(sent, spoilt, kind, lights)
        await self._goes_on(kind)
        await asyncio.gather(*(here.tidy(chat) for chat in here.chats))
        self._last = kind

    def _acts(self, place: Place, key: str) -> list[Act]:
        page_id = place.page_id
        if place.light:
            return [Act(f"{key}-{place.light}", "click", {"pageId": page_id, "selector": f"#light-{place.light}"})]
        return desk_acts(page_id, f"{key}-{page_id}", self.here.dice, 2)

    async def _move(self, place: Place, key: str) -> None:
        """Elsewhere, so that what survives is no older place. After a renderer's end all anew: the pages of the house
        share a worker, which may have ended with it."""
        anew = self._last == "renderer" or self.here.dice.random() < _ANEW
        await (self.here.go if anew else self.here.go_further)(place, key)

    def _spoil(self, chat: Chat, key: str, number: int) -> list[Sent]:
        """Return the actions in an order in which those that only read come first, because others may close what they
        read."""
        actions = sorted(self.catalogue.next(self.kills - number), key=lambda action: action.effect is Effect.DESTROYS)
        page_id, session_id = f"{key}-{chat.name}", f"s-{chat.name}"
        return [chat.send(action.name(), **catalogue_body(action, page_id, session_id)) for action in actions]

    def _victim(self, kind: str, chat: Chat) -> psutil.Process:
        data_dir = self.here.data_dir
        match kind:
            case "renderer":
                return victims.a_renderer(data_dir, self.here.dice)
            case "browser":
                return victims.browser(data_dir)
            case "driver":
                return victims.driver(data_dir)
            case "service":
                return victims.service(data_dir)
            case _:
                return chat.process

    async def _ended(
        self, sent: dict[str, tuple[Place, Sent]], spoilt: list[Sent], kind: str, lights: dict[str, int]
    ) -> None:
        """Check that all calls ended, each as its answer says."""
        here = self.here
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            await asyncio.gather(*(each.answer for _, each in sent.values()), *(each.answer for each in spoilt))
        lost = {NO_REPLY} if kind == "gateway" else set()
        wrong = [
            f"{each.action}: {answer.code}: {answer.text}"
            for each in spoilt
            if (answer := each.answer.result()).code not in {"ok", *TYPED, *lost}
        ]
        for key, (place, each) in sent.items():
            answer = each.answer.result()
            # what was on its way to a session that ended with the service was not done
            gone = {"SESSION_NOT_FOUND"} if kind == "service" and place.session_id == APART else set()
            if answer.code not in {*ACTS_END_AS, *lost, *gone}:
                wrong.append(f"{key} by {each.action}: {answer.code}: {answer.text}")
            if not place.light:
                here.ledger.codes[key] = answer.came_to
        self.wrongs += [f"{kind}: {each}" for each in wrong]
        self._lights = {place: (each.answer.result(), lights) for place, each in sent.values() if place.light}

    async def _goes_on(self, kind: str) -> None:
        """Check that the very next calls work."""
        here = self.here
        survivors = [place for place in PLACES if kind != "service" or place.session_id != APART]
        await asyncio.gather(*(here.check(place, may_fail=kind == "renderer") for place in survivors))
        if kind == "service":
            await here.open_apart()
        await here.check_owners()
        for place, (answer, before) in self._lights.items():
            name = f"set_light_state:{place.light}"
            times = here.site.home.counts[name] - before.get(name, 0)
            if not may_be(answer.came_to, times):
                self.wrongs.append(f"{kind}: {place.light}: {answer}, and switched {times} times")
        self.wrongs += [f"{kind}: {each}" for each in here.ledger.wrongs(here.site.did)]
        here.ledger.codes.clear()

    # --- at the end ----------------------------------------------------------------------------------------------

    async def check_end(self) -> None:
        here, wrongs = self.here, self.wrongs
        wrongs += [f"never in flight at a kill: {name}" for name in self.catalogue.uncovered]
        for pid, before in self.handles.items():
            process = psutil.Process(pid)
            if (after := _handles_of(process)) > before + MORE_HANDLES:
                wrongs.append(f"{before} handles, and then {after}: {command(process)}")
        for chat in here.chats:
            await here.tidy(chat)  # what the last kill left unsure
        open_besides = await leaks(
            here.data_dir, [f"{here.site.url}{path}" for path in here.paths.values()], [KEPT, APART]
        )
        wrongs += open_besides
        if open_besides:
            wrongs.append(f"listed: {await here.chats[0].do('list_sessions')}")
        for chat in here.chats:
            await chat.close()
        service = victims.service(here.data_dir)
        everything = victims.family(here.data_dir)
        service.terminate()
        wrongs += [f"left behind: {command(each)}" for each in await victims.gone([service, *everything])]
        with closing(sqlite3.connect(here.data_dir / "journal.sqlite3")) as journal:
            wrongs += [str(said) for (said,) in journal.execute("PRAGMA integrity_check") if said != "ok"]
        wrongs += failures(here)
        assert not wrongs, "\n".join(wrongs)

    def _handles(self) -> dict[int, int]:
        """Count the handles of the processes that are not killed from now on."""
        kept = [victims.service(self.here.data_dir), self.here.chats[0].process]
        return {process.pid: _handles_of(process) for process in kept}


def _handles_of(process: psutil.Process) -> int:
    """Count a process's open files, without connections: callers keep up to 64 of these for a while, depending on their
    speed."""
    return process.num_fds() - len(process.net_connections("tcp"))


async def _scratch(here: World, chat: Chat, key: str) -> None:
    """Open a page and a session that may be spoiled."""
    session = f"s-{chat.name}"
    known = {each["sessionId"] for each in (await chat.do("list_sessions"))["sessions"]}
    if session not in known:
        await chat.do("create_session", sessionId=session, persistent=True)
    await chat.do("goto", pageId=f"{key}-{chat.name}", sessionId=session, url=f"{here.site.url}/plain")


async def test_nothing_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    seed, kills = asked_seed(), int(os.environ.get("BROWSE_CHAOS_KILLS", "10"))
    print(f"BROWSE_CHAOS_SEED={seed} BROWSE_CHAOS_KILLS={kills}", file=sys.stderr, flush=True)  # noqa: T201 - shown where the test fails
    with ChaosSite().running() as site:
        async with world(tmp_path, site, random.Random(seed)) as here:  # noqa: S311 - no secret
            chaos = Chaos(here, kills)
            await chaos.run()
            await chaos.check_end()

"""Passes words between people and agents, and holds the calls of agents that a person paused or stopped."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import structlog

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Scope
from browse_together.contract.calls import ClientRef, Notice
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import Cancelled, HumanInControl, JournalFailed, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.words import quotable
from browser_service.clients.presence import Clients
from browser_service.clients.threads import Line, Threads
from browser_service.rules.halts import PAUSE_S, Halt, Halts
from browser_service.security.auth import Identity
from browser_service.sessions.directory import Directory
from browser_service.spine.call import FrontCall
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.register import Record
from browser_service.store.tables import HaltTable, KeptHalt

_MINUTES: Final = round(PAUSE_S / 60)
_ANSWER: Final = next_call("tell_person", message="...")
_STOPPED: Final = "Begin nothing new, and ask in your chat what they want."
_MOST_STOPPED: Final = 20

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Halted:
    """The pauses and stops of agents, in memory and on disk."""

    table: HaltTable
    halts: Halts

    async def open(self) -> None:
        clock, now = self.halts.clock(), time.time()
        for client_id, by, at, how in await self.table.all():
            self.halts.restore(client_id, Halt(how, by, clock - max(0.0, now - at), at) if how else None)

    async def write_down(self) -> None:
        """Write what holds. What the disk does not take holds in memory."""
        halts = self.halts.in_force().items()
        try:
            await self.table.write(
                [KeptHalt(key, each.by, each.at, each.how) if each else KeptHalt(key) for key, each in halts]
            )
        except JournalFailed as error:
            log.warning("whom a person paused or stopped cannot be written", reason=str(error))


@dataclass(eq=False)
class Talk:
    """What a person says to agents and agents to a person, and whom a person halts."""

    clients: Clients
    directory: Directory
    host_calls: HostCalls
    threads: Threads
    halted: Halted
    watched: Callable[[], bool] = lambda: False
    """Returns whether anybody looks at the live wall now."""

    # --- words -------------------------------------------------------------------------------------------------------

    async def to_agents(
        self, caller: Identity, to: str | None, message: str, *, about: str, page_id: str | None
    ) -> Json:
        """Give agents a person's line, maybe about an element of a page. Raises ValidationFailed for nothing to say, or
        nobody to hear it."""
        if not (message or about):
            raise ValidationFailed("There is nothing to tell.", hint="Give message.", details=field_details("message"))
        words = f', in their own words: "{message}"' if message else ""
        where = f" on {page_id}" if page_id else ""
        verb = f"points at {about}{where}" if about else f"writes to you{where}"
        text = f"{_person(caller.label)} {verb}{words}. If they need an answer: {_ANSWER}."
        notice = Notice(text=text, page_id=page_id)
        line = Line(by=caller.label, text=message, of_person=True, about=about)
        told = self._meant(to or (page_id if about else None), caller)
        await self._tell(told, notice, line)
        heard = [each for each in told if self.clients.hear(each.client_id)]
        later = [each for each in told if each not in heard]
        parts = [("heard at once by", heard), ("stands in the next reply of", later)]
        return {"observed": "; ".join(f"{how} {_names(agents)}" for how, agents in parts if agents)}

    async def to_person(self, client: ClientRef, message: str) -> Json:
        """Keep an agent's line for its person. Raises RateLimited."""
        await self.threads.answer(client.client_id, Line(by=client.label, text=message, of_person=False))
        seen = "it stands on the live wall" if self.watched() else "nobody looks at the live wall now, where it stands"
        return {"observed": f"told your person: {seen}"}

    async def _tell(self, agents: list[ClientRef], notice: Notice, *lines: Line) -> None:
        for each in agents:
            self.threads.tell(each.client_id, notice, *lines)
        await self.threads.write_down(each.client_id for each in agents)

    def _meant(self, to: str | None, caller: Identity) -> list[ClientRef]:
        """Return the clients of this name, or of the page with this name; without a name, all. Raises
        ValidationFailed."""
        if to is None:
            if everybody := self._everybody(caller):
                return everybody
            raise ValidationFailed("No agent is here now.", details=field_details("to"))
        if (page := self.directory.get(to)) is None:
            return [self.clients.find(to, besides=caller.client_id)]
        if page.holder_id is None:
            hint = "Write to an agent by its name, or to all."
            raise ValidationFailed(f'No agent has "{to}" now.', hint=hint, details=field_details("to"))
        return [ClientRef(client_id=page.holder_id, label=page.holder_label)]

    def _everybody(self, caller: Identity) -> list[ClientRef]:
        """Return the agents that are present or hold a page."""
        labels = {page.holder_id: page.holder_label for page in self.directory.pages() if page.holder_id}
        labels |= self.clients.present_labels
        return [ClientRef(client_id=key, label=label) for key, label in labels.items() if key != caller.client_id]

    # --- halts -------------------------------------------------------------------------------------------------------

    async def halt(self, caller: Identity, to: str | None, how: Literal["pause", "stop", "go_on"]) -> Json:
        """Pause or stop agents, or let them go on. Raises ValidationFailed."""
        meant = self._meant(to, caller) if to else self._everybody(caller)
        one = meant[0].client_id if to else None
        who = f'"{meant[0].named}"' if to else "every agent"
        if how == "go_on":
            held = [each for each in meant if (halt := self.halted.halts.of(each.client_id)) and halt.stops]
            self.halted.halts.end(one)
            await self.halted.write_down()
            await self._tell(held, Notice(text=f"{_person(caller.label)} lets you go on."))
            for each in held:
                self.clients.hear(each.client_id)
            return {"observed": f"{who} may go on"}
        if not self.halted.halts.begin(one, how, caller.label):
            raise ValidationFailed(
                f"{who} is stopped already.", hint="Let them go on first.", details=field_details("how")
            )
        await self.halted.write_down()
        if how == "pause":
            return {"observed": f"{who} is paused: calls wait for at most {_MINUTES} minutes, until you let them go on"}
        await self._tell(meant, Notice(text=f"{_person(caller.label)} stopped you. {_STOPPED}"))
        stopped = await self._cancel(one)  # the replies of what was cancelled have those words
        for each in meant:
            self.clients.hear(each.client_id)
        did = f"; cancelled: {', '.join(stopped)}" if stopped else "; nothing was running"
        return {"observed": f"{who} is stopped until you let them go on{did}", "cancelled": [*stopped]}

    async def _cancel(self, client_id: str | None) -> list[str]:
        """Cancel what agents do now, and return that in words."""
        running = [
            each
            for each in self.host_calls.register.running(client_id)
            if not each.by_person and ACTIONS[each.action] in _HALTED
        ]
        await asyncio.gather(*map(self.host_calls.stop, running))
        return [*dict.fromkeys(map(_did, running))][:_MOST_STOPPED]

    async def let_go_on(self, call: FrontCall) -> None:
        """Wait until the call's client is paused no longer. Raises HumanInControl if it is stopped."""
        if type(call.action) not in _HALTED or call.caller.of_person or call.let_through:
            return
        record, began, paused = call.record, self.halted.halts.clock(), None
        changed = asyncio.Event()
        with self.halted.halts.telling(changed.set):
            while (halt := self.halted.halts.of(call.client_id)) is not None:
                if halt.stops:
                    raise _stopped(call.action, halt, self.halted.halts.clock())
                paused = halt
                record.paused = (
                    f"{_person(halt.by)} paused you: this call waits, and goes on when they let it, or within "
                    f"{_MINUTES} minutes."
                )
                changed.clear()
                try:
                    async with record.cancel.within(halt.left_s(self.halted.halts.clock())):
                        await changed.wait()
                except TimeoutError:
                    if record.cancel.requested:
                        raise Cancelled("The call was cancelled while you were paused; it did not happen.") from None
                finally:
                    record.paused = ""
        if paused is not None:
            waited = round(self.halted.halts.clock() - began)
            text = f"{_person(paused.by)} had paused you: {call.action.name()} waited for {waited} s."
            self.clients.notify(call.client_id, Notice(text=text))


def _is_halted(kind: type[Action]) -> bool:
    """Return whether a halt holds calls of this action: all but those that only talk, ask a person, or end
    something."""
    only_talks = kind.scope is Scope.SERVICE and (kind.effect is Effect.READS or kind.unmetered)
    only_asks = kind.hears_person and kind.asks_person is not None
    return not (only_talks or only_asks)


_HALTED: Final = frozenset(filter(_is_halted, ACTIONS.values()))


def _person(name: str) -> str:
    return f'A person, "{quotable(name)}",' if name else "A person"


def _stopped(action: Action, halt: Halt, now: float) -> HumanInControl:
    return HumanInControl(
        f"{_person(halt.by)} stopped you {round(now - halt.since)} s ago. {action.name()} did not happen.",
        hint=f"{_STOPPED} To tell them something: {_ANSWER}.",
        details={"context": {"stoppedBy": halt.by}},
    )


def _did(record: Record) -> str:
    return f"{record.action} on {record.page_id}" if record.page_id else record.action


def _names(clients: list[ClientRef]) -> str:
    return ", ".join(f'"{each.named}"' for each in clients)

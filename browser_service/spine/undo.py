"""What can be taken back: kept for ten minutes in memory, for who did it, and taken back by the rules of the act."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from browser_service.rules.clock import Clock
from browser_service.security.auth import Identity
from browser_service.sessions.lifecycle import Closed
from browser_service.sessions.records import Sessions
from browser_service.spine.directory import Address
from browser_service.spine.register import Record
from shared import catalogue
from shared.actions.base import Action
from shared.actions.pages import OpenPage
from shared.actions.traits import Effect, Scope
from shared.actions.undoing import Undo
from shared.calls import Outcome, Undoable
from shared.catalogue import ACTIONS
from shared.errors import BrowseError, CallNotFound, CannotUndo, Relayed
from shared.model import Json, weight
from shared.next_calls import next_call
from shared.pages import PageState

if TYPE_CHECKING:
    from browser_service.spine.dispatch import Dispatcher

_KEPT_S: Final = 600
_MOST: Final = 30
_MOST_BYTES: Final = 10_000_000
_MOST_OF_ALL: Final = 100_000_000
_SHORT: Final = 8
_NOT_AGAIN: Final = frozenset({"ifRevision", "expectUrl", "affectOthers"})
"""Arguments that were about the moment of the act."""


@dataclass(eq=False)
class Kept:
    """A call that can be taken back."""

    who: Identity
    call_id: str
    action: str
    steps: list[Undoable]
    ends_at: float
    owner: str | None
    """Whose page or session it was done to, as it was then: a later one of its name is none of theirs."""
    at: str = field(default_factory=lambda: f"{datetime.now().astimezone():%H:%M:%S}")
    until: str = field(default_factory=lambda: f"{datetime.now().astimezone() + timedelta(seconds=_KEPT_S):%H:%M}")

    @property
    def size(self) -> int:
        return sum(weight(step.body) + weight(step.state) for step in self.steps)

    def shown(self, client_id: str) -> Json:
        by: Json = {} if client_id == self.who.client_id else {"by": self.who.label}
        what = "; ".join(step.what for step in self.steps)
        return {"callId": self.call_id, "action": self.action, "what": what, "until": self.until, **by}


class Undos:
    """What of the calls of all clients can be taken back, the latest last. Bounded for each client, and in all."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._kept: list[Kept] = []

    def keep(self, who: Identity, call_id: str, action: str, outcome: Outcome) -> Outcome:
        """Remember what a call did; its outcome with the way back, where something was lost."""
        if not outcome.undo:
            return outcome
        page, session_id = outcome.page, outcome.undo[0].session_id
        owner = page.holder_id if page is not None else self._sessions.owner(session_id or "")
        kept = Kept(who, call_id, action, outcome.undo, self._clock() + _KEPT_S, owner)
        told = outcome.model_copy(update={"undo": []})
        if kept.size > _MOST_BYTES:
            return told
        self._kept.append(kept)
        self._trim(who.client_id)
        if outcome.result is None or not any(step.lost for step in kept.steps):
            return told
        way = f"{next_call('undo', call_id=self.short(kept))} until {kept.until}"
        return told.model_copy(update={"result": {**outcome.result, "undo": way}})

    def all(self) -> Iterator[Kept]:
        """The latest first."""
        now = self._clock()
        self._kept = [kept for kept in self._kept if kept.ends_at > now]
        return reversed([*self._kept])

    def take(self, kept: Kept) -> bool:
        """Whoever takes it back has it alone."""
        if kept not in self._kept:
            return False
        self._kept.remove(kept)
        return True

    def put_back(self, kept: Kept) -> None:
        """It was not taken back, or not all of it."""
        self._kept.append(kept)
        self._kept.sort(key=lambda each: each.ends_at)

    def _trim(self, client_id: str) -> None:
        of_client = [kept for kept in self.all() if kept.who.client_id == client_id]
        for kepts, most, most_bytes in ((of_client, _MOST, _MOST_BYTES), ([*self.all()], 10_000, _MOST_OF_ALL)):
            size = 0
            for number, kept in enumerate(kepts, 1):
                size += kept.size
                if number > most or size > most_bytes:
                    self.take(kept)

    def short(self, kept: Kept) -> str:
        """As much of its id as tells it from the others of its client."""
        others = [each.call_id for each in self._kept if each.who.client_id == kept.who.client_id and each is not kept]
        lengths = range(_SHORT, len(kept.call_id))
        fits = (n for n in lengths if not any(other.startswith(kept.call_id[:n]) for other in others))
        return kept.call_id[: next(fits, len(kept.call_id))]


class TakingBack:
    """One `undo`, for one client."""

    def __init__(self, dispatcher: "Dispatcher", caller: Identity, record: Record) -> None:
        self._dispatcher = dispatcher
        self._caller = caller
        self._record = record
        self._undos = dispatcher.undos
        self.page: PageState | None = None
        """Where it was taken back."""

    def listed(self) -> Json:
        own = self._caller.client_id
        shown = [kept.shown(own) for kept in self._undos.all() if self._may(kept)]
        return {"undoable": [*shown]}

    async def run(self, asked: Undo) -> Json:
        found = self._found(asked.call_id)
        done: list[str] = []
        for kept in found:
            if not self._undos.take(kept):
                raise CannotUndo(f"{kept.action} is being undone by another call.")
            try:
                await self._take_back(kept, asked, done)
            finally:
                if kept.steps:
                    self._undos.put_back(kept)
        act = found[-1]
        observed = f"{act.action} of {act.at} ({self._undos.short(act)}) is undone: {'; '.join(done)}"
        return {"undone": act.call_id, "action": act.action, "at": act.at, "observed": observed}

    async def _take_back(self, kept: Kept, asked: Undo, done: list[str]) -> None:
        """Step by step, the last one first; what is taken back is not kept any more."""
        while kept.steps:
            step = kept.steps[-1]
            try:
                done.append(await self._step(kept, step, asked))
            except BrowseError as error:
                before = f" Undone before that: {'; '.join(done)}." if done else ""
                body = error.body()
                message = f"undo of {step.body['action']}: {body.message}{before}"
                raise Relayed(body.model_copy(update={"message": message})) from None
            kept.steps.pop()

    async def _step(self, kept: Kept, step: Undoable, asked: Undo) -> str:
        action = _again(step, affects_others=asked.affect_others)
        if action.closes_session:
            return await self._dispatcher.keeper.bring_back(kept.who.ref, Closed.model_validate(step.state))
        who = kept.who if self._caller.operator else self._caller
        address, limited = self._address(step, action)
        call_id, cancel = f"{self._record.call_id}.{len(kept.steps)}", self._record.cancel
        outcome = await self._dispatcher.on_host(
            who, action, call_id, address, cancel, undo=step.state, limited=limited
        )
        if outcome.error is not None:
            raise Relayed(outcome.error)
        self.page = outcome.page or self.page
        was, now = step.page_id, address.page_id
        taken = f"; {was} is another page now, so this is {now}" if was != now else ""
        for earlier in kept.steps:
            earlier.page_id = now if earlier.page_id == was else earlier.page_id
        return f"{(outcome.result or {}).get('observed', 'done')}{taken}"

    def _address(self, step: Undoable, action: Action) -> tuple[Address, Action]:
        """Where a step is taken back, and the action whose limits hold. A page that was closed comes back under its id
        where that is free."""
        directory = self._dispatcher.directory
        if not action.closes_page:
            address = directory.address(action, self._caller.client_id, self._caller.label)
            if address.session_id != step.session_id:
                raise CannotUndo(f"{step.page_id} is a page of another session now.")
            return address, action
        former = PageState.model_validate(step.state["page"])
        directory.sessions.check_use(former.session_id, self._caller.client_id)
        opening = OpenPage.model_validate({} if former.url == "about:blank" else {"url": former.url})
        return Address(directory.claim(former.page_id, former.session_id), former.session_id), opening

    def _found(self, call_id: str | None) -> list[Kept]:
        """The calls that are meant: one, or the parts that one was made of. Raises CannotUndo, CallNotFound."""
        mine = [kept for kept in self._undos.all() if self._may(kept)]
        own = [kept for kept in mine if kept.who.client_id == self._caller.client_id]
        if call_id is None:
            if own:
                return _whole(own, own[0].call_id)
            raise CannotUndo("Nothing that you did in the last 10 minutes can be undone.", hint=_WHAT)
        for kepts in (own, mine):
            exact = _whole(kepts, call_id)
            near = exact or [kept for kept in kepts if kept.call_id.startswith(call_id)]
            if exact or len(near) == 1:
                return near
            if near:
                names = ", ".join(kept.call_id for kept in near)
                raise CannotUndo(f"Several calls begin with {call_id!r}: {names}.", hint="Give more of the id.")
        raise self._impossible(call_id)

    def _may(self, kept: Kept) -> bool:
        """Who did it may undo it, and whose page or session it was done to; and the account's own person."""
        return self._caller.operator or self._caller.client_id in {kept.who.client_id, kept.owner}

    def _impossible(self, call_id: str) -> BrowseError:
        """Why a call that is not kept cannot be taken back, and what to do instead."""
        try:
            name = self._dispatcher.register.find(self._caller.client_id, call_id).action
        except CallNotFound:
            return CallNotFound(f"There is no call {call_id!r} of yours that can be undone.", hint=_WHAT)
        action = ACTIONS[name]
        if action.undoable:
            why = "it changed nothing, was undone already, was too large to keep, or is 10 minutes ago"
            return CannotUndo(f"{name} {call_id!r} cannot be undone: {why}.")
        if action.effect is Effect.READS:
            return CannotUndo(f"{name} {call_id!r} only read: there is nothing to undo.")
        if action.undone_by:
            return CannotUndo(f"undo does not take {name} back.", hint=f"The call that does: {action.undone_by}.")
        hint = f"See what it did: {next_call('snapshot')}; where the site has a way back, take that."
        return CannotUndo(f"{name} cannot be undone: what it did is on the site's side.", hint=hint)


_WHAT: Final = (
    f"See what can be: {next_call('undo', list=True)}. It is kept for 10 minutes, and not over a restart "
    "of the service; what was "
    "done to a site itself never can be."
)


def _whole(kepts: list[Kept], call_id: str) -> list[Kept]:
    """A call and those that it was made of; these come first, having been done after what it did itself."""
    found = [kept for kept in kepts if kept.call_id == call_id or kept.call_id.startswith(f"{call_id}.")]
    return sorted(found, key=lambda kept: kept.call_id == call_id)


def _again(step: Undoable, *, affects_others: bool) -> Action:
    """The act as it was asked for, so that its rules hold again; whether others may feel it is asked anew."""
    body = {name: value for name, value in step.body.items() if name not in _NOT_AGAIN}
    action = ACTIONS[str(body["action"])]
    if action.scope is Scope.PAGE:
        body["pageId"] = step.page_id
        body.pop("sessionId", None)
    if affects_others and "affect_others" in action.model_fields:
        body["affectOthers"] = True
    return catalogue.parse(body)

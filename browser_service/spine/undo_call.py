"""Runs `undo`: it undoes the acts of a call, the last one first, under the rules that applied to them."""

from dataclasses import dataclass
from typing import Final

from browser_service.sessions.vault import ClosedSession
from browser_service.spine.addressing import Address
from browser_service.spine.call import FrontCall, Go
from browser_service.spine.parts import FrontParts
from browser_service.spine.undo import UndoableCall
from shared import catalogue
from shared.actions.base import Action
from shared.actions.traits import UNDO, Effect, Scope
from shared.calls import Undoable
from shared.catalogue import ACTIONS
from shared.errors import BrowseError, CallNotFound, CannotUndo, Relayed
from shared.model import Json
from shared.next_calls import next_call
from shared.pages import PageState

_OF_THE_MOMENT: Final = frozenset({"ifRevision", "expectUrl", "affectOthers"})
"""Arguments that concerned only the moment of the act."""


@dataclass(eq=False)
class UndoCall:
    """One `undo` of one client. `to_host` takes a call through the limits that apply to it, and to its host."""

    parts: FrontParts
    call: FrontCall
    to_host: Go

    def __post_init__(self) -> None:
        self.caller, self._undos = self.call.caller, self.parts.ledger.undos
        self.page: PageState | None = None
        """The page on which acts were undone."""

    def listing(self) -> Json:
        client_id = self.caller.client_id
        calls = [call.to_listing(client_id) for call in self._undos.latest_first() if self._may_undo(call)]
        return {"undoable": [*calls]}

    async def run(self, call_id: str | None, *, affects_others: bool) -> Json:
        """Undo a call, or the last one that can be undone. Raises CannotUndo, CallNotFound, and the errors of the
        acts."""
        calls = self._find(call_id)
        done: list[str] = []
        for call in calls:
            with self._undos.undoing(call) as is_free:
                if not is_free:
                    raise CannotUndo(f"{call.action} is being undone by another call.")
                await self._undo_steps(call, done, affects_others=affects_others)
        last = calls[-1]
        observed = f"{last.action} of {last.at} ({self._undos.short_id(last)}) is undone: {'; '.join(done)}"
        return {"undone": last.call_id, "action": last.action, "at": last.at, "observed": observed}

    async def _undo_steps(self, call: UndoableCall, done: list[str], *, affects_others: bool) -> None:
        """Undo the steps, the last one first, and forget each that is undone."""
        while call.steps:
            step = call.steps[-1]
            try:
                done.append(await self._undo_step(call, step, _parse_again(step, affects_others=affects_others)))
            except BrowseError as error:
                undone_before = f" Undone before that: {'; '.join(done)}." if done else ""
                body = error.body()
                message = f"undo of {step.body['action']}: {body.message}{undone_before}"
                raise Relayed(body.model_copy(update={"message": message})) from None
            call.steps.pop()

    async def _undo_step(self, call: UndoableCall, step: Undoable, action: Action) -> str:
        self.parts.policy.check(self.caller, action)
        if action.closes and action.closes.scope is Scope.SESSION:
            closed = ClosedSession.model_validate(step.state)
            self.parts.policy.check_restoring(self.caller, action, [page.page_id for page in closed.spec.pages])
            return await self.parts.lifecycle.restore(call.caller.ref, closed)
        address, limited = self._address(step, action)
        self.parts.policy.check_place(self.caller, limited, address)
        undoing = FrontCall(
            call.caller if self.caller.operator else self.caller,
            step.body,
            call_id=f"{self.call.call_id}.{len(call.steps)}",
            undo=step.state,
            limited=limited,
        )
        undoing.action, undoing.record, undoing.address = action, self.call.record, address
        outcome = await self.to_host(undoing)
        if outcome.error is not None:
            raise Relayed(outcome.error)
        self.page = outcome.page or self.page
        old_id, new_id = step.page_id, address.page_id
        renamed = f"; {old_id} is another page now, so this is {new_id}" if old_id != new_id else ""
        for earlier in call.steps:
            earlier.page_id = new_id if earlier.page_id == old_id else earlier.page_id
        return f"{(outcome.result or {}).get('observed', 'done')}{renamed}"

    def _address(self, step: Undoable, action: Action) -> tuple[Address, Action]:
        """Return where to undo a step, and the action whose limits apply. A closed page gets its old id if that is
        free."""
        directory = self.parts.directory
        if not (action.closes and action.closes.scope is Scope.PAGE):
            address = self.parts.addressing.address(action, self.caller)
            if address.session_id != step.session_id:
                raise CannotUndo(f"{step.page_id} is a page of another session now.")
            return address, action
        former = PageState.model_validate(step.state["page"])
        directory.sessions.check_use(former.session_id, self.caller.client_id)
        url: Json = {} if former.url == "about:blank" else {"url": former.url}
        opening = catalogue.parse({"action": "open_page", **url})
        page_id = directory.former_name(former.page_id, former.session_id)
        return Address(page_id, former.session_id, is_new=True), opening

    def _find(self, call_id: str | None) -> list[UndoableCall]:
        """Return the call with this id, or the calls that it consisted of. Raises CannotUndo, CallNotFound."""
        allowed = [call for call in self._undos.latest_first() if self._may_undo(call)]
        done_by_caller = [call for call in allowed if call.caller.client_id == self.caller.client_id]
        if call_id is None:
            if done_by_caller:
                return _with_parts(done_by_caller, done_by_caller[0].call_id)
            raise CannotUndo("Nothing that you did in the last 10 minutes can be undone.", hint=_LIST_HINT)
        for calls in (done_by_caller, allowed):
            exact = _with_parts(calls, call_id)
            matching = exact or [call for call in calls if call.call_id.startswith(call_id)]
            if exact or len(matching) == 1:
                return matching
            if matching:
                names = ", ".join(call.call_id for call in matching)
                raise CannotUndo(f"Several calls begin with {call_id!r}: {names}.", hint="Give more of the id.")
        raise self._impossible(call_id)

    def _may_undo(self, call: UndoableCall) -> bool:
        """Return whether the caller made the call, owned what it changed, or is the account's own person."""
        return self.caller.operator or self.caller.client_id in {call.caller.client_id, call.owner}

    def _impossible(self, call_id: str) -> BrowseError:
        """Return the error that says why a call cannot be undone, and what to do instead."""
        try:
            name = self.parts.ledger.register.find(self.caller.client_id, call_id).action
        except CallNotFound:
            return CallNotFound(f"There is no call {call_id!r} of yours that can be undone.", hint=_LIST_HINT)
        action = ACTIONS[name]
        if action.undone_by == UNDO:
            reasons = "it changed nothing, was undone already, was too large to keep, or is 10 minutes ago"
            return CannotUndo(f"{name} {call_id!r} cannot be undone: {reasons}.")
        if action.effect is Effect.READS:
            return CannotUndo(f"{name} {call_id!r} only read: there is nothing to undo.")
        if action.undone_by:
            return CannotUndo(f"undo does not take {name} back.", hint=f"The call that does: {action.undone_by}.")
        hint = f"See what it did: {next_call('snapshot')}; where the site has a way back, take that."
        return CannotUndo(f"{name} cannot be undone: what it did is on the site's side.", hint=hint)


_LIST_HINT: Final = (
    f"See what can be: {next_call('undo', list=True)}. It is kept for 10 minutes, and not over a restart of the "
    "service; what was done to a site itself never can be."
)


def _with_parts(calls: list[UndoableCall], call_id: str) -> list[UndoableCall]:
    """Return a call after its parts, because undo starts with the last and the parts ran after the call's own acts."""
    matching = [call for call in calls if call.call_id == call_id or call.call_id.startswith(f"{call_id}.")]
    return sorted(matching, key=lambda call: call.call_id == call_id)


def _parse_again(step: Undoable, *, affects_others: bool) -> Action:
    """Return the act as it was requested, so that its rules apply again, with this call's `affects_others`."""
    body = {name: value for name, value in step.body.items() if name not in _OF_THE_MOMENT}
    action = ACTIONS[str(body["action"])]
    if action.scope is Scope.PAGE:
        body["pageId"] = step.page_id
        body.pop("sessionId", None)
    if affects_others and "affect_others" in action.model_fields:
        body["affectOthers"] = True
    return catalogue.parse(body)

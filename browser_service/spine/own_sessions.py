"""Makes a new session for a page with the call that opens it, and ends such a session with its last page."""

from dataclasses import dataclass

from browse_together.contract.actions.traits import Scope
from browse_together.contract.calls import Outcome
from browser_service.sessions.directory import Directory
from browser_service.spine.call import FrontCall, Go, Perform
from browser_service.spine.launched import closing_call


@dataclass(eq=False)
class OwnSessions:
    """The sessions that are there for a page alone."""

    directory: Directory
    perform: Perform

    async def made(self, call: FrontCall, go: Go) -> Outcome:
        """Make the new session that a call asks for. It is closed again if no page opened in it."""
        if not call.action.makes_session:
            return await go(call)
        session = await self.perform(call.caller, {"action": "create_session"}, f"{call.call_id}.1")
        session_id = str(session["sessionId"])
        outcome = None
        try:
            outcome = await go(call.with_action(call.action.model_copy(update={"session_id": session_id})))
        finally:
            if outcome is None or outcome.page is None:
                await self.perform(call.caller, closing_call(session_id), f"{call.call_id}.2")
        if outcome.result is not None:
            description = f"in {session_id}, a new session, which is not logged in anywhere: name it by sessionId"
            outcome.result["observed"] = f"{outcome.result.get('observed', 'done')}; {description}"
        return outcome

    async def ended(self, call: FrontCall, go: Go) -> Outcome:
        """End the session of a closed page, if it was made for a page and has none any more."""
        outcome = await go(call)
        closings = (part.closes for part in call.action.every_part())
        if outcome.result is None or not any(each and each.scope is Scope.PAGE for each in closings):
            return outcome
        session_id, sessions = call.address.session_id or "", self.directory.sessions
        if sessions.owner(session_id) != call.client_id or not sessions.record(session_id).of_page:
            return outcome
        if not self.directory.pages_of(session_id):
            ended = await self.perform(call.caller, closing_call(session_id), f"{call.call_id}.1")
            observed = outcome.result.get("observed", "done")
            outcome.result["observed"] = f"{observed}; made for it alone, {ended['observed']}"
        return outcome

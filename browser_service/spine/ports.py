"""Gives actions without a browser the service, as one client may see it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, cast

from browse_together.contract import catalogue
from browse_together.contract.actions.base import Action
from browse_together.contract.calls import Notice, Outcome
from browse_together.contract.errors import Cancelled, JournalFailed, PageOwned, Relayed
from browse_together.contract.limits import Limits
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.clients.listing import listing
from browser_service.flows.library import FlowLibrary
from browser_service.flows.running import Ports, Seen
from browser_service.observability.activity import Activity
from browser_service.rules.leases import private_error
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.spine.addressing import Address
from browser_service.spine.call import FrontCall, Go, TakeStep
from browser_service.spine.envelope import running
from browser_service.spine.launched import LaunchedBrowser
from browser_service.spine.parts import FrontParts
from browser_service.spine.register import Record, Reply
from browser_service.spine.talk import Talk

_LOOK_S: Final = 60.0


class ServiceContext:
    """The service during one call. `step` runs a call that this one consists of; `to_host` takes one to its host."""

    def __init__(self, parts: FrontParts, call: FrontCall, step: TakeStep, to_host: Go) -> None:
        self._parts, self._call, self._to_host = parts, call, to_host
        self._caller = self.caller = call.caller
        self._client_id = call.client_id
        self._take_step = step
        self._register = parts.ledger.register
        self._directory = parts.directory
        self.client = call.caller.ref
        self.record = call.record
        self._steps = 0

    @property
    def sessions(self) -> SessionLifecycle:
        return self._parts.lifecycle

    @property
    def activity(self) -> Activity:
        return self._parts.ledger.activity

    @property
    def flows(self) -> FlowLibrary:
        return self._parts.flows

    @property
    def ports_of_flows(self) -> Ports:
        return Ports(self._step_of_flow, self._check_step, self._check_page, self._check_going, self._note_of_flow)

    @property
    def launched_browser(self) -> LaunchedBrowser:
        return LaunchedBrowser(self._directory, self._client_id, self._step, self._tell)

    @property
    def talk(self) -> Talk:
        return self._parts.talk

    def _tell(self, text: str) -> None:
        self._parts.clients.notify(self._client_id, Notice(text=text))

    async def list_pages(self, session_id: str | None, *, whole: bool) -> Json:
        """List the pages that matter to the client; with `whole`, all that it may know of. A person sees every page."""
        policy, caller, pages = self._parts.policy, self._caller, self._parts.host_calls.pages()
        wanted = (page for page in pages if session_id in {None, page.session_id})
        listed = [page for page in wanted if policy.may_list(caller, page.session_id)]
        known = [page for page in listed if caller.operator or not page.private_from(self._client_id)]
        visible = [policy.seen_by(caller, page) for page in known]
        hidden, unshared = len(listed) - len(known), self._parts.count_unshared()
        return listing(visible, self._client_id, whole=whole, hidden=hidden, unshared=unshared)

    def list_sessions(self, user_id: str | None, *, persistent: bool | None) -> Json:
        """List the sessions that the client may know of."""
        found = self.sessions.listed(self._client_id, user_id, persistent=persistent)
        sessions = [
            each
            for each in cast("list[Json]", found["sessions"])  # the host's reply
            if self._parts.policy.may_list(self._caller, str(each["sessionId"]))
        ]
        return {**found, "sessions": [*sessions]}

    @property
    def limits(self) -> Limits:
        return self._caller.limits

    async def list_downloads(self, wait_ms: int) -> Json:
        downloads, whose = self._parts.downloads, None if self._caller.operator else self._client_id
        await downloads.until_one_ends(whose, wait_ms / 1000)
        return {"downloads": [*downloads.listed(whose)]}

    async def get_call(self, call_id: str, wait_ms: int) -> Json:
        """Return the outcome of a call, or that it is still running."""
        record = self._register.find(self._client_id, call_id)
        if self._suspended_reply(record) is None:
            with self._parts.clients.hearing(self._client_id, lambda: True) as heard:
                await record.until_done(wait_ms / 1000, heard)
        if suspended := self._suspended_reply(record):
            return {"callId": call_id, "state": "suspended", **suspended}
        if not record.done:
            return {"callId": call_id, "state": "running", **running(record)}
        return {"callId": call_id, "state": "done", **record.reply.result()}

    async def cancel_call(self, call_id: str) -> Json:
        state = await self._parts.host_calls.cancel(self._client_id, call_id)
        return {"callId": call_id, "state": state}

    async def logins_to_copy(self, session_id: str, sites: list[str]) -> Json:
        """Ask the session's host for its cookies, and for its storage of these origins. Raises what that call raises,
        also while a page there is private to another client."""
        body: Json = {"action": "export_session", "sessionId": session_id}
        action = catalogue.parse(body)
        call = FrontCall(self._caller, body, call_id=f"{self.record.call_id}.1", copied_sites=sites)
        call.action, call.record, call.address = action, self.record, Address(None, session_id)
        outcome = await self._to_host(call)
        if outcome.error is not None:
            message = f"The logins of {session_id} were not copied: {outcome.error.message}"
            raise Relayed(outcome.error.model_copy(update={"message": message}))
        return outcome.taken_logins[0]

    def session_of(self, name: str) -> str:
        """Return the session with this name, or the one of the page with this name."""
        page = None if name in self._directory.sessions else self._directory.get(name)
        return page.session_id if page else name

    async def _step(self, body: Json) -> Json:
        """Run a step as its own call, so that all rules apply."""
        return (await self._reply_to_step(body)).result_of_part()

    async def _reply_to_step(self, body: Json, via: str = "") -> Reply:
        self._steps += 1
        return await self._take_step(self._caller, body, f"{self.record.call_id}.{self._steps}", via)

    async def _step_of_flow(self, body: Json, via: str) -> Seen:
        """Run a step of a flow to its end, or until a dialog holds it up."""
        reply = await self._reply_to_step(body, via)
        record = self._register.records.get((self._client_id, f"{self.record.call_id}.{self._steps}"))
        while record is not None and not (record.done or self._suspended_reply(record)):  # a refusal has none
            await record.until_done(_LOOK_S)
        reply = record.reply if record is not None and record.done else reply
        result, page = reply.result(), reply.body.get("page")
        shown = page if isinstance(page, dict) else {}
        return Seen(result, str(shown.get("pageId", "")), str(shown.get("url", "")))

    def _check_step(self, action: Action) -> None:
        self._parts.policy.check(self._caller, action)
        self._parts.host_calls.secrets.named(action.secret_names())

    def _check_page(self, page_id: str) -> None:
        page = self._directory.get(page_id)
        if page is None or page.access == "act" or page.holder_id in {None, self._client_id}:
            return
        if page.private_from(self._client_id):
            raise private_error(page_id)
        wait = next_call("claim_page", page_id=page_id, wait_seconds=30)
        raise PageOwned(
            f'"{page_id}" is in use by "{page.holder_label}" now: a run would be refused.',
            hint=f"Without pageId it has a page of its own. Or wait: {wait}.",
            details={"context": {"pageId": page_id, "owner": page.holder_label}},
        )

    def _check_going(self) -> None:
        if self.record.cancel.requested:
            raise Cancelled("The flow was cancelled before this step, which was not done.")

    async def _note_of_flow(self, what: str) -> None:
        """Write down that what the flow does to its site begins or has ended, so that nobody repeats it unknowing."""
        action = self._call.action
        self.activity.note(self._caller, action, Outcome(call_id=self.record.call_id), self.record.call_id, 0, via=what)
        if not await self.activity.flush():
            raise JournalFailed("The disk takes nothing, so that a run could not be told from none after a crash.")

    def _suspended_reply(self, record: Record) -> Json | None:
        """Return the reply of a call suspended by an open dialog, for which waiting is futile; else None."""
        result = None if record.done or not record.task.done() else record.reply.body["result"]
        if not isinstance(result, dict) or not isinstance(result["dialog"], dict):
            return None
        page = self._directory.get(result["dialog"].get("pageId"))
        return result if page is not None and page.dialog else None


Handlers = Mapping[str, Callable[[ServiceContext, Action], Awaitable[Json]]]

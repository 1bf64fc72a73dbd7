"""THE SPINE, front half: every call, from whichever door, goes through `Dispatcher.run`. No Playwright here."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import structlog

from browser_service.clients.downloads import Downloads
from browser_service.clients.listing import page_block
from browser_service.clients.presence import Clients
from browser_service.clients.work import Work
from browser_service.host.seam import SessionHost
from browser_service.observability.activity import Activity
from browser_service.observability.logging import unexpected
from browser_service.observability.metrics import Metrics
from browser_service.rules.origin_turns import Visit
from browser_service.security.auth import Identity
from browser_service.security.revocation import Revoked
from browser_service.security.urls import abridged
from browser_service.sessions.lifecycle import Keeper
from browser_service.spine.batch import Stepping
from browser_service.spine.directory import Address, Directory
from browser_service.spine.feed import Feed
from browser_service.spine.politeness import Origins, visited
from browser_service.spine.ports import Service
from browser_service.spine.quotas import Quotas, retry_after
from browser_service.spine.register import CallRegister, Record, Reply
from browser_service.spine.undo import Undos
from browser_service.waits import Cancel
from shared import catalogue
from shared.actions.base import Action
from shared.actions.traits import Scope
from shared.calls import Call, ClientRef, Notice, Outcome
from shared.catalogue import ACTIONS
from shared.errors import BrowseError, ErrorBody, JournalFailed, RateLimited, Relayed, ValidationFailed
from shared.events import CallEnded
from shared.model import Json, weight
from shared.wire import REPLY_WITHIN_MS

ServiceHandler = Callable[[Service, Action], Awaitable[Json]]

_HEARTBEAT_S = 2.0
_FINISHES_WITHIN_S = 1.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Asked:
    """A call as it came in by HTTP, before anything is believed."""

    body: Json
    page_id: str | None = None
    call_id: str | None = None
    attempt: int = 1
    inline_text: int | None = None
    request_id: str = ""
    counted: bool = True
    """Whether it counts against its client's quotas: a step does not, which was counted with its batch."""


class Dispatcher:
    """Parse, register, address, run, journal, record, reply."""

    def __init__(
        self,
        host: SessionHost,
        directory: Directory,
        clients: Clients,
        feed: Feed,
        handlers: Mapping[str, ServiceHandler],
        *,
        activity: Activity,
        metrics: Metrics,
        quotas: Quotas,
        origins: Origins,
        work: Work,
        keeper: Keeper,
        downloads: Downloads,
        undos: Undos,
        revoked: Revoked,
        reply_within_ms: int = REPLY_WITHIN_MS,
    ) -> None:
        self.host = host
        self.directory = directory
        self.activity = activity
        self.register = CallRegister()
        self._clients = clients
        self._feed = feed
        self._handlers = handlers
        self._metrics = metrics
        self._quotas = quotas
        self._origins = origins
        self.work = work
        self.keeper = keeper
        self.downloads = downloads
        self.undos = undos
        self._revoked = revoked
        self._reply_within_ms = reply_within_ms
        self._seq = itertools.count(1)
        clients.on_gone = self._client_gone
        feed.on_call_ended = self._call_ended

    async def run(self, identity: Identity, asked: Asked) -> Reply:
        """The reply to a call, or after 50 s that it still runs. Never raises for what a caller did."""
        reply = await self._handled(identity, asked)
        notices = [n.model_dump(mode="json", exclude_none=True) for n in self._clients.take_notices(identity.client_id)]
        return replace(reply, body={**reply.body, "notices": notices})

    async def _handled(self, identity: Identity, asked: Asked) -> Reply:
        begun = self._begun(identity, asked)
        return begun if isinstance(begun, Reply) else await self._wait(begun)

    def _begun(self, identity: Identity, asked: Asked) -> Record | Reply:
        """The call, which has begun, or its refusal."""
        self._clients.met(identity.client_id, identity.label)
        call_id = asked.call_id or asked.request_id
        try:
            asked = replace(asked, body=catalogue.unwrapped(asked.body))
            action = self.directory.meant(catalogue.parse(_merged(asked)))
        except BrowseError as error:
            return failed(error.body(asked.request_id))
        try:
            record = self.register.begin(
                identity.client_id,
                call_id,
                asked.attempt,
                action,
                lambda: self._admitted(identity, asked, action, call_id),
            )
            if asked.counted:
                self._quotas.began(record, action)
        except RateLimited as error:  # not recorded: who hammers would push what others did out of the record
            return failed(error.body(asked.request_id))
        except BrowseError as error:
            refusal = error.body(asked.request_id)
            self.activity.note(identity, action, Outcome(call_id=call_id, error=refusal), call_id, 0)
            return failed(refusal)
        return record

    def _admitted(self, identity: Identity, asked: Asked, action: Action, call_id: str) -> Awaitable[Reply]:
        """Only a new call counts: one that is joined or read on was counted when it came."""
        if asked.counted:
            self._quotas.admit(identity.client_id, action)
        return self._reply(identity, asked, action, call_id)

    async def perform(self, identity: Identity, body: Json, call_id: str) -> Json:
        """The result of an action that another one is made of. Raises what it failed with."""
        reply = await self._handled(identity, Asked(body, call_id=call_id, request_id=call_id))
        try:
            return reply.result()
        except Relayed as error:
            error.details.pop("tool", None)  # its caller called the other one
            raise

    def begin_part(self, identity: Identity, body: Json, call_id: str, inline_text: int) -> Record | Reply:
        """Begin a step of a batch, a call of its own; or its refusal."""
        asked = Asked(body, call_id=call_id, inline_text=inline_text, request_id=call_id, counted=False)
        return self._begun(identity, asked)

    async def revoke(self, clients: set[str]) -> Json:
        """Refuse all tokens that these clients (ids, or labels) have, at once; also to those that listen. Which ids
        these are, and how many of them have been here."""
        ids, known = await self._named(clients)
        try:
            await self._revoked.clients(ids, time.time())
        finally:
            self._cut()
            for record in [record for each in ids for record in self.register.running(each)]:
                await self.cancel(record.client_id, record.call_id)
        log.info("tokens were revoked", clients=len(ids))
        return {"clients": [*sorted(ids)], "known": len(known)}

    async def revoke_token(self, token_id: str) -> Json:
        try:
            await self._revoked.token(token_id, time.time())
        finally:
            self._cut()
        log.info("a token was revoked", token=token_id)
        return {"tokenId": token_id}

    def _cut(self) -> None:
        """End all streams: who may listen comes back at once, and within the time that nobody counts as gone."""
        self._clients.end_streams()
        self.activity.cut_streams()

    async def _named(self, clients: set[str]) -> tuple[set[str], set[str]]:
        """Their ids, and those of them that have been here: what is given may be one, or the label of several."""
        known = await self.activity.clients()
        for page in self.directory.pages():
            known.setdefault(page.holder_id or "", set()).add(page.holder_label)
        for client_id, label in self._clients.labels():
            known.setdefault(client_id, set()).add(label)
        named = {client.casefold() for client in clients}
        meant = {each for each, labels in known.items() if named & {label.casefold() for label in labels}} - {""}
        return clients | meant, meant | (clients & known.keys())

    async def forget(self, client: str) -> Json:
        """Remove what is kept of a client (its id, or all of a label): records, notices, and the leases of one that is
        gone. How many of each."""
        ids, _ = await self._named({client})
        gone = [each for each in ids if not self._clients.present(each) and not self.register.running(each)]
        held = sum(len(self.directory.held_by(each)) for each in gone)
        for each in gone:
            self.work.gone(each)
            await self.release(each)
        await self._feed.catch_up()
        leases = held - sum(len(self.directory.held_by(each)) for each in gone)
        notices = sum(self._clients.drop_notices(each) for each in ids)
        removed: Json = {"records": await self.activity.forget(ids), "notices": notices, "leases": leases}
        log.info("a client was forgotten", **removed)
        return removed

    async def finish(self) -> None:
        """Let the calls that have just ended be recorded, before the service does."""
        if running := {record.task for record in self.register.running()}:
            await asyncio.wait(running, timeout=_FINISHES_WITHIN_S)

    async def cancel(self, client_id: str, call_id: str) -> str:
        """Stop a call, also one that is still on its way here. Raises CallNotFound for one never heard of."""
        await self.host.cancel(_host_call_id(client_id, call_id))
        record = self.register.find(client_id, call_id)
        record.cancel.request()
        return "done" if record.done else "cancelling"

    async def _wait(self, record: Record) -> Reply:
        """The caller may go at any time: the call goes on without it."""
        left_s = self._reply_within_ms / 1000
        while left_s > 0:
            done, _ = await asyncio.wait({record.task}, timeout=min(_HEARTBEAT_S, left_s))
            if done:
                return record.reply
            left_s -= _HEARTBEAT_S
            self._clients.beat(record.client_id, record.call_id, record.elapsed_ms)
        result: Json = {"stillRunning": True, "callId": record.call_id, "elapsedMs": record.elapsed_ms}
        return Reply(200, {"success": True, "result": result, "page": None})

    async def _reply(self, identity: Identity, asked: Asked, action: Action, call_id: str) -> Reply:
        """Run the action and put its outcome in the envelope."""
        began = asyncio.get_running_loop().time()
        try:
            outcome = await self._outcome(identity, asked, action, call_id)
        except BrowseError as error:
            outcome = Outcome(call_id=call_id, error=error.body())
        except Exception:
            log.exception("call failed unexpectedly", call_id=call_id, action=action.name())
            outcome = Outcome(call_id=call_id, error=unexpected("The service failed at this call.").body())
        await self._feed.catch_up()
        if action.saved_name is not None and self._feed.owes(action.named_session or "", action.saved_name):
            failed_to = JournalFailed(
                f"The logins of {action.named_session!r} could not be saved: the disk takes nothing."
            )
            outcome = Outcome(call_id=call_id, error=failed_to.body())
        own = action.named_session if action.scope is Scope.SESSION else None
        session_id = outcome.page.session_id if outcome.page else own
        self.directory.sessions.used(session_id, failed=outcome.error is not None)
        outcome = self._as_seen(self.undos.keep(identity, call_id, action.name(), outcome), identity.client_id)
        self._clients.ended(identity.client_id, call_id)
        reply = self._envelope(outcome, identity, asked, action)
        if outcome.suspended:
            reply = replace(reply, finish=lambda last: self._envelope(last, identity, asked, action))
        seconds = asyncio.get_running_loop().time() - began
        ended = outcome.error.code if outcome.error else "ok"
        self._metrics.ended(action.name(), ended, seconds)
        if not (action.apart):  # of which each step is noted, where it was
            self.activity.note(identity, action, outcome, call_id, seconds)
        log.info(
            "call",
            action=action.name(),
            client=identity.label,
            page=outcome.page.page_id if outcome.page else None,
            outcome=ended,
            ms=round(seconds * 1000),
            call_id=call_id,
        )
        return reply

    async def _outcome(self, identity: Identity, asked: Asked, action: Action, call_id: str) -> Outcome:
        if action.makes_session:
            return await self._in_new_session(identity, asked, action, call_id)
        if action.apart:
            record = self.register.find(identity.client_id, call_id)
            return await Stepping(self, identity, record, asked.inline_text).run(action)
        address = self.directory.address(action, identity.client_id, identity.label)
        if action.scope is Scope.SERVICE:
            service = Service(self, identity, self.register.find(identity.client_id, call_id))
            result = await self._handlers[action.name()](service, action)
            return Outcome(call_id=call_id, result=result, page=service.page, undo=service.undo_of)
        cancel = self.register.find(identity.client_id, call_id).cancel
        outcome = await self.on_host(identity, action, call_id, address, cancel, inline_text=asked.inline_text)
        if outcome.result is not None and any(ACTIONS[str(step.body["action"])].closes_page for step in outcome.undo):
            await self._end_with_page(identity, address.session_id or "", outcome.result, call_id)
        if action.opens_another and action.named_page and outcome.page and outcome.page.page_id != action.named_page:
            notice = f"{action.named_page} is open already, and yours: this is another page, {outcome.page.page_id}."
            self._clients.notify(identity.client_id, Notice(text=notice, page_id=outcome.page.page_id))
        return outcome

    async def on_host(
        self,
        identity: Identity,
        action: Action,
        call_id: str,
        address: Address,
        cancel: Cancel,
        *,
        inline_text: int | None = None,
        undo: Json | None = None,
        limited: Action | None = None,
    ) -> Outcome:
        """Have an action done where its page or session is; with `undo`, what it left, have it taken back. `limited`:
        the action whose limits hold, where that is another one."""
        outcome = None
        try:
            async with self._within_limits(identity.client_id, limited or action, call_id, address, cancel):
                call = self._call(identity, action, call_id, address)
                call.inline_text, call.undo = inline_text, undo
                if action.restored_name is not None and undo is None:
                    call.state = await self.keeper.saved(address.session_id or "", action.restored_name)
                outcome = await self.host.run(call)
        finally:
            if outcome is None or outcome.page is None:
                self.directory.unmint(address)
        return outcome

    async def _end_with_page(self, identity: Identity, session_id: str, result: Json, call_id: str) -> None:
        """A session that was made for a page ends with the last of its pages."""
        await self._feed.catch_up()
        sessions, pages = self.directory.sessions, self.directory.pages()
        if sessions.owner(session_id) != identity.client_id or not sessions.record(session_id).of_page:
            return
        if all(page.session_id != session_id for page in pages):
            await self.perform(identity, {"action": "close_session", "sessionId": session_id}, f"{call_id}.1")
            result["observed"] = f"{result.get('observed', 'done')}; so is session {session_id}, which was made for it"

    async def _in_new_session(self, identity: Identity, asked: Asked, action: Action, call_id: str) -> Outcome:
        """A session that came to no page is not left behind."""
        made = await self.perform(identity, {"action": "create_session"}, f"{call_id}.1")
        session_id = str(made["sessionId"])
        outcome = None
        try:
            there = action.model_copy(update={"session_id": session_id})
            outcome = await self._outcome(identity, asked, there, call_id)
        finally:
            if outcome is None or outcome.page is None:
                await self.perform(identity, {"action": "close_session", "sessionId": session_id}, f"{call_id}.2")
        if outcome.result is not None:
            said = f"in {session_id}, a new session, which is not logged in anywhere: name it by sessionId"
            outcome.result["observed"] = f"{outcome.result.get('observed', 'done')}; {said}"
        return outcome

    @asynccontextmanager
    async def _within_limits(
        self, client_id: str, action: Action, call_id: str, address: Address, cancel: Cancel
    ) -> AsyncIterator[None]:
        """What a new page, and a request to a site, need besides: room for it, and a turn at its origin."""
        page = self.directory.get(address.page_id or "")
        origins = visited(action, self.directory.seen_by(page, client_id).url if page else "")
        new_id = address.page_id if page is None else None
        async with AsyncExitStack() as limits:
            if new_id:
                limits.enter_context(self._quotas.opening(client_id, new_id, self.directory.held_by(client_id)))
            for origin, times in sorted(origins.items()):  # in one order, so that no two calls wait for one another
                visit = Visit(call_id, client_id, action.name(), action.allowed_ms() / 1000, times)
                if said := await limits.enter_async_context(self._origins.turn(origin, visit, cancel)):
                    self._clients.notify(client_id, Notice(text=said))
            yield
            if origins or new_id:  # before the next one goes there: was a pause asked for? is the page open?
                await self._feed.catch_up()

    def _call(self, identity: Identity, action: Action, call_id: str, address: Address) -> Call:
        return Call(
            call_id=_host_call_id(identity.client_id, call_id),
            seq=next(self._seq),
            client_id=identity.client_id,
            client_label=identity.label,
            recipient=self._recipient(action, identity, address),
            body=action.wire_body(),
            page_id=address.page_id,
            session_id=address.session_id,
            by_person=identity.operator,
            remaining_ms=action.allowed_ms(),
        )

    def _recipient(self, action: Action, identity: Identity, address: Address) -> ClientRef | None:
        """Whom a page is handed over to: a client, by its name or by a page of its. Raises Forbidden for one that may
        not use the page's session, and could do nothing with it."""
        if action.recipient is None:
            return None
        page = self.directory.get(action.recipient)
        if page is not None and page.holder_id is not None:
            recipient = ClientRef(client_id=page.holder_id, label=page.holder_label)
        else:
            recipient = self._clients.named(action.recipient, besides=identity.client_id)
        if address.session_id:
            self.directory.sessions.check_recipient(address.session_id, recipient)
        return recipient

    def _as_seen(self, outcome: Outcome, client_id: str) -> Outcome:
        """Without where a page is that is private to another: neither its reply nor the account may tell."""
        if outcome.page is None:
            return outcome
        seen = self.directory.seen_by(outcome.page, client_id)
        if seen is outcome.page:
            return outcome
        return outcome.model_copy(update={"page": seen, "url_before": None, "requests": []})

    def _envelope(self, outcome: Outcome, identity: Identity, asked: Asked, action: Action) -> Reply:
        page = page_block(outcome.page, identity.client_id).model_dump(mode="json") if outcome.page else None
        if outcome.error is not None:
            error = _with_details(outcome.error, str(asked.body["action"]), action, outcome)
            return failed(Relayed(error).body(asked.request_id), page=page)
        result = outcome.result or {}
        return Reply(200, {"success": True, "result": result, "page": page}, size=weight(result))

    def _call_ended(self, event: CallEnded) -> None:
        """A call that a dialog had kept from its end: get_call tells it from now on."""
        own_id = event.outcome.call_id.removeprefix(_host_call_id(event.client_id, ""))
        record = self.register.find(event.client_id, own_id)
        record.tell(self.undos.keep(Identity(client_id=event.client_id), own_id, record.action, event.outcome))

    async def _client_gone(self, client_id: str) -> None:
        """Its calls end, its leases lapse; its pages, logins and downloads live on. What it asked a person for stays:
        the person may be at it, and the same chat may come back."""
        for record in self.register.running(client_id):
            if ACTIONS[record.action].outlives_client:
                continue
            record.cancel.request()
            await self.host.cancel(_host_call_id(client_id, record.call_id))
        self.work.gone(client_id)
        await self.release(client_id)

    async def release(self, client_id: str) -> None:
        """Let its leases lapse that it has not used when the host hears of it."""
        await self.host.release(client_id, next(self._seq))


def failed(error: ErrorBody, *, page: Json | None = None) -> Reply:
    """The one shape of every error."""
    shown = error.model_dump(mode="json", by_alias=True, exclude={"status"}, exclude_none=True)
    body: dict[str, object] = {"success": False, "error": shown, "page": page, "notices": []}
    return Reply(error.status, body, retry_after_s=retry_after(error))


def _merged(asked: Asked) -> Json:
    """The body with the pageId of its path. Raises ValidationFailed where the two disagree."""
    if asked.page_id is None:
        return asked.body
    page_id = catalogue.check_page_id(asked.page_id)
    given = asked.body.get("pageId")
    if given is not None and given != page_id:
        raise ValidationFailed(
            f"pageId is {page_id!r} in the path and {given!r} in the body.",
            hint="Give it once.",
            details={"context": {"field": "pageId"}},
        )
    return {**asked.body, "pageId": page_id}


def _with_details(error: ErrorBody, called: str, action: Action, outcome: Outcome) -> ErrorBody:
    """The details that every error has where they are known: tool (as it was called), sessionId, selector, url."""
    known: Json = {"tool": called}
    if outcome.page is not None:
        known |= {"sessionId": outcome.page.session_id, "url": abridged(outcome.page.url)}
    if selector := action.asked_selector:
        known["selector"] = selector
    hint = action.hints.get(error.code, error.hint)
    return error.model_copy(update={"details": {**known, **error.details}, "hint": hint})


def _host_call_id(client_id: str, call_id: str) -> str:
    return f"{client_id}/{call_id}"

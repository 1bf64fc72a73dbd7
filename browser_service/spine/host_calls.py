"""Runs actions on the host of their page or session, within the limits that apply there."""

import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from browser_service.clients.presence import Clients
from browser_service.host.seam import CallKey, ParsedCall, SessionHost
from browser_service.rules.origin_turns import Visit
from browser_service.rules.quotas import Quotas
from browser_service.rules.visits import count_visits, visits
from browser_service.security.auth import Identity
from browser_service.security.named_secrets import NamedSecrets
from browser_service.sessions.directory import Directory
from browser_service.sessions.vault import SessionVault
from browser_service.spine.addressing import Address
from browser_service.spine.feed import Feed
from browser_service.spine.policy import Policy
from browser_service.spine.politeness import Origins
from browser_service.spine.register import CallRegister, Record
from browser_service.waits import Cancel
from shared.actions.base import Action
from shared.calls import Call, ClientRef, Guard, Notice, Outcome, PageLimit
from shared.model import Json
from shared.pages import PageState


@dataclass(frozen=True)
class HostTask:
    """An action for a host to run or undo."""

    caller: Identity
    action: Action
    call_id: str
    address: Address
    cancel: Cancel
    inline_text: int | None = None
    confirmed: tuple[str, ...] = ()
    """Keys of the acts that a person has confirmed."""
    guard: Guard | None = None
    """The origins that its chat has read, if it uses a guarded session."""
    undo: Json | None = None
    """The state that undoes an act."""
    limited: Action | None = None
    """The action whose limits apply, if it is another one."""


@dataclass(eq=False)
class HostCalls:
    """The host's calls: run in the front's order, cancelled, and released from their leases."""

    host: SessionHost
    directory: Directory
    clients: Clients
    feed: Feed
    register: CallRegister
    vault: SessionVault
    quotas: Quotas
    origins: Origins
    policy: Policy
    secrets: NamedSecrets

    def __post_init__(self) -> None:
        self._seq = itertools.count(1)

    async def run(self, task: HostTask) -> Outcome:
        """Run a task within the limits that apply to it."""
        recipient = self._recipient(task)
        async with self._within_limits(task, recipient):
            outcome = await self.host.run(await self._call(task, recipient))
            self._note_arrival(task.limited or task.action, outcome)
            return await self.secrets.concealed_reply(outcome)

    async def pages(self) -> list[PageState]:
        """Return the host's pages, without secrets."""
        return [self.secrets.concealed(page) for page in await self.host.describe()]

    async def cancel(self, client_id: str, call_id: str) -> str:
        """Stop a call, even if it has not reached the host yet. Raises CallNotFound for an unknown one."""
        await self.host.cancel(str(CallKey(client_id, call_id)))
        record = self.register.find(client_id, call_id)
        record.cancel.request()
        return "done" if record.done else "cancelling"

    async def stop(self, record: Record) -> None:
        record.cancel.request()
        await self.host.cancel(str(CallKey(record.client_id, record.call_id)))

    async def release(self, client_id: str, *, for_good: bool = False) -> None:
        """Release the client's leases, unless it uses them from now on. Holds keep some, except when it is gone for
        good."""
        await self.host.release(client_id, next(self._seq), for_good=for_good)

    @asynccontextmanager
    async def _within_limits(self, task: HostTask, recipient: ClientRef | None) -> AsyncIterator[None]:
        """Hold a new page's name and its place in the quota of whoever gets it, and a turn at each origin that the task
        sends requests to."""
        client_id, action, page_id = task.caller.client_id, task.limited or task.action, task.address.page_id
        page = self.directory.get(page_id)
        origins = count_visits(action, self.directory.seen_by(page, client_id).url if page else "")
        origins += self.origins.beyond(each.requested_url or "" for each in action.every_part() if visits(each))
        async with AsyncExitStack() as limits:
            if task.address.is_new and page_id:
                opening = self.directory.reserved_by(client_id) - {page_id}
                self.quotas.check_pages(self.directory.held_by(client_id), opening)
            takes = self.policy.takes_page(task.caller, action, page)  # perhaps only after waiting in line for it
            if page_id and (task.address.is_new or takes):
                limits.enter_context(self.directory.reserve(page_id, client_id))
            if page_id and recipient is not None:
                self.policy.check_recipient(task.caller, recipient, page_id)
                limits.enter_context(self.directory.reserve(page_id, recipient.client_id))
            for origin, times in sorted(origins.items()):  # always in one order, so that no two calls deadlock
                visit = Visit(task.call_id, client_id, action.name(), action.allowed_ms() / 1000, times)
                if text := await limits.enter_async_context(self.origins.turn(origin, visit, task.cancel)):
                    self.clients.notify(client_id, Notice(text=text))
            yield
            if origins or task.address.is_new:  # so that the next call knows of a pause, or of the page
                await self.feed.catch_up()

    def _note_arrival(self, action: Action, outcome: Outcome) -> None:
        """Note where a call was redirected, by its answer or by its page's new URL."""
        if not visits(action) or not action.requested_url or outcome.result is None:
            return
        reached = outcome.result.get("redirectedTo") or (outcome.page.url if action.navigates and outcome.page else "")
        self.origins.note_arrival(action.requested_url, str(reached))

    async def _call(self, task: HostTask, recipient: ClientRef | None) -> Call:
        action, caller, address = task.action, task.caller, task.address
        stored = action.stored_logins if task.undo is None else None
        if stored is not None and not stored.restores:
            await self.vault.check_room(address.session_id or "", stored.name)
        call = ParsedCall(
            action=action,
            call_id=str(CallKey(caller.client_id, task.call_id)),
            seq=next(self._seq),
            client_id=caller.client_id,
            client_label=caller.label,
            recipient=recipient,
            body=action.wire_body(),
            page_id=address.page_id,
            session_id=address.session_id,
            opens=address.is_new or action.unaddressed.opens,
            undo=task.undo,
            confirmed=[*task.confirmed],
            guard=task.guard,
            secrets=self.secrets.reveal(action.secret_names()),
            by_person=caller.operator,
            origins=[*caller.limits.origins],
            page_limit=PageLimit(most=most, token=caller.token_name) if (most := caller.limits.pages) else None,
            hides_cookies=self.policy.hides_cookies(caller, address.session_id),
            inline_text=task.inline_text,
        )
        if stored is not None and stored.restores:
            call.state = await self.vault.saved(address.session_id or "", stored.name)
        return call

    def _recipient(self, task: HostTask) -> ClientRef | None:
        """Return the client to which a page is handed over. Raises Forbidden if it may not use the page's session."""
        name = task.action.recipient
        if name is None:
            return None
        page = self.directory.get(name)
        if page is not None and page.holder_id is not None:
            recipient = ClientRef(client_id=page.holder_id, label=page.holder_label)
        else:
            recipient = self.clients.find(name, besides=task.caller.client_id)
        if task.address.session_id:
            self.directory.sessions.check_recipient(task.address.session_id, recipient)
        return recipient

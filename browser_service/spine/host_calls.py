"""Runs calls on the host of their page or session, within the limits that apply there."""

import asyncio
import contextlib
import itertools
from dataclasses import dataclass
from typing import Final

from browse_together.contract.actions.traits import Effect, may_answer
from browse_together.contract.calls import ASKING, Call, Outcome, PageLimit
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import CallNotFound, ErrorBody, HostGone
from browse_together.contract.pages import PageState
from browser_service.host.seam import CallKey, ParsedCall, SessionHost
from browser_service.security.concealment import Concealment
from browser_service.security.named_secrets import NamedSecrets
from browser_service.sessions.directory import Directory
from browser_service.sessions.vault import SessionVault
from browser_service.spine.call import FrontCall
from browser_service.spine.feed import Feeds
from browser_service.spine.policy import Policy
from browser_service.spine.register import CallRegister, Record

_NAMES_SECRETS: Final = {kind for kind in ACTIONS.values() if kind.part_fields or kind.secret_fields()}
_HAS_LOGINS: Final = {kind for kind in ACTIONS.values() if may_answer(kind, "stored_logins")}
_CALLS_BITS: Final = 40
"""How many bits of a call's number count the calls of one start of the service."""


@dataclass(eq=False)
class HostCalls:
    """The host's calls: run in the front's order, cancelled, and released from their leases."""

    host: SessionHost
    directory: Directory
    register: CallRegister
    vault: SessionVault
    policy: Policy
    secrets: NamedSecrets
    feeds: Feeds
    late_by_s: float = 180
    """So much longer than its own time a call may take: it waits for its turn and its browser besides."""

    def __post_init__(self) -> None:
        self.number_from(0)

    def number_from(self, start: int) -> None:
        """Number calls from now on as those of this start of the service: higher than of all starts before, because a
        host elsewhere may still have calls and leases of these."""
        self.front_start = start
        self._seq = itertools.count((start << _CALLS_BITS) + 1)

    async def run(self, call: FrontCall) -> Outcome:
        """Return the outcome of a call, once all that happened before it is known here."""
        if call.action.effect is not Effect.READS:
            self.directory.note_act(call.address.page_id, call.client_id)
        try:
            outcome = await self._ask(call)
        except HostGone as gone:
            if not gone.sent or call.action.effect is not Effect.READS:
                raise
            outcome = await self._ask(call)  # a read, once more, wherever its session is by now
        if outcome.as_of is not None:
            await self.feeds.catch_up(outcome.as_of)
        return await self.secrets.apart(Concealment.message, outcome)

    async def _ask(self, call: FrontCall) -> Outcome:
        """Return the outcome of a call. Raises HostGone, also if none comes long after the call's own time."""
        try:
            async with asyncio.timeout(call.action.allowed_ms() / 1000 + self.late_by_s):
                return await self.host.run(await self._call(call))
        except TimeoutError as error:
            raise HostGone from error

    async def refusal_to_read(self, call: FrontCall) -> ErrorBody | None:
        """Return why a read of its page is refused now, if it is."""
        return await self.host.refusal_to_read(await self._call(call))

    def pages(self) -> list[PageState]:
        """Return all pages as they are now, without secrets."""
        return [self.secrets.concealment.message(page) for page in self.directory.pages_now()]

    async def cancel(self, client_id: str, call_id: str) -> str:
        """Stop a call, even if it has not reached the host yet. Raises CallNotFound for an unknown one."""
        try:
            record = self.register.find(client_id, call_id)
        except CallNotFound:
            await self._cancel(client_id, call_id)
            raise
        await self.stop(record)
        return "done" if record.done else "cancelling"

    async def stop(self, record: Record) -> None:
        record.cancel.request()
        await self._cancel(record.client_id, record.call_id)

    async def _cancel(self, client_id: str, call_id: str) -> None:
        """Cancel a call at its host, its parts, as a flow's steps are, and the calls that ask a person about them."""
        running = (record.call_id for record in self.register.running(client_id))
        for each in [call_id, *(each for each in running if each.startswith((f"{call_id}{ASKING}", f"{call_id}.")))]:
            with contextlib.suppress(HostGone):  # its calls end without being told
                await self.host.cancel(str(CallKey(client_id, each)))

    async def release(self, client_id: str, *, for_good: bool = False) -> None:
        """Release the client's leases, unless it uses them from now on. Holds keep some, except when it is gone for
        good."""
        with contextlib.suppress(HostGone):  # so are its leases
            await self.host.release(client_id, next(self._seq), for_good=for_good)

    async def _call(self, asked: FrontCall) -> Call:
        action, caller, address = asked.action, asked.caller, asked.address
        kind = type(action)
        stored = action.stored_logins if kind in _HAS_LOGINS else None
        names = action.secret_names() if kind in _NAMES_SECRETS else ()
        if stored is not None and not stored.restores:
            await self.vault.check_room(address.session_id or "", stored.name)
        call = ParsedCall(
            action=action,
            call_id=str(CallKey(caller.client_id, asked.call_id)),
            seq=next(self._seq),
            client_id=caller.client_id,
            client_label=caller.label,
            recipient=asked.recipient,
            body=action.wire_body(),
            page_id=address.page_id,
            session_id=address.session_id,
            opens=address.is_new or action.unaddressed.opens,
            copied_sites=asked.copied_sites,
            confirmed=[*asked.confirmed],
            guard=asked.guard,
            secrets=await self.secrets.reveal(names) if names else {},
            by_person=caller.operator,
            origins=[*caller.limits.origins],
            page_limit=PageLimit(most=most, token=caller.token_name) if (most := caller.limits.pages) else None,
            hides_cookies=self.policy.hides_cookies(caller, address.session_id),
            inline_text=asked.inline_text,
            continues=asked.continues,
        )
        if stored is not None and stored.restores:
            record = self.directory.sessions.record(address.session_id or "")
            call.state = await self.vault.saved(record, stored.name, caller.client_id, by_person=caller.operator)
        return call

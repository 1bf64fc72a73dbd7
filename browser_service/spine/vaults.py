"""Asks a person to unlock the vault of a secret that a call types."""

from dataclasses import dataclass
from typing import Final

from browse_together.contract.calls import Outcome
from browse_together.contract.errors import BrowseError, Cancelled, VaultLocked
from browser_service.spine.asking import asker, decided
from browser_service.spine.call import FrontCall, Go, Perform

_UNLOCKED: Final = "It is unlocked"
_REFUSE: Final = "Refuse"
_NUMBER: Final = 1_000
"""Above the numbers of the questions that a rule asks about one call."""


@dataclass(frozen=True)
class Vaults:
    """The vaults that people keep secrets in, and unlock when they are asked."""

    perform: Perform

    async def unlocked(self, call: FrontCall, go: Go) -> Outcome:
        """Do the call. If the vault of a secret in it is locked, ask on the call's page, and do it once more."""
        try:
            return await go(call)
        except VaultLocked as locked:
            if call.address.page_id is None:
                raise
            message = f"{asker(call)} types a secret of yours for {call.action.name()}. {locked.message} Unlock it."
            try:
                reply = await decided(self.perform, call, message, [_UNLOCKED, _REFUSE], number=_NUMBER)
            except BrowseError:
                if call.record.cancel.requested:
                    raise Cancelled("The call was cancelled while a person was asked to unlock a vault.") from locked
                raise locked from None  # nobody could be asked
            if reply.get("answer") != _UNLOCKED:
                raise
        return await go(call)

"""What was done on our side, taken back."""

from types import MappingProxyType

from pydantic import Field

from shared.actions.arguments import CallId
from shared.actions.base import ServiceAct


class Undo(ServiceAct):
    """Take back what a call of yours lost within 10 minutes: a closed page or session, cookies, storage, logins.

    What was set again since stays, and the reply says so. Acts on the site itself cannot be undone."""

    everyday = ("callId", "list")
    hints = MappingProxyType({"AFFECTS_OTHERS": 'To affect all of them, repeat undo with "affectOthers": true.'})

    call_id: CallId | None = Field(default=None, description="By default your last one; its beginning is enough.")
    only_list: bool = Field(default=False, alias="list", description="Only list what can be undone, and until when.")
    affect_others: bool = Field(default=False, description="Do it even if it affects pages that others hold.")

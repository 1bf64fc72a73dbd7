"""A call in the front half: as it was asked for, and as it was taken on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from browser_service.security.auth import Identity
from browser_service.spine.register import Record
from shared import catalogue
from shared.actions.base import Action
from shared.errors import ValidationFailed, of_field
from shared.model import Json

Perform = Callable[[Identity, Json, str], Awaitable[Json]]
"""Does an action that another one is made of, as a call of its own; its arguments are caller, body and callId."""


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
    """It counts against its client's quotas; a step does not, which was counted with its batch."""

    def merged(self) -> Json:
        """Return the body with the pageId of its path. Raises ValidationFailed where the two disagree."""
        if self.page_id is None:
            return self.body
        page_id = catalogue.check_page_id(self.page_id)
        given = self.body.get("pageId")
        if given is not None and given != page_id:
            raise ValidationFailed(
                f"pageId is {page_id!r} in the path and {given!r} in the body.",
                hint="Give it once.",
                details=of_field("pageId"),
            )
        return {**self.body, "pageId": page_id}


@dataclass(frozen=True)
class FrontCall:
    """A call that was taken on: who calls, what was asked, the action that it means, and its place in the register."""

    caller: Identity
    asked: Asked
    action: Action
    record: Record

    @property
    def client_id(self) -> str:
        return self.caller.client_id

    @property
    def call_id(self) -> str:
        return self.record.call_id

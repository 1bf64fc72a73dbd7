"""A call in the front half: as it was requested, and as it was admitted."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from browser_service.security.auth import Identity
from browser_service.spine.register import Record
from shared import argument_errors
from shared.actions.base import Action
from shared.errors import ValidationFailed, field_details
from shared.model import Json

Perform = Callable[[Identity, Json, str], Awaitable[Json]]
"""Runs an action that another one consists of, as its own call. Takes the caller, the body and the callId."""


@dataclass(frozen=True)
class CallRequest:
    """A call as it came by HTTP, before any check."""

    body: Json
    page_id: str | None = None
    call_id: str | None = None
    attempt: int = 1
    inline_text: int | None = None
    request_id: str = ""
    counted: bool = True
    """False for what was counted elsewhere: a step with its batch, a card on its own."""

    def merged(self) -> Json:
        """Return the body with the pageId of its path. Raises ValidationFailed if the two disagree."""
        if self.page_id is None:
            return self.body
        page_id = argument_errors.check_page_id(self.page_id)
        in_body = self.body.get("pageId")
        if in_body is not None and in_body != page_id:
            raise ValidationFailed(
                f"pageId is {page_id!r} in the path and {in_body!r} in the body.",
                hint="Give it once.",
                details=field_details("pageId"),
            )
        return {**self.body, "pageId": page_id}


@dataclass(frozen=True)
class FrontCall:
    """An admitted call: its caller, request, action and record in the register."""

    caller: Identity
    request: CallRequest
    action: Action
    record: Record

    @property
    def client_id(self) -> str:
        return self.caller.client_id

    @property
    def call_id(self) -> str:
        return self.record.call_id

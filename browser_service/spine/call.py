"""A call on its way through the front half, and what surrounds the calls of some actions."""

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, Self

from browse_together.contract import argument_errors
from browse_together.contract.actions.base import Action
from browse_together.contract.calls import ClientRef, Guard, Outcome
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browser_service.security.auth import Identity
from browser_service.spine.addressing import Address
from browser_service.spine.register import Record, Reply

TakeStep = Callable[[Identity, Json, str, str], Awaitable[Reply]]
"""Runs an action that another one consists of. Takes the caller, the body, the callId, and the name of the step."""
Perform = Callable[[Identity, Json, str], Awaitable[Json]]
"""Runs an action that another one consists of, as its own call. Takes the caller, the body and the callId."""


@dataclass(eq=False)
class FrontCall:
    """A call, from its request to its outcome. It comes with what a door knows of it; the rest is added on the way."""

    caller: Identity
    body: Json
    path_page: str | None = None
    """The page that the path of the request names."""
    call_id: str = ""
    attempt: int = 1
    inline_text: int | None = None
    continues: bool = False
    """True for a step of a batch that is not its last."""
    request_id: str = ""
    parent_span: Mapping[str, str] = field(default_factory=dict)
    """The W3C trace context of the caller: `traceparent`, `tracestate`. Steps have none: they are below their call."""
    via: str = ""
    """The step of a flow that it is, in words."""
    let_through: bool = False
    """True for a part of a call that passed a person's halt already: what has begun must be able to end."""
    counted: bool = True
    """False for what was counted elsewhere: a step with its batch, a card on its own."""

    client_id: str = field(init=False)
    action: Action = field(init=False)
    record: Record = field(init=False)
    """Its entry in the register."""
    address: Address = field(init=False)
    recipient: ClientRef | None = None
    """The client to which it hands its page over."""
    confirmed: tuple[str, ...] = ()
    """Keys of the acts that a person has confirmed."""
    guard: Guard | None = None
    """The origins that its chat has read, if it uses a guarded session."""
    copied_sites: list[str] | None = None
    """The origins whose storage goes to a new session with the logins, if it copies logins."""

    def __post_init__(self) -> None:
        self.call_id, self.client_id = self.call_id or self.request_id, self.caller.client_id

    def with_action(self, action: Action) -> Self:
        """Return the same call with another form of its action."""
        other = copy.copy(self)
        other.action = action
        return other

    def full_body(self) -> Json:
        """Return the body with the pageId of its path. Raises ValidationFailed if the two disagree."""
        if self.path_page is None:
            return self.body
        page_id = argument_errors.check_page_id(self.path_page)
        in_body = self.body.get("pageId")
        if in_body is not None and in_body != page_id:
            raise ValidationFailed(
                f"pageId is {page_id!r} in the path and {in_body!r} in the body.",
                hint="Give it once.",
                details=field_details("pageId"),
            )
        return {**self.body, "pageId": page_id}


Go = Callable[[FrontCall], Awaitable[Outcome]]
"""Takes a call through all that follows."""


class Around(Protocol):
    """What surrounds the calls of some actions: what it does before the rest of the way, or with the outcome."""

    async def __call__(self, call: FrontCall, go: Go) -> Outcome: ...


def within(around: Iterable[Around], go: Go) -> Go:
    """Return a way with what surrounds it, the outermost first."""
    for each in reversed([*around]):
        go = partial(each, go=go)
    return go

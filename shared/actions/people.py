"""People: what an agent asks them to do."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from shared.actions.base import Effect, OwnershipAction
from shared.calls import RequestKind

_MESSAGE = 500

Choice = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class RequestHuman(OwnershipAction):
    """Ask a person for what you cannot or should not do: sign in, type a code, decide. The page is theirs until they
    have done it; you wait for that, or read on later with the requestId. Of several agents that meet the same login
    one asks, and the others join it by this same call."""

    effect = Effect.ACTS

    kind: RequestKind | None = Field(default=None, description="What for.")
    message: str | None = Field(
        default=None, min_length=1, max_length=_MESSAGE, description="What the person shall do, and why. No secrets."
    )
    origin: str | None = Field(
        default=None,
        pattern=r"^https?://[^/?#\s]+$",
        max_length=300,
        description="The site that it is about, such as https://example.com; leave out for the page's.",
    )
    choices: list[Choice] | None = Field(
        default=None, min_length=2, max_length=10, description="Of a decision: what there is to choose from."
    )
    request_id: str | None = Field(
        default=None, min_length=1, max_length=64, description="Read on in an earlier request, instead of a new one."
    )
    withdraw: bool = Field(default=False, description="With requestId: nobody is needed any more.")
    timeout: int = Field(default=45_000, ge=1, le=45_000, description="Milliseconds to wait for the person.")

    @model_validator(mode="after")
    def _asks_or_reads_on(self) -> Self:
        if self.request_id is None and (self.kind is None or self.message is None):
            raise ValueError('give "kind" and "message"; or "requestId", to read on in an earlier request')
        if self.request_id is None and self.withdraw:
            raise ValueError('"withdraw" needs the "requestId"')
        if self.choices and self.kind != "decision":
            raise ValueError('"choices" are for the kind "decision"')
        return self

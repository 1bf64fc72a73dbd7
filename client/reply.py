"""Reads the service's replies leniently, because a service that is newer than its client may say more."""

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel

from shared.errors import BrowseError
from shared.model import Json


class Lenient(BaseModel):
    """A model that keeps fields which it does not know."""

    model_config = ConfigDict(
        extra="allow",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,  # with the first reply, which comes long after a gateway has answered
    )


class Failure(Lenient):
    """What went wrong."""

    code: str
    message: str
    hint: str | None = None
    details: Json = {}
    request_id: str = ""

    @classmethod
    def from_error(cls, error: BrowseError, request_id: str = "") -> Self:
        """Make the failure of an error that was raised on this side."""
        return cls.model_validate(error.body(request_id).model_dump(by_alias=True))

    @property
    def context(self) -> Json:
        context = self.details.get("context")
        return context if isinstance(context, dict) else {}


class Reply(Lenient):
    """The envelope of every response, whatever its HTTP status."""

    success: bool
    result: Json = {}
    error: Failure | None = None
    rendered: Json | None = None
    """The result in the form that the request asked for."""

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> "Reply":
        if self.success is not (self.error is None):
            raise ValueError("a success has no error, and a failure has one")
        return self

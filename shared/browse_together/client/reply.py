"""Parses the service's replies leniently, because a service newer than its client may send more."""

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel

from browse_together.contract.errors import BrowseError, ErrorBody, Relayed
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import marked, sent


class Lenient(BaseModel):
    """A model that keeps unknown fields."""

    model_config = ConfigDict(
        extra="allow",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,  # built with the first reply, long after a gateway has answered its host
    )


class Failure(Lenient):
    """An error of the service or of this side."""

    code: str
    message: str
    hint: str | None = None
    details: Json = {}
    request_id: str = ""
    calls: list[Json] = []
    """The calls that the words name, which stand in them as JSON."""

    @classmethod
    def from_error(cls, error: BrowseError, request_id: str = "") -> Self:
        """Make the failure of an error raised on this side."""
        return cls.model_validate(sent(error.body(request_id).model_dump(by_alias=True)))

    @property
    def words(self) -> dict[str, str]:
        """Return message and hint with their calls marked, as on the side that raised the error."""
        calls = [str(each["text"]) for each in self.calls]
        hint = {"hint": marked(self.hint, calls)} if self.hint else {}
        return {"message": marked(self.message, calls), **hint}

    def relayed(self, status: int = BrowseError.status) -> Relayed:
        """Return the failure as an error to raise on this side."""
        told = self.model_dump(include={"code", "details", "request_id"})
        return Relayed(ErrorBody(status=status, **told, **self.words))

    @property
    def context(self) -> Json:
        return object_at(self.details, "context")


class Reply(Lenient):
    """The envelope of every response, whatever its HTTP status."""

    success: bool
    result: Json = {}
    error: Failure | None = None
    rendered: Json | None = None

    @property
    def notices(self) -> list[Json]:
        """Return what the service tells this client beside the result."""
        return list((self.model_extra or {}).get("notices", []))

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> "Reply":
        if self.success is not (self.error is None):
            raise ValueError("a success has no error, and a failure has one")
        return self

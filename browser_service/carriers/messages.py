"""What passes over a link: JSON in UTF-8.

A message is one line, its head, and below it for some a second line, the body, whose type is its method's. So a body is
read once, by the one who knows its type. First the host says hello and is welcomed or refused; from then on both sides
call and answer. What either may ask stands in two tables, which are made of Python's own declarations.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol, get_type_hints

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model

from browse_together.contract.calls import Artifact
from browse_together.contract.errors import ErrorBody, InvalidRequest
from browse_together.contract.events import EventBatch
from browse_together.contract.frames import ActPicture
from browse_together.contract.model import Json, Model, first_fault
from browse_together.contract.pages import Engine, Figures
from browse_together.contract.wire import ID_PATTERN
from browser_service.host.seam import SessionHost

MOST_BESIDE: Final = 256_000
"""The most bytes of a body that goes beside the calls. A larger one goes over the bulk link, in parts of this size."""
MOST_BULK: Final = 100_000_000
"""The most bytes of all large bodies that one side holds, waiting to be sent or incomplete."""
MOST_EVENTS: Final = 100
"""The most events that a host tells of at once: the front applies them in one go."""
MOST_MB: Final = 2**40
LINK: Final = "X-Browse-Link"
"""The header that says to which link a bulk link or a file belongs: a key that only the two ends know."""
FILE: Final = "X-Browse-File"
"""The header that says in JSON which file this is, with percent signs for what a header cannot carry."""

Extra = Literal["forbid", "ignore"]
"""What becomes of a field that is not known. A host ignores it, because the front may be newer: hosts are updated after
it, and have to be emptied first."""

_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class Lock(Model):
    """The identity of a data directory's lock, which one process holds. A copied directory has another."""

    boot_id: str = Field(max_length=64)
    device: int
    inode: int


class Hello(Model):
    """A host's first message."""

    kind: Literal["hello"] = "hello"
    host_id: str = Field(pattern=_NAME, description="Kept in its data directory.")
    lock: Lock
    incarnation: str = Field(pattern=_NAME, description="New with each start of the process.")
    name: str = Field(default="", pattern=rf"^$|{ID_PATTERN}", description="Made of pool and hostId without.")
    version: str = Field(max_length=40)
    catalogue: str = Field(max_length=80, description="The fingerprint of its actions.")
    engines: list[Engine]
    display: bool = False
    memory_mb: int | None = Field(default=None, le=MOST_MB, description="What its browsers may take; none is no limit.")
    unix_ms: int = 0
    now_ms: int = Field(default=0, description="By the clock that its lease goes by.")
    sessions: list[str] = Field(default=[], max_length=10_000, description="Those that it has.")


class Welcome(Model):
    """The front's answer to a hello."""

    kind: Literal["welcome"] = "welcome"
    name: str
    front_start: int
    link: str = Field(repr=False, description="The key of this link.")
    lease_ms: int
    settings: Json = Field(default={}, repr=False)
    own_places: list[str] = Field(default=[], description="Where no page may go, because the front is there.")
    adopt: list[str] = Field(default=[], description="Sessions that stay with the host.")
    drop: list[str] = Field(default=[], description="Sessions that it has and that are another's now.")


class Refused(Model):
    """The front's last message to a host that it does not take, or takes no longer."""

    kind: Literal["refused"] = "refused"
    error: ErrorBody


class CallHead(Model):
    kind: Literal["call"] = "call"
    id: int = Field(ge=1)
    method: str = Field(max_length=40)
    bulk: bool = Field(default=False, description="Its body comes over the bulk link.")


class AnswerHead(Model):
    kind: Literal["answer"] = "answer"
    id: int = Field(ge=1)
    state: Literal["ok", "error", "not_owner"] = Field(
        default="ok", description="not_owner: the host's lease has ended, and it did nothing."
    )
    bulk: bool = False


class PartHead(Model):
    """A part of a large body, on the bulk link."""

    kind: Literal["part"] = "part"
    of: Literal["call", "answer"]
    id: int = Field(ge=1)
    last: bool


Head = Annotated[Hello | Welcome | Refused | CallHead | AnswerHead | PartHead, Field(discriminator="kind")]
_HEADS: Final[TypeAdapter[Head]] = TypeAdapter(Head)


class Load(Model):
    """How much of a host is taken."""

    figures: Figures
    free_mb: int | None = Field(default=None, le=MOST_MB, description="None is no limit.")


class Kept(Model):
    """A host's answer to a grant."""

    now_ms: int = Field(description="By the clock that its lease goes by.")
    load: Load | None = Field(default=None, description="None if it is ending.")


class GivenFile(Model):
    """A file that a host hands over."""

    client_id: str = Field(max_length=200)
    mime_type: str = Field(max_length=200)
    name: str = Field(default="", max_length=1_000)
    inline: bool = Field(default=True, description="Whether the reply to it may have its data, or a preview.")
    moved: bool = Field(default=False, description="The browser wrote it.")
    searched: bool = Field(default=True, description="Whether secrets are hidden in it.")


class WantedFile(Model):
    """A file that a host needs: one that was kept, or one of the upload folders."""

    artifact_id: str = Field(default="", max_length=64)
    client_id: str | None = Field(default=None, max_length=200)
    as_text: bool = False
    upload: str = Field(default="", max_length=4_000)
    most: int = Field(default=0, ge=0, description="Bytes; of an upload.")


class LinkedHost(SessionHost, Protocol):
    """What the front asks of a host elsewhere."""

    async def grant(self, basis_ms: int | None, ttl_ms: int) -> Kept:
        """Lengthen the lease. Without a basis this only asks for the host's clock."""

    async def leave(self) -> None:
        """Let the host go: it has nothing left to do, or is not wanted."""


class LinkedFront(Protocol):
    """What a host asks of the front."""

    async def note(self, batch: EventBatch) -> None:
        """Take the next events. Returns when they have been applied."""

    async def drain(self) -> None:
        """Give the host no more sessions, and take away those that it has."""

    async def bye(self) -> None:
        """Say that the host has ended everything."""

    async def describe_file(self, artifact_id: str, client_id: str | None) -> Artifact: ...

    async def keep_picture(self, client_id: str, call_id: str, picture: ActPicture) -> None: ...


@dataclass(frozen=True)
class Method:
    """One thing that one side asks of the other."""

    arguments: type[Model]
    result: TypeAdapter[Any]  # Any: each method's own

    def dumped(self, **arguments: object) -> bytes:
        return self.arguments.model_construct(None, **arguments).model_dump_json().encode()


def _methods(protocol: type, but: Iterable[str] = ()) -> dict[str, Method]:
    names = {name for name, value in inspect.getmembers(protocol, inspect.isfunction) if not name.startswith("_")}
    return {name: _method(name, getattr(protocol, name)) for name in sorted(names - {*but})}


def _method(name: str, function: Any) -> Method:  # Any: of any signature
    hints = get_type_hints(function)
    result: TypeAdapter[Any] = TypeAdapter(hints.pop("return"))  # Any: each method's own
    given = inspect.signature(function).parameters
    fields: dict[str, Any] = {  # Any: as pydantic declares it
        each: (hint, ... if given[each].default is inspect.Parameter.empty else given[each].default)
        for each, hint in hints.items()
    }
    return Method(create_model(f"{name}_arguments", __base__=Model, **fields), result)


OF_HOST: Final = _methods(LinkedHost, but=("events_after", "figures", "start", "stop", "end_calls"))
"""What the front may call. Events and figures come by themselves, and a host starts and stops itself."""
OF_FRONT: Final = _methods(LinkedFront)


def packed(head: BaseModel, body: bytes = b"") -> bytes:
    first = head.model_dump_json().encode()
    return b"%b\n%b" % (first, body) if body else first


def unpacked(text: bytes, extra: Extra = "forbid") -> tuple[Head, bytes]:
    """Return the head and the body. Raises InvalidRequest, which names what is wrong."""
    first, _, body = text.partition(b"\n")
    try:
        return _HEADS.validate_json(first, extra=extra), body
    except ValidationError as error:
        raise misread("message", error) from None


def misread(what: str, error: ValidationError) -> InvalidRequest:
    """Return the error for a message that is not as it should be; the values in it stay out of the text."""
    place, why = first_fault(error)
    return InvalidRequest(
        f"The {what} cannot be read: {place[:100] + ': ' if place else ''}{why}"[:300],
        hint="Run the same version on both machines.",
    )

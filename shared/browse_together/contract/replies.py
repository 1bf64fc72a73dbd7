"""How a caller asks for a reply as text, and what it gets; also words errors.

Only the service makes a reply's text. The caller sends, in the header `X-Browse-Reply` as JSON, how it can show the
reply; without that header it gets the whole envelope, for programs.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from browse_together.contract.cuts import cut
from browse_together.contract.model import Json, object_at
from browse_together.contract.quoting import Foreign, flat, quoted

OTHER_VERSION: Final = "Gateway and service are of different versions: restart the older one."
_IS_LOGGED: Final = "INTERNAL_ERROR"
"""The error whose hint refers to the service's log, which contains the request's id."""
_HEADERS_CHARACTERS: Final = 1_500
_BODY_CHARACTERS: Final = 500


class _Lenient(BaseModel):
    """The base of messages that may have unknown fields, because one of the two programs may be newer."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
        defer_build=True,  # built at first use, like all messages
    )


class ForModel(_Lenient):
    """Content blocks of MCP, which the caller shows to a model."""

    kind: Literal["model"] = "model"
    links: bool = Field(default=True, description="Its revision of the protocol has links to resources.")
    local: bool = Field(default=False, description="It may see the service's files, and looks where it is told to.")
    structured: bool = Field(default=False, description="It wants the envelope too, as structured content.")
    session: str | None = Field(default=None, description="The session of its chat, if it has one.")
    toolsets: frozenset[str] | None = Field(default=None, description="Its list of tools; all of them, without.")
    read: frozenset[str] | None = Field(default=None, description="Its list as its host read it last.")


class ForTerminal(_Lenient):
    """Text that the caller prints for a person; the envelope comes too."""

    kind: Literal["terminal"] = "terminal"
    action: str = Field(default="", description="The tool whose reply it is, where get_call reads on in that.")


class ForReader(_Lenient):
    """The result as the contents of a resource of this MIME type."""

    kind: Literal["reader"] = "reader"
    mime_type: str = "text/plain"


class ForCompletion(_Lenient):
    """The ids in a list, which complete an argument. `key` names the ids."""

    kind: Literal["completion"] = "completion"
    key: str = "pageId"


ReplyForm = Annotated[ForModel | ForTerminal | ForReader | ForCompletion, Field(discriminator="kind")]
FORM: Final[TypeAdapter[ReplyForm]] = TypeAdapter(ReplyForm, config=ConfigDict(defer_build=True))


class FileMention(_Lenient):
    """Where a text names a file by its address, and how the caller itself finds the file."""

    at: int = Field(description="Characters before the address.")
    length: int = Field(description="Characters of the address.")
    instead: str
    path: str
    size: int = Field(description="Bytes of the file: another one may lie under that path elsewhere.")


class ModelReply(_Lenient):
    """A reply in content blocks of MCP; a text block may have `places`."""

    content: list[Json] = []
    structured_content: Json | None = None
    refusal: Json | None = Field(default=None, description="The error of the protocol that it is, in its stead.")
    toolsets: list[str] = Field(default=[], description="What the caller's list of tools is to have from now on.")
    page_id: str = Field(default="", description="The page that it is about.")
    answered: str = Field(default="", description="The request to a person which needs nobody any more.")


class TerminalReply(_Lenient):
    """A reply as a terminal prints it."""

    text: str = ""
    around: list[str] = Field(default=[], description="The page as it is now, and what happened meanwhile.")
    artifact_id: str | None = Field(default=None, description="The file that it is about.")


class Contents(_Lenient):
    """The contents of a resource: a text, or base64, or the id of a file with the bytes."""

    mime_type: str
    text: str | None = None
    blob: str | None = None
    artifact_id: str | None = None


class Completions(_Lenient):
    """The values that an argument can have."""

    values: list[str] = []


def error_lines(error: Json, doing: str = "") -> list[str | Foreign]:
    """Write an error: what went wrong, what to do, and a site's answer if that is the cause. `error` is the error of an
    envelope. `doing` is the tool's `activity_phrase`, with which its errors begin, or empty."""
    details = object_at(error, "details")
    message, hint = flat(str(error["message"])), flat(str(error.get("hint") or ""))
    if doing:
        selector = flat(str(details.get("selector") or ""))
        lines = [f"Error {doing}: {message}", f"Selector: {selector}" if selector else ""]
        return [*lines, f"Hint: {hint}" if hint else ""]
    lines = [f"{error['code']}: {message}", hint]
    if error["code"] == _IS_LOGGED and error.get("requestId"):
        lines.append(f"requestId: {error['requestId']}")
    context = object_at(details, "context")
    if headers := object_at(context, "headers"):
        lines.append(headers_line(headers))
    body = cut(str(context.get("bodyStart") or ""), _BODY_CHARACTERS)
    return [*lines, *([Foreign("Its body begins", body)] if body else [])]


def headers_line(headers: Json) -> str:
    """Return an answer's headers in one line."""
    return f"headers: {quoted('; '.join(f'{name}: {value}' for name, value in headers.items()), _HEADERS_CHARACTERS)}"

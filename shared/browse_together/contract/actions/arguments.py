"""The types of arguments that actions of several categories share."""

import re
from enum import Enum, auto
from typing import Annotated, Final, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SkipValidation,
    StringConstraints,
)
from pydantic.alias_generators import to_camel

from browse_together.contract.actions.selectors import check_selector
from browse_together.contract.named_secrets import MOST_CHARACTERS, SecretName
from browse_together.contract.wire import (
    ANY_PAGE_ID_PATTERN,
    CALL_ID_PATTERN,
    ID_PATTERN,
    REF_PATTERN,
    RESERVED_IDS,
    nearest_valid_id,
)
from browse_together.contract.words import one_line, quotable

MOST_TEXT: Final = 100_000
"""The most characters of a text without a limit of its own. `shared.schema` writes this into the schemas."""
MOST_SELECTOR: Final = 10_000
LONG_TEXT: Final = 1_000_000
"""The most characters of a document or a script."""


def _not_reserved(text: str) -> str:
    if text in RESERVED_IDS:
        raise ValueError(f"{text!r} is a path of the service; {nearest_valid_id(text)!r} is free to use")
    return text


PageId = Annotated[
    str,
    Field(description="Page; your only one without.", pattern=ANY_PAGE_ID_PATTERN),
    AfterValidator(_not_reserved),
]
SessionId = Annotated[
    str,
    Field(description="The session (cookies and logins) that the page belongs to.", pattern=ID_PATTERN),
]
CallId = Annotated[str, StringConstraints(pattern=CALL_ID_PATTERN)]
_SPELLED_REF: Final = re.compile(rf"(?:.*\[ref=|(?:aria-)?ref=|@)({REF_PATTERN[1:-1]})\]?", re.DOTALL)
"""A ref as a snapshot shows it, including text before it, or in other tools' spelling."""


def _bare_ref(selector: str) -> str:
    spelled = _SPELLED_REF.fullmatch(selector)
    return spelled[1] if spelled else selector


Selector = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_SELECTOR, strip_whitespace=True),
    AfterValidator(_bare_ref),
    AfterValidator(check_selector),
]


class Means(Enum):
    """What a text is besides a text, which limits of tokens and owners of pages ask."""

    ADDRESS = auto()
    PROGRAM = auto()
    """CSS or HTML: it loads what it names, and may choose that by what the page has."""


Address = Annotated[str, Means.ADDRESS]
Style = Annotated[str, Means.PROGRAM]
AnyJson = SkipValidation[JsonValue]
"""A value parsed from JSON. The parser has limited its size."""
T = TypeVar("T")
Several = Annotated[list[T], Field(max_length=1_000)]
WaitUntil = Annotated[
    Literal["load", "domcontentloaded", "networkidle", "commit"],
    Field(description="The event that counts as loaded."),
]


def _on_one_line(value: object) -> object:
    return one_line(value) if isinstance(value, str) else value


def _quotable(value: object) -> object:
    return quotable(value) if isinstance(value, str) else value


OneLine = BeforeValidator(_on_one_line)
"""Text from an agent to a person: one line, without invisible characters."""
Quotable = BeforeValidator(_quotable)
"""Text that other agents read: also without characters that could end the quotes around it."""
AgentName = Annotated[str, StringConstraints(min_length=1, max_length=40), Quotable]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=200), Quotable]
"""What an agent tells others about its reasons."""
AS: Final = "Which of several agents behind one client this is: a label for siblings and people, no authority."


class Part(BaseModel):
    """The base of nested arguments: camelCase on the wire, and no unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
        allow_inf_nan=False,
        str_max_length=MOST_TEXT,
        defer_build=True,  # built when first needed: most processes need few of the hundred
    )


class SecretRef(Part):
    """A reference to a secret of the account's owner, whose value only goes to pages of its own origins."""

    secret: SecretName = Field(description="Its name.")


class HttpAuth(Part):
    """A name and a password for a site with HTTP authentication."""

    username: str = Field(default="", max_length=MOST_CHARACTERS, description="As the site knows it.")
    password: str | SecretRef = Field(default="", description='Text, or {"secret": NAME}.', repr=False)


class SecretHeader(SecretRef):
    prefix: str = Field(default="", max_length=100, description='What stands before it, such as "Bearer ".')


class Position(Part):
    x: float = Field(description="Pixels from the element's left edge.")
    y: float = Field(description="Pixels from the element's top edge.")


class Clip(Part):
    x: float = Field(description="Left edge, px.")
    y: float = Field(description="Top edge, px.")
    width: float = Field(gt=0, description="Width, px.")
    height: float = Field(gt=0, description="Height, px.")

"""A flow: steps that were done once, and that a program does again. Its file is this model as TOML."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self, cast
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, model_validator

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json, first_fault
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import quoted

VERSION: Final = 1
MOST_STEPS: Final = 200
MOST_PARAMETERS: Final = 100
MOST_SELECTORS: Final = 20
BEGUN: Final = "its effects begin"
"""What the record says when a run comes to the first step that sends something to the site."""
ENDED: Final = "its effects have ended"
"""What the record says once a run's last step that sends something has done what it was to do."""
MAIN: Final = "main"
"""The page on which a flow begins."""
NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9_-]{0,47}$"
_PARAMETER: Final = "[a-z][a-z0-9_]{0,47}"
_PLACEHOLDER: Final = re.compile(rf"\{{\{{ ?({_PARAMETER}) ?\}}\}}")
_MOST_BYTES: Final = 1_000_000
_MOST_VALUE: Final = 100_000

ParameterName = Annotated[str, StringConstraints(pattern=f"^{_PARAMETER}$")]
FlowName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Given = str | bool | int | float | dict[str, str] | list[str]
"""The value of a parameter; an object names a secret."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Parameter(_Part):
    """A value that each run gives."""

    description: str = Field(default="", max_length=500)
    secret: bool = Field(default=False, description="It is for a password, of which no flow has the text.")
    default: Given | None = Field(default=None, description="What a run without it takes. None: a run must give it.")

    @model_validator(mode="after")
    def _names_secrets(self) -> Self:
        if self.secret and not isinstance(self.default, dict | None):
            raise ValueError(
                'it is for a password, which no flow keeps: give {"secret": NAME}, which `browse-together secret set` '
                "makes, or no default, so that each run gives it"
            )
        return self


class Request(_Part):
    """A request that a step must cause, and its answer."""

    method: str = Field(max_length=20)
    path: str = Field(max_length=2_000, description="`*` is any text.")
    status: int

    def matches(self, method: object, path: str, status: object) -> bool:
        """Return whether a request is this one. Answers count as equal if they begin with the same digit."""
        answered = isinstance(status, int) and status // 100 == self.status // 100
        return self.matches_call(method, path) and answered

    def matches_call(self, method: object, path: str) -> bool:
        """Return whether a request is this one, whatever its answer."""
        return method == self.method and fits(self.path, path)


class Expected(_Part):
    """What a step must cause."""

    url: str | None = Field(default=None, max_length=2_000, description="Where the page is then; `*` is any text.")
    requests: list[Request] = Field(default=[], max_length=20)
    files: list[str] = Field(default=[], max_length=20, description="Names of the files that it downloads, one each.")
    shows: list[str] = Field(
        default=[], max_length=10, description="What the page says then; `*` is any text, of 200 characters at most."
    )


class Step(_Part):
    """A call of the catalogue. Its arguments stand beside these fields; an element is a list of selectors, of which the
    first that finds it counts. `{{name}}` stands for a parameter."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    action: str = Field(max_length=60)
    page: str = Field(default=MAIN, max_length=60, description="Which of the flow's pages, if it has several.")
    output: str | None = Field(default=None, max_length=60, description="The name of what it reads, in the result.")
    opens: list[str] = Field(default=[], max_length=20, description="What the flow calls the windows that it opens.")
    repeatable: bool = Field(
        default=False,
        description="Whether it does no harm to do it twice, as to sign in. A table's row may begin anew.",
    )
    expect: Expected | None = None

    @property
    def arguments(self) -> Json:
        return self.__pydantic_extra__

    @model_validator(mode="after")
    def _has_few_selectors(self) -> Self:
        for place, each in selectors_of(self.arguments).items():
            if len(each) > MOST_SELECTORS:
                raise ValueError(f"{place} has {len(each)} selectors, and an element at most {MOST_SELECTORS}")
        return self


class Flow(_Part):
    """A flow, as its file has it."""

    version: Literal[1]
    name: FlowName
    description: str = Field(default="", max_length=2_000)
    owner: str = Field(default="", max_length=200, description="The client that saved it, and may change it.")
    saved_by: str = Field(default="", max_length=200, description="That client's label.")
    parameters: dict[ParameterName, Parameter] = Field(default={}, max_length=MOST_PARAMETERS)
    steps: list[Step] = Field(min_length=1, max_length=MOST_STEPS)

    @model_validator(mode="after")
    def _names_its_parameters(self) -> Self:
        unknown = {name for step in self.steps for name in placeholders(step.arguments)} - self.parameters.keys()
        if unknown:
            raise ValueError(f"steps name {', '.join(sorted(unknown))}, which parameters do not have")
        return self

    def values_for(self, given: Mapping[str, JsonValue]) -> Json:
        """Return the value of each parameter. Raises ValidationFailed for one that is missing, unknown, or too long."""
        if unknown := given.keys() - self.parameters.keys():
            has = ", ".join(self.parameters) or "none"
            raise ValidationFailed(
                f"values.{min(unknown)}: flow {self.name} has no such parameter.",
                hint=f"It has: {has}.",
                details=field_details(f"values.{min(unknown)}"),
            )
        values: Json = {
            name: given.get(name, cast("JsonValue", parameter.default)) for name, parameter in self.parameters.items()
        }
        if missing := [name for name, value in values.items() if value is None]:
            needed = "; ".join(
                f"values.{name} is missing: {_about(self.parameters[name]) or f'flow {self.name} needs it'}"
                for name in missing
            )
            call = next_call("run_flow", name=self.name, values=dict.fromkeys(missing, "..."))
            raise ValidationFailed(
                f"{needed}.",
                hint=f"Give {'it' if len(missing) == 1 else 'them'} as well: {call}.",
                details=field_details(f"values.{missing[0]}"),
            )
        for name, value in values.items():
            if isinstance(value, str) and len(value) > _MOST_VALUE:
                raise ValidationFailed(
                    f"values.{name} has more than {_MOST_VALUE:,} characters.", details=field_details(f"values.{name}")
                )
        return values


def _about(parameter: Parameter) -> str:
    """Return what a flow says of a parameter, which are another client's words."""
    return quoted(parameter.description) if parameter.description else ""


def unquoted(text: str) -> str:
    """Return what a quoted name in a selector says. A selector's escapes need not be JSON's."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return re.sub(r"\\(.)", r"\1", text)


def placeholders(value: JsonValue) -> Iterator[str]:
    """Yield the parameters that arguments name."""
    if isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from placeholders(each)


def selectors_of(value: JsonValue, key: str = "", path: str = "") -> dict[str, list[str]]:
    """Return the selectors of each element that arguments name, by its place in them, such as `fields.0.selector`."""
    if isinstance(value, list) and key in SELECTORS:
        return {path: [str(each) for each in value]}
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: dict[str, list[str]] = {}
    for name, each in inner:
        if name == _OF_TOOLS:
            continue
        found |= selectors_of(each, str(name), f"{path}.{name}" if path else str(name))
    return found


def filled(value: JsonValue, values: Json, key: str = "") -> JsonValue:
    """Return arguments with the values in place of their placeholders. A value is data: in an address it is encoded,
    and in a selector it has no quotes, so that its placeholder may stand between some. Raises ValidationFailed for one
    that cannot be."""
    if isinstance(value, dict):
        return {name: filled(each, values, key if key == _OF_TOOLS else name) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, values, key) for each in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole:
        return values[whole[1]]
    encode = _in_address if key == "url" else _in_selector if key in SELECTORS else str
    if key in _SCRIPTS:
        raise ValidationFailed(
            f"{key}: a value within a script would become a part of it.",
            hint='Give it as its argument: expression = "name => ...", arg = "{{name}}".',
            details=field_details(key),
        )
    names = _PLACEHOLDER.findall(value)
    parts = {name: encode(values[name]) for name in names}
    if sum(len(parts[name]) for name in names) > _MOST_VALUE:
        raise ValidationFailed(f"With its values, a text of the flow has more than {_MOST_VALUE:,} characters.")
    return _PLACEHOLDER.sub(lambda found: parts[found[1]], value)


SELECTORS: Final = frozenset({"selector", "source", "target", "submit", "onto", "frame"})
"""The arguments that name elements."""
_OF_TOOLS: Final = "arguments"
"""What a page's own tool is given names no elements."""
_SCRIPTS: Final = frozenset({"expression", "script"})


def _in_address(value: JsonValue) -> str:
    text = str(value)
    if text in {".", ".."}:
        raise ValidationFailed(f"The value {text!r} stands in an address, and would lead elsewhere in it.")
    return quote(text, safe="")


def _in_selector(value: JsonValue) -> str:
    text = str(value)
    if not text.isprintable() or set(text) & set("\"'\\"):
        raise ValidationFailed(f"The value {text[:80]!r} stands in a selector, and cannot have quotes or backslashes.")
    return text


def fits(pattern: str, text: str) -> bool:
    """Return whether a text is like a pattern, in which `*` is any text."""
    at, parts = 0, pattern.split("*")
    if not text.startswith(parts[0]) or not text.endswith(parts[-1]) or len(text) < len(pattern.replace("*", "")):
        return False
    end = len(text) - len(parts[-1]) if len(parts) > 1 else len(text)
    for part in parts[:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return len(parts) > 1 or text == pattern


def says(text: str, words: str) -> bool:
    """Return whether one line of a text has some words, whatever their case. A page writes both, so this is no regular
    expression, whose time may grow without a bound."""
    return any(fits(f"*{words.lower()}*", line) for line in text.lower().splitlines())


def message(words: str) -> str:
    """Return the selector of what says some words: one element has all that stands between `*`. They are quoted, as
    data: a page says what it likes."""
    parts = [json.dumps(part.strip(), ensure_ascii=False) for part in words.split("*") if part.strip()]
    if len(parts) == 1:
        return f"internal:text={parts[0]}i"
    return f"*{''.join(f':has-text({part})' for part in parts)}:not(:has(nav, main, form))"


def parse(raw: Mapping[str, Any], where: str) -> Flow:  # Any: TOML
    """Return the flow in a file's data. Raises ValidationFailed, which names the field and the file."""
    version = raw.get("version")
    if version != VERSION:
        raise ValidationFailed(
            f"{where}: version is {version!r}; this program reads version {VERSION}.",
            hint="Save the flow anew, or change it to this version: docs/flows.md describes it.",
            details=field_details("version"),
        )
    try:
        return Flow.model_validate(raw)
    except ValidationError as error:
        field, why = first_fault(error)
        told = ": ".join(filter(None, (where, field, why)))
        raise ValidationFailed(f"{told}.", details=field_details(field)) from None


def check_size(size: int, where: str) -> None:
    """Raise ValidationFailed for a file that is too large to be read."""
    if size > _MOST_BYTES:
        raise ValidationFailed(f"{where} has {size:,} bytes, and a flow has at most {_MOST_BYTES:,}.")

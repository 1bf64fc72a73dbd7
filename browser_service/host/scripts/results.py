"""Reads what scripts give that run in a page: JSON text, which is bounded there, before anything of it is sent.

Everybody in the service waits while a result is received and parsed, and a page decides how large one is."""

import json
import re
from collections.abc import Awaitable, Callable, Hashable
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue, TypeAdapter, ValidationError

from browse_together.contract.cuts import cut, without_ends
from browser_service.host.scripts import call_of, script

_PACKED: Final = script("packed")
_EVALUATED: Final = script("evaluated")
_FUNCTION: Final = re.compile(r"(async)?\s*function[\s(]")
_HEAD: Final = re.compile(r"([vmcx])(\d{1,15}) ")
T = TypeVar("T")
_MOST_PARSED: Final = 200_000
_MOST_WHOLE: Final = 3_000_000
"""How much of a longer text comes, in characters. `BEYOND` more show whether a secret goes on there."""
_PIECE: Final = 1_200_000
"""A multiple of 4, so that each piece of base64 stands for itself."""


class Evaluates(Protocol):
    """A value in a page, of which functions are evaluated."""

    def evaluate(self, source: str, argument: object = None, /) -> Awaitable[object]: ...


class BadResult(PlaywrightError):
    """Raised for a result that is too large, or that no script of ours gives. It is the page's failure, like the others
    that Playwright tells of, and so is handled as they are."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Result(NamedTuple):
    """What a script gave."""

    text: str
    """It is JSON."""
    values: int = 0
    is_long: bool = False
    """True for so many values that a reply has them as text."""
    characters: int | None = None
    """Of a text of which only the beginning came: how many characters it has."""

    def value(self) -> JsonValue:
        """Parse it. Raises BadResult for more than can be parsed while others wait."""
        if self.values > _MOST_PARSED:
            raise _too_large(f"{self.values:,} values, and {_MOST_PARSED:,} are allowed")
        try:
            value: JsonValue = json.loads(self.text)
        except (ValueError, RecursionError):  # a page that replaced what writes it
            raise _unreadable() from None
        return without_ends(value) if self.characters is None else cut(str(value), _MOST_WHOLE)

    @property
    def cut(self) -> str:
        """Say how much of a text came, if not all of it."""
        return "" if self.characters is None else f"the beginning of {self.characters:,} characters"


@cache
def bounded(source: str) -> str:
    """Return the source of a function that does what another does, and gives its result as `received` reads it."""
    return call_of(_PACKED, source)


def evaluation(expression: str, argument: JsonValue) -> tuple[str, str]:
    """Return the script that runs a caller's one, and what it is given: `received` reads what that gives."""
    expression = expression.strip()
    given = f"({expression})" if _FUNCTION.match(expression) else expression
    return _EVALUATED, given if argument is None else " " + json.dumps({"expression": given, "argument": argument})


def received(answer: object) -> Result:
    """Return what a script gave. Raises BadResult for what was too much to be sent."""
    head = _HEAD.match(answer) if isinstance(answer, str) else None
    if head is None or not isinstance(answer, str):
        raise _unreadable()
    kind, number, text = head[1], int(head[2]), answer[head.end() :]
    if kind == "x":
        raise _too_large(text)
    return Result(text, characters=number) if kind == "c" else Result(text, number, is_long=kind == "m")


def value_of(answer: object) -> JsonValue:
    """Return the value that a script gave. Raises BadResult for one that is too large."""
    return received(answer).value()


def read(kind: type[T], answer: object) -> T:
    """Return the value that a script of ours gave, if it is of the kind that it gives. Raises BadResult."""
    return of_kind(kind, value_of(answer))


def of_kind(kind: type[T], value: object) -> T:
    """Return a page's value as one of a kind. Raises BadResult for another: a page can replace what our scripts are
    made of."""
    try:
        return cast("T", _adapter(cast("Hashable", kind)).validate_python(value))  # pydantic gives what was asked for
    except ValidationError:
        raise _unreadable() from None


def several(kind: type[T], answer: object, count: int) -> list[T]:
    """Return so many values of a kind that a script of ours gave. Raises BadResult for more or fewer, likewise."""
    found = [of_kind(kind, each) for each in read(list[object], answer)]
    if len(found) != count:
        raise _unreadable()
    return found


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # Any: each kind that the scripts give
    return TypeAdapter(kind)


def made(make: Callable[[Any], T], answer: object) -> T:  # Any: JSON, of a page
    """Return what is made of the value that a script gave. Raises BadResult if it cannot be made of that."""
    return made_of(make, value_of(answer))


def made_of(make: Callable[[Any], T], value: object) -> T:  # Any: JSON, of a page
    """Return what is made of a page's value, likewise."""
    try:
        return make(value)
    except (TypeError, ValueError, LookupError):
        raise _unreadable() from None


async def pieces(holder: Evaluates, source: str, size: object, most: int) -> list[str]:
    """Receive a long text that a script holds, in pieces: nobody waits for more than one. `source` gives the part
    between two places. Raises BadResult for one that is too long."""
    if not isinstance(size, int):
        raise _unreadable()
    if size > most:
        raise _too_large(f"{size:,} characters, and {most:,} are allowed")
    places = range(0, size, _PIECE)
    return [str(value_of(await holder.evaluate(source, [place, place + _PIECE]))) for place in places]


def _too_large(excess: str) -> BadResult:
    return BadResult(
        f"It was done, and the result is too large for a reply: {excess[:100]}.",
        "Ask for less: a part of the page, a slice of a list, a count, or only the fields that you need.",
    )


def _unreadable() -> BadResult:
    return BadResult(
        "The page replaced what scripts need to give their results.",
        "Load it anew, or look at it: a screenshot needs none of its scripts.",
    )

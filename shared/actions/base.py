"""Declares the classes that actions are made from: their common arguments, and how one carries another.

They stand in one file of over 300 lines, because an action's own arguments are told from these by this module's name.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    JsonValue,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from shared.actions.traits import Effect, Lane, Scope, Touches, Traits, Unaddressed
from shared.next_calls import next_call
from shared.wire import (
    ANY_PAGE_ID_PATTERN,
    CALL_ID_PATTERN,
    DEFAULT_SESSION,
    ID_PATTERN,
    RESERVED_IDS,
    spelled_validly,
)


def _not_reserved(text: str) -> str:
    if text in RESERVED_IDS:
        raise ValueError(f"{text!r} is a path of the service; {spelled_validly(text)!r} is free to use")
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
Selector = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
WaitUntil = Annotated[
    Literal["load", "domcontentloaded", "networkidle", "commit"],
    Field(description="The event that counts as loaded."),
]


AgentName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]
AS: Final = "Which of several agents behind one client this is: a label for siblings and people, no authority."


class Part(BaseModel):
    """A nested argument: camelCase on the wire, nothing unknown accepted."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,  # when first needed: most processes need few of the hundred
    )


class Action(Part, Traits):
    """Root of all actions."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    @cache
    def name(cls) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def title(cls) -> str:
        return cls.name().replace("_", " ").capitalize()

    @classmethod
    def description(cls) -> str:
        return " ".join((cls.__doc__ or "").split())

    def own(self) -> dict[str, Any]:  # Any: whatever Playwright's call of that name takes
        """The arguments that only this action has, by their Python names: what Playwright's call of that name takes."""
        common = type(self).common_fields()
        return {
            name: value.model_dump() if isinstance(value, BaseModel) else value
            for name, value in ((n, getattr(self, n)) for n in type(self).model_fields if n not in common)
            if value is not None
        }

    @classmethod
    @cache
    def common_fields(cls) -> frozenset[str]:
        """Names of the fields that come from a class of this module and not from an action."""
        bases = [base for base in cls.__mro__[1:] if issubclass(base, BaseModel) and base.__module__ == __name__]
        return frozenset(name for base in bases for name in base.model_fields)

    def meant(self) -> "Action":
        """The action that this one is another form of, or itself."""
        return self

    def for_session(self) -> "SessionAct | None":
        """Return the form of the action for the whole session that it names, if it has one; else None."""
        return None

    def allowed_ms(self) -> int:
        """Milliseconds that its handler may take, once it is this call's turn."""
        return 30_000

    def parts(self) -> tuple["Action", ...]:
        """The actions that it carries. What is checked of a call is checked of each of them."""
        held = [getattr(self, name) for name in self.carries]
        return tuple(part for one in held if one is not None for part in (one if isinstance(one, list) else [one]))

    def touches(self) -> "Touches":
        """The pages and sessions that its arguments name. Computed here and checked in the spine alone."""
        whole = (self, *self.parts())
        pages = (getattr(each, name) for each in whole for name in each.page_fields)
        sessions = (getattr(each, name) for each in whole for name in each.session_fields)
        return Touches(frozenset(filter(None, pages)), frozenset(filter(None, sessions)))

    def wire_body(self) -> dict[str, JsonValue]:
        """The action as JSON, as it was asked for, under its canonical name."""
        return {"action": self.name(), **self.model_dump(mode="json", exclude_unset=True)}


AN_ACTION: Final = "An action with its arguments."
Carried = Annotated[
    InstanceOf[Action],
    PlainSerializer(lambda part: part.wire_body()),
    WithJsonSchema({"type": "object", "description": AN_ACTION}),
]
"""An action as another's argument: `catalogue.parse` makes it, and a list shows no more than that it is an object."""

MOST_PARTS: Final = 50
T = TypeVar("T")


class _ByParts(Generic[T]):
    """Gives a class the most that it may be, and a call what its parts make it."""

    def __init__(self, of_class: T, of_parts: Callable[[tuple[Action, ...]], T]) -> None:
        self._of_class, self._of_parts = of_class, of_parts

    def __get__(self, action: Action | None, _: type[Action]) -> T:
        return self._of_class if action is None else self._of_parts(action.parts())


def by_parts(of_class: T, of_parts: Callable[[tuple[Action, ...]], T]) -> T:
    """A class attribute that differs from call to call, so that whoever asks an action for it is told right."""
    return cast("T", _ByParts(of_class, of_parts))  # it gives a T, as a property would


def strongest(parts: tuple[Action, ...]) -> Effect:
    """The effect of a call that does no more than its parts do."""
    return max((part.effect for part in parts), key=[*Effect].index, default=Effect.READS)


class PageAction(Action):
    """An action on one page."""

    scope = Scope.PAGE
    bags: ClassVar[tuple[str, ...]] = ("params",)
    page_fields: ClassVar[tuple[str, ...]] = ("page_id",)
    session_fields: ClassVar[tuple[str, ...]] = ("session_id",)

    page_id: PageId | None = None
    session_id: SessionId | None = None
    timeout: int = Field(default=5_000, ge=1, le=120_000, description="Milliseconds the action may take on the page.")
    if_revision: int | None = Field(
        default=None, ge=0, description="Refuse (STALE_REVISION) unless the page is still at this revision."
    )
    expect_url: str | None = Field(
        default=None, description="Refuse (STALE_REVISION) unless the page's URL matches this glob (`*` is any text)."
    )
    reply: Literal["none", "delta", "full"] = Field(
        default="delta", description="What an act answers: nothing, what was observed and changed, or a snapshot too."
    )
    as_: AgentName | None = Field(default=None, alias="as", description=AS)

    def allowed_ms(self) -> int:
        return self.timeout


class OwnPageAction(PageAction):
    """An action on the page that browser_launch opened, in the words of the seven browser tools."""

    unaddressed = Unaddressed.OWN_PAGE
    alone = True
    shown = "text"


class OwnershipAction(PageAction):
    """What concerns a page's owner and not the page: it needs no turn, and no browser."""

    lane = Lane.BESIDE
    shown = "observed"
    ownership = True
    opens = False
    idempotent = True
    alone = True


class SessionAction(Action):
    """An action on a session: on the cookies and settings of all of its pages."""

    scope = Scope.SESSION
    session_fields = ("session_id",)
    within_ms: ClassVar[int] = 5_000

    session_id: SessionId = Field(default=DEFAULT_SESSION, description="The session; leave out for the shared login.")

    def allowed_ms(self) -> int:
        return self.within_ms


class FeltAct(Action):
    """An act that is felt on pages besides the caller's."""

    effect = Effect.ACTS
    shown = "observed"
    felt = True

    affect_others: bool = Field(default=False, description="Do it although others hold pages that it concerns.")

    @property
    def others_accepted(self) -> bool:
        return self.affect_others


class SessionAct(FeltAct, SessionAction):
    """An act on a session, which others may be working in."""


StorageKind = Annotated[
    Literal["local", "session"],
    Field(description="local: of all pages of the origin. session: of this page alone, until it closes."),
]


class StorageAct(FeltAct, PageAction):
    """A write to what a page's origin keeps. Local storage is one for all of its pages in the session."""

    kind: StorageKind = "local"

    @property
    def by_origin(self) -> bool:
        return self.kind == "local"

    def narrower(self) -> str:
        return '"kind": "session" is of your page alone; ' + super().narrower()


class NavigationAction(PageAction):
    """An action that loads a document."""

    effect = Effect.ACTS
    navigates = True
    undone_by = next_call("go_back")
    visits = True

    timeout: int = Field(default=30_000, ge=1_000, le=120_000, description="Milliseconds the navigation may take.")


class WaitingAction(PageAction):
    """An action that waits for something to come true, beside the turns of the page."""

    lane = Lane.BESIDE

    timeout: int = Field(default=30_000, ge=1_000, le=120_000, description="Milliseconds to wait at most.")

    @property
    def asks_page(self) -> bool:
        return True


class ExtractingAction(PageAction):
    """Reads data out of a page."""

    untrusted = True
    beside: ClassVar[tuple[str, ...]] = ("inFrames",)


class ElementAction(PageAction):
    """An act on one element."""

    effect = Effect.ACTS
    acts_on_element = True
    shown = "observed"

    selector: Selector = Field(description='Ref (e12), CSS, text=..., role=button[name="..."] or //xpath.')
    frame: Selector | None = Field(default=None, description="Selector of its iframe; refs need none.")
    strict: bool = Field(default=True, description="false takes the first of several.")


class Position(Part):
    x: float = Field(description="Pixels from the element's left edge.")
    y: float = Field(description="Pixels from the element's top edge.")


class Clip(Part):
    x: float = Field(description="Left edge, px.")
    y: float = Field(description="Top edge, px.")
    width: float = Field(gt=0, description="Width, px.")
    height: float = Field(gt=0, description="Height, px.")

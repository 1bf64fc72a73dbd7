"""The base classes of actions: their common arguments, and how one carries another.

`Action.own_arguments` leaves out every argument that a class of this module declares.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    JsonValue,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from browse_together.contract.actions.arguments import (
    AS,
    AgentName,
    HttpAuth,
    PageId,
    Part,
    SecretRef,
    Selector,
    SessionId,
)
from browse_together.contract.actions.traits import (
    Claim,
    Effect,
    Input,
    Lane,
    Navigation,
    Reports,
    Scope,
    Touches,
    Traits,
    Unaddressed,
    computed,
)
from browse_together.contract.next_calls import next_call
from browse_together.contract.userinfo import split_userinfo
from browse_together.contract.wire import DEFAULT_SESSION


class Action(Part, Traits):
    """The root of all actions."""

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
        """Return what tool lists say of the action: the first paragraph of its docstring."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())

    @classmethod
    def whole_description(cls) -> str:
        """Return all that its docstring says, for `help` and the reference."""
        return " ".join((cls.__doc__ or "").split())

    def own_arguments(self) -> dict[str, Any]:  # Any: whatever Playwright's call of that name accepts
        """Return the arguments that no base class declares, by their Python names, as Playwright's call takes them."""
        common = type(self).common_fields()
        return {
            name: value.model_dump() if isinstance(value, BaseModel) else value
            for name, value in ((n, getattr(self, n)) for n in type(self).model_fields if n not in common)
            if value is not None
        }

    @classmethod
    @cache
    def common_fields(cls) -> frozenset[str]:
        """Return the names of the fields declared by the classes of this module."""
        bases = [base for base in cls.__mro__[1:] if issubclass(base, BaseModel) and base.__module__ == __name__]
        return frozenset(name for base in bases for name in base.model_fields)

    def canonical(self) -> "Action":
        """Return the action that this one is another form of, or the action itself."""
        return self

    def about_caller(self) -> Self:
        """Return the form of the action that reports to the caller only its own effects."""
        return self

    def as_wide_act(self) -> "WideAct | None":
        """Return the action if it affects pages besides the caller's."""
        return None

    def for_session(self) -> "SessionAct | None":
        """Return the form of the action for the whole named session, if it has one; else None."""
        return None

    def allowed_ms(self) -> int:
        """Return how many milliseconds the handler may take once the call has its turn."""
        return 30_000

    def parts(self) -> tuple["Action", ...]:
        """Return the actions that this one carries. Every check of a call also applies to each of them."""
        if not self.part_fields:
            return ()
        values = [getattr(self, name) for name in self.part_fields]
        lists = [value if isinstance(value, list) else [value] for value in values if value is not None]
        return tuple(part for parts in lists for part in parts)

    def every_part(self) -> tuple["Action", ...]:
        """Return the action itself and everything that it carries, at any depth."""
        if not self.part_fields:
            return (self,)
        return (self, *(each for part in self.parts() for each in part.every_part()))

    def touches(self) -> Touches:
        """Return the pages and sessions that the arguments name. Only the spine checks whether the caller may use
        them."""
        named = _ids(self, self.id_fields)
        for part in self.parts():
            pages, sessions = _ids(part, part.id_fields)
            named = Touches(named.pages | pages, named.sessions | sessions)
        return named

    def given_names(self) -> Touches:
        """Return the pages and sessions that the caller named in this action itself, without defaults and parts."""
        return _ids(self, [name for name in self.id_fields if name in self.model_fields_set])

    def secret_names(self) -> frozenset[str]:
        """Return the names of the secrets that the call, or a call inside it, uses."""
        actions = [action for action in (self, *self.parts()) if action.secret_fields()]
        given = [getattr(action, name) for action in actions for name in action.secret_fields()]
        return frozenset(ref.secret for value in given for ref in _secret_refs(value)) if given else frozenset()

    @classmethod
    @cache
    def secret_fields(cls) -> tuple[str, ...]:
        """Return the arguments that may name a secret."""
        return tuple(name for name, field in cls.model_fields.items() if _may_name_secret(field.annotation))

    def wire_body(self) -> dict[str, JsonValue]:
        """Return the action as JSON with the arguments that the caller gave, under its canonical name."""
        return {"action": self.name(), **self.model_dump(mode="json", exclude_unset=True)}


# `Action` has read them. Pydantic would evaluate all of them again for each class, a third of the catalogue's time.
Traits.__annotations__.clear()


_SESSION_FIELDS: Final = ("session_id", "source")


def _ids(action: Action, fields: Iterable[str]) -> Touches:
    pages, sessions = set[str](), set[str]()
    for name in fields:
        if value := getattr(action, name):
            (sessions if name in _SESSION_FIELDS else pages).add(value)
    return Touches(frozenset(pages), frozenset(sessions))


def _may_name_secret(kind: object, around: tuple[type, ...] = ()) -> bool:
    """Return whether a value of this type may be or contain the name of a secret. `around` are the types that it is
    in."""
    if inner := get_args(kind):
        return any(_may_name_secret(each, around) for each in inner)
    if kind in around or not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return False
    if issubclass(kind, SecretRef):
        return True
    return any(_may_name_secret(field.annotation, (*around, kind)) for field in kind.model_fields.values())


def _secret_refs(value: object) -> Iterator[SecretRef]:
    """Yield the named secrets in an argument: itself, or inside a login, a list of fields or an object of headers."""
    if isinstance(value, SecretRef):
        yield value
    elif isinstance(value, HttpAuth):
        yield from _secret_refs(value.password)
    elif isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else (getattr(item, "value", None) for item in value)
        yield from (item for item in items if isinstance(item, SecretRef))


AN_ACTION: Final = "An action with its arguments."
MOST_ARGUMENTS: Final = 200
Carried = Annotated[
    InstanceOf[Action],
    PlainSerializer(lambda part: part.wire_body()),
    WithJsonSchema({"type": "object", "description": AN_ACTION, "maxProperties": MOST_ARGUMENTS}),
]
"""An action as another's argument. `catalogue.parse` makes it; tool lists show it as an object."""

MOST_PARTS: Final = 50
T = TypeVar("T")


def from_parts(class_value: T, value_of: Callable[[tuple[Action, ...]], T]) -> T:
    """Return an attribute that is `class_value` on the class, and that each call computes from its parts."""

    def of_call(action: Action) -> T:
        return value_of(action.parts())

    return computed(class_value, of_call)


def strongest_effect(parts: tuple[Action, ...]) -> Effect:
    """Return the effect of a call that only does its parts."""
    return max((part.effect for part in parts), key=[*Effect].index, default=Effect.READS)


class ServiceAction(Action):
    """The base of the actions on the service. They take no turn on a page."""

    lane = Lane.BESIDE


class ServiceAct(ServiceAction):
    """The base of the acts on the service, whose reply says what was observed."""

    effect = Effect.ACTS
    text_key = "observed"


class PageAction(Action):
    """The base of the actions on one page."""

    scope = Scope.PAGE
    option_bags: ClassVar[tuple[str, ...]] = ("params",)
    id_fields: ClassVar[tuple[str, ...]] = ("page_id", "session_id")

    page_id: PageId | None = None
    session_id: SessionId | None = None
    timeout: int = Field(default=5_000, ge=1, le=120_000, description="Milliseconds the action may take on the page.")
    if_revision: int | None = Field(
        default=None, ge=0, description="Refuse (STALE_REVISION) unless the page is still at this revision."
    )
    expect_url: str | None = Field(
        default=None,
        max_length=2_000,
        description="Refuse (STALE_REVISION) unless the page's URL matches this glob (`*` is any text).",
    )
    reply: Literal["none", "effects", "delta", "full"] = Field(
        default="delta",
        description="What an act returns: nothing, what followed from it (navigation, requests, windows), also what it "
        "changed, or also a snapshot.",
    )
    as_: AgentName | None = Field(default=None, alias="as", description=AS)

    def allowed_ms(self) -> int:
        return self.timeout


class PageAct(PageAction):
    """The base of the acts on one page, whose reply says what was observed."""

    effect = Effect.ACTS
    text_key = "observed"


class OwnPageAction(PageAction):
    """The base of the seven browser tools, which act on the page that browser_launch opened."""

    unaddressed = Unaddressed.OWN_PAGE
    text_key = "text"


class OwnershipAction(PageAct):
    """The base of actions on a page's owner, not on the page. They need no turn and no browser."""

    gives = False
    lane = Lane.BESIDE
    claim = Claim.CONCERNS
    needs_open_page = False


class SessionAction(Action):
    """The base of the actions on a session: on the cookies and settings of all its pages."""

    scope = Scope.SESSION
    id_fields = ("session_id",)
    within_ms: ClassVar[int] = 5_000

    session_id: SessionId = Field(default=DEFAULT_SESSION, description="The session; leave out for the shared login.")

    def allowed_ms(self) -> int:
        return self.within_ms


class WideAct(Action):
    """The base of the acts that affect pages besides the caller's."""

    effect = Effect.ACTS
    text_key = "observed"

    affect_others: bool = Field(default=False, description="Do it even if it affects pages that others hold.")

    def as_wide_act(self) -> "WideAct":
        return self

    @property
    def affects_origin(self) -> bool:
        """Return whether the call affects all pages of the page's origin."""
        return False

    def concerns(self, url: str) -> bool:  # noqa: ARG002 - the narrower acts look at it
        """Return whether the call affects a page at `url`."""
        return True

    def narrower_calls(self) -> str:
        """Return the calls that affect fewer pages, for the hint of a refusal."""
        return f"{next_call('create_session')} makes a session of your own."


class SessionAct(WideAct, SessionAction):
    """The base of the acts on a session in which others may be working."""


StorageKind = Annotated[
    Literal["local", "session"],
    Field(description="local: shared by all pages of the origin. session: of this page, until it closes."),
]


class StorageAct(WideAct, PageAction):
    """The base of the writes to an origin's storage. Its pages in one session share the local storage."""

    kind: StorageKind = "local"

    @property
    def affects_origin(self) -> bool:
        return self.kind == "local"

    def narrower_calls(self) -> str:
        return '"kind": "session" is of your page alone; ' + super().narrower_calls()


class NavigationAction(PageAction):
    """The base of the actions that load a document."""

    effect = Effect.ACTS
    navigates = Navigation.LOADS
    serves_reading = True

    timeout: int = Field(default=30_000, ge=1_000, le=120_000, description="Milliseconds the navigation may take.")


class VisitingAction(NavigationAction):
    """The base of the actions that go to a given URL."""

    auth: HttpAuth | None = Field(
        default=None,
        description="Login for HTTP authentication: sent only to the URL's origin, and kept for the session.",
    )

    @model_validator(mode="before")
    @classmethod
    def _split(cls, given: object) -> object:
        """Move a name and a password in the URL to a separate argument, so that nobody sees them with the URL."""
        if not isinstance(given, dict) or not isinstance(given.get("url"), str):
            return given
        url, username, password = split_userinfo(given["url"])
        if url == given["url"]:
            return given
        auth = given.get("auth") or ({"username": username, "password": password} if username or password else None)
        return {**given, "url": url, **({"auth": auth} if auth else {})}


class WaitingAction(PageAction):
    """The base of the actions that wait for something without taking a turn on the page."""

    lane = Lane.BESIDE
    hears_person = True
    lasts = True
    text_key = "observed"

    timeout: int = Field(default=30_000, ge=1_000, le=120_000, description="Milliseconds to wait at most.")

    @property
    def asks_page(self) -> bool:
        return True


class ArmedWait(WaitingAction):
    """The base of the waits that can carry the act which causes what they wait for."""

    everyday = ("pattern", "during")
    effect = from_parts(Effect.DESTROYS, strongest_effect)
    lane = from_parts(Lane.QUEUE, lambda parts: Lane.QUEUE if parts else Lane.BESIDE)
    part_fields = ("during",)
    text_key = ""
    untrusted = True

    def allowed_ms(self) -> int:
        return self.timeout + sum(part.allowed_ms() for part in self.parts())


class ExtractingAction(PageAction):
    """The base of the actions that read data out of a page."""

    untrusted = True
    extra_keys: ClassVar[tuple[str, ...]] = ("inFrames",)


class ElementAction(PageAct):
    """The base of the acts on one element."""

    input = Input.PLAIN

    selector: Selector = Field(description="Ref (e12), CSS or role=...")
    frame: Selector | None = Field(default=None, description="Selector of its iframe; refs need none.")
    strict: bool = Field(default=True, description="false takes the first of several.")


class TickingAction(ElementAction):
    """The base of the acts on checkboxes and radio buttons."""

    everyday = ()
    input = Input.POINTER
    reports = Reports.READ_BACK

    @property
    def given_texts(self) -> tuple[str, ...]:
        return ("",)

"""Declares what policies need to know about an action.

Each question is an attribute with a default, so that a tool answers only those that concern it. What only one action
answers is a field or a method of its own class.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum, StrEnum
from functools import cache
from types import MappingProxyType
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar, cast, get_args

from pydantic import BaseModel, JsonValue
from pydantic.alias_generators import to_camel

from browse_together.contract.actions.arguments import Means

_OPENING: Final = frozenset({"Control", "ControlOrMeta", "Meta", "Shift"})
"""The keys with which a click opens a link in a new page."""


class Effect(StrEnum):
    """What an action does: `acts` and `destroys` need the page's lease, `reads` needs nothing."""

    READS = "reads"
    ACTS = "acts"
    DESTROYS = "destroys"


class Scope(StrEnum):
    """What the handler is given: a page, a session, or the service."""

    PAGE = "page"
    SESSION = "session"
    SERVICE = "service"


class Lane(StrEnum):
    """`queue` takes its turn on the page; `beside` takes none, so that a wait never blocks the act that ends it."""

    QUEUE = "queue"
    BESIDE = "beside"


class Unaddressed(StrEnum):
    """The page that a call without `pageId` means."""

    ONLY_PAGE = "only_page"
    OWN_PAGE = "own_page"
    """The page that browser_launch opened."""
    NEW_PAGE = "new_page"
    """The main page of the session that the call names, or a new one."""
    ANOTHER_PAGE = "another_page"
    """A new page, even where the caller's own page has the given pageId."""

    @property
    def opens(self) -> bool:
        """Return whether the call opens a page if there is none."""
        return self in {Unaddressed.NEW_PAGE, Unaddressed.ANOTHER_PAGE}


class Batching(StrEnum):
    """How the parts of a call run that does nothing besides them."""

    NONE = ""
    ONE_TURN = "one_turn"
    SEPARATE_CALLS = "separate_calls"


class GivenScript(NamedTuple):
    """JavaScript from the caller, and when it runs in a page."""

    later: bool = False
    """True if it runs in later documents, wherever the page is by then."""
    pattern: str = ""
    """The pattern of URLs to which it is limited, if any."""


class Cookies(StrEnum):
    """What an action has to do with cookies."""

    NONE = ""
    TOUCHES = "touches"
    """It reads, writes, keeps or brings them."""
    EXPORTS = "exports"
    """It makes a file with their values."""


class Navigation(StrEnum):
    """Whether an action loads a document."""

    NONE = ""
    LOADS = "loads"
    REPLACES = "replaces"
    """It may put a new browser page under the id of one that does not respond."""


class Claim(IntEnum):
    """What an action has to do with the owner of its page. Each level includes those before it."""

    NONE = 0
    CONCERNS = 1
    """The action concerns the owner and not the page, so nothing is half done when it is stopped."""
    CLAIMS = 2
    """It asks for another client's page, so the page's lease does not refuse it."""
    BY_PERSON = 3
    """Only the account's own person may do it."""
    STOPS_OTHERS = 4
    """It cancels the acts that run on the page."""


class Input(StrEnum):
    """The input that an act gives one element. Playwright reports whether the element received it."""

    NONE = ""
    PLAIN = "plain"
    HOVER = "hover"
    """The page may react only with a style, which a snapshot does not show."""
    KEYS = "keys"
    """It triggers the element, as Enter triggers a button."""
    POINTER = "pointer"
    """It uses the mouse, so whatever is at that point of the element receives it."""

    @property
    def activates(self) -> bool:
        return self in {Input.KEYS, Input.POINTER}


class Reports(IntEnum):
    """How much the handler's own result says of the field that it changed. Each level includes those before it."""

    NOTHING = 0
    VALUE = 1
    READ_BACK = 2
    """The value as the page shows it afterwards."""
    EVERYTHING = 3
    """Enough that nobody needs to look at the page, unless the act had other effects."""


class Alias(NamedTuple):
    """A second name of an action, with some arguments renamed and others preset."""

    name: str
    renames: Mapping[str, str] = MappingProxyType({})
    presets: Mapping[str, JsonValue] = MappingProxyType({})


class Touches(NamedTuple):
    """The ids of pages and sessions that a call names."""

    pages: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()


class Closing(NamedTuple):
    """What an action closes, why, and whether that may be a page opened by another agent of its client."""

    scope: Scope
    reason: str | None = None
    confirmed: bool = False


class PersonAsked(NamedTuple):
    """What an action needs a person to do, and the request that it continues."""

    kind: str = ""
    request_id: str | None = None


class StoredLogins(NamedTuple):
    """The name under which a call saves the logins of its session, or from which it restores them."""

    name: str
    restores: bool


class Expectation(NamedTuple):
    """What must be true of the page before a call does anything: its revision, and a glob for its URL."""

    revision: int | None = None
    url: str | None = None


class ReadOn(NamedTuple):
    """The position in an earlier call's result from which a call reads on, and how many characters it takes."""

    cursor: str
    budget: int | None = None


class AskedReply(NamedTuple):
    """The wanted reply to an act: none, effects, delta or full."""

    amount: str = "delta"
    trial: bool = False
    """The call only checks whether it could be done."""
    awaits: bool = True
    """The reply waits for the act's effects."""


class Addressed(NamedTuple):
    """The page and the session of a call, and the agent of its client that makes it."""

    page: str | None
    session: str | None
    agent: str


class Aim(NamedTuple):
    """The elements that a call names, and where it uses the mouse in the first of them."""

    selector: str | None = None
    onto: str | None = None
    """The element on which a drag ends."""
    frame: str | None = None
    """The iframe in which the elements are."""
    point: BaseModel | None = None
    """None means the middle."""
    strict: bool = True
    """False takes the first of several matches."""
    timeout: int | None = None
    fields: tuple[str, ...] = ()
    """The elements of an act on several elements."""

    @property
    def selectors(self) -> tuple[str, ...]:
        return tuple(each for each in (self.selector, self.onto, *self.fields) if each is not None)


class Keys(NamedTuple):
    """What a call presses: a key with the keys held down, or the characters of a text."""

    chord: str = ""
    text: str = ""
    pastes: bool = False


class CalledTool(NamedTuple):
    """A tool of the page's own that a call uses, and the iframe that declares it."""

    name: str
    frame: str | None = None
    as_recorded: bool = False
    """True if the call says what the tool has to take, whatever its caller was shown."""


A = TypeVar("A")
T = TypeVar("T")


class _Computed(Generic[A, T]):
    """An attribute with one value on the class; on a call its value depends on the arguments."""

    def __init__(self, class_value: T, value_of: Callable[[A], T]) -> None:
        self._class_value, self._value_of = class_value, value_of

    def __get__(self, action: A | None, _: type[A]) -> T:
        return self._class_value if action is None else self._value_of(action)


def computed(class_value: T, value_of: Callable[[A], T]) -> T:
    """Return an attribute that is `class_value` on the class, and that `value_of` computes for a call."""
    return cast("T", _Computed(class_value, value_of))  # returns a T when read, like a property


def _acts(action: "Traits") -> bool:
    return action.effect is not Effect.READS or bool(action.programs)


def _is_marked(annotation: object, meaning: Means) -> bool:
    given = getattr(annotation, "__metadata__", ())
    return meaning in given or any(_is_marked(each, meaning) for each in get_args(annotation))


class Traits(BaseModel):
    """Every question with its default. A class overrides those that it answers otherwise; a call answers those that
    its arguments decide."""

    # --- the call's place --------------------------------------------------------------------------------------------

    effect: ClassVar[Effect] = Effect.READS
    scope: ClassVar[Scope] = Scope.SERVICE
    lane: ClassVar[Lane] = Lane.QUEUE
    unaddressed: ClassVar[Unaddressed] = Unaddressed.ONLY_PAGE
    launches: ClassVar[bool] = False
    """True if the call opens the page that browser_launch would, where there is none."""
    id_fields: ClassVar[tuple[str, ...]] = ()
    """The arguments that name a page or, as `session_id` or `source`, a session. The call touches no other page or
    session."""
    limiting_fields: ClassVar[tuple[str, ...]] = ()
    """The arguments without which it affects more, so that "" does not stand for leaving them out."""
    part_fields: ClassVar[tuple[str, ...]] = ()
    """The arguments that contain other actions, either one or a list."""
    batching: ClassVar[Batching] = Batching.NONE

    # --- how it is called and shown ----------------------------------------------------------------------------------

    aliases: ClassVar[tuple[Alias, ...]] = ()
    option_bags: ClassVar[tuple[str, ...]] = ()
    """The arguments whose keys are moved among the action's own, such as `params`."""
    everyday: ClassVar[tuple[str, ...] | None] = None
    """The arguments and option bags that tool lists show besides the required ones, about three; None shows all. `help`
    describes the others. `call_tool` accepts them from clients that send only listed arguments."""
    text_key: ClassVar[str] = ""
    """The key of the result that a model sees as text. Without one it sees the whole result as JSON."""
    extra_keys: ClassVar[tuple[str, ...]] = ()
    """The keys of the result that a model sees after that text."""
    activity_phrase: ClassVar[str] = ""
    """What the action is doing, as its errors begin ("Error typing into element"). It marks the tools whose replies are
    their text and nothing else."""
    hints: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What to do after an error, by its code, if the error's own hint does not fit."""
    untrusted: ClassVar[bool] = False
    """True if the result contains the site's own words, which a model must not take for instructions."""
    loggable_arguments: ClassVar[frozenset[str]] = frozenset()
    """The texts that are no secret, by their wire names. The record of who did what keeps these, elements, addresses
    and reasons, but no other text."""

    # --- its limits, and its end -------------------------------------------------------------------------------------

    unmetered: ClassVar[bool] = False
    """True if no quota refuses the action: a client at its limit must be able to end what it began."""
    ends_logins: ClassVar[bool] = False
    """True if the call may take logins from a session. They are kept for a day, and its reply names the call that puts
    them back."""

    brings_logins: ClassVar[bool] = False
    """True if the call brings logins into a session from elsewhere."""
    lists_logins: ClassVar[bool] = False
    """True if the reply lists logins, to which the record adds who used each, and when."""

    # --- what guards ask of it ---------------------------------------------------------------------------------------

    gives: ClassVar[bool] = computed(True, _acts)  # noqa: FBT003 - the class's value
    """True if the call gives a site something: a text, a press, a request."""
    serves_reading: ClassVar[bool] = False
    """True if a client that may only read may do it too, on its own pages, sessions and calls."""
    runs_script: ClassVar[GivenScript | None] = None
    cookie_use: ClassVar[Cookies] = Cookies.NONE
    shows_all_pages: ClassVar[bool] = False
    """True if the caller sees all pages of the session. It is refused if one is private to another client."""
    asks_person: ClassVar[PersonAsked | None] = None
    """The person's part, if the action waits for a person as long as needed. It cannot be part of another call, and
    goes on after its client has gone."""
    hears_person: ClassVar[bool] = False
    """True if the call may wait for long. A person's words end the wait for its reply, and it goes on."""
    lasts: ClassVar[bool] = False
    """True if the call may go on for so long that a chat's host would rather follow it as a task."""

    # --- pages and sessions, as it makes and ends them ---------------------------------------------------------------

    needs_open_page: ClassVar[bool] = True
    """True if the page must be open in the browser, which actions that concern only its owner do not need."""
    navigates: ClassVar[Navigation] = Navigation.NONE
    closes: ClassVar[Closing | None] = None
    makes_session: ClassVar[bool] = False
    claim: ClassVar[Claim] = Claim.NONE
    answers_dialog: ClassVar[bool] = False
    calls_page_tool: ClassVar[bool] = False
    """True if it calls a tool that the page itself declares."""

    # --- what it does in the page ------------------------------------------------------------------------------------

    input: ClassVar[Input] = Input.NONE
    request_method: ClassVar[str] = ""
    """The HTTP method of the request that the page itself sends, with its own rights; empty if there is none."""
    reports: ClassVar[Reports] = Reports.NOTHING

    # --- what this very call asks for --------------------------------------------------------------------------------

    @property
    def addressed(self) -> Addressed:
        given = vars(self)  # for a field that is not there, `getattr` takes much longer
        return Addressed(given.get("page_id"), given.get("session_id"), given.get("as_") or "")

    @property
    def requested_url(self) -> str | None:
        return vars(self).get("url")

    @property
    def opens_links(self) -> bool:
        """Return whether a link that the act clicks opens in a new page."""
        given = vars(self)
        return given.get("button") == "middle" or not _OPENING.isdisjoint(given.get("modifiers") or ())

    @property
    def aim(self) -> Aim:
        given = vars(self)
        selector, frame, point = given.get("selector"), given.get("frame"), given.get("position")
        return Aim(selector, frame=frame, point=point, strict=given.get("strict", True), timeout=given.get("timeout"))

    @property
    def expectation(self) -> Expectation:
        given = vars(self)
        return Expectation(given.get("if_revision"), given.get("expect_url"))

    @property
    def presses(self) -> Keys | None:
        """Return the keys that the call presses; None if it presses none."""
        return None

    @property
    def page_tool(self) -> CalledTool | None:
        return None

    @property
    def given_texts(self) -> tuple[str, ...]:
        """Return the text that the call gives each field that it fills; an empty text for a field that it ticks."""
        return ()

    @property
    def sends_anywhere(self) -> bool:
        """Return whether what the call gives may go to any site, because a program sends it, or each visited site gets
        it."""
        return self.runs_script is not None or bool(self.programs)

    @property
    def only_hosts(self) -> tuple[str, ...] | None:
        """Return the hosts to which an act on a session confines itself; None if it concerns all of the session."""
        return None

    @property
    def named_urls(self) -> tuple[str, ...]:
        """Return the URLs that the call concerns. An empty one stands for something without a fixed URL."""
        given = (getattr(self, name) for name in self.fields_that_are(Means.ADDRESS))
        return tuple(url for url in given if url)

    @property
    def programs(self) -> tuple[str, ...]:
        """Return the names of the given arguments that are style sheets or HTML."""
        return tuple(to_camel(name) for name in self.program_fields() if getattr(self, name) is not None)

    @classmethod
    def program_fields(cls) -> tuple[str, ...]:
        """Return the names of the arguments that are CSS or HTML."""
        return cls.fields_that_are(Means.PROGRAM)

    @classmethod
    @cache
    def fields_that_are(cls, meaning: Means) -> tuple[str, ...]:
        """Return the names of the arguments that are more than texts."""
        fields = cls.model_fields.items()
        return tuple(
            name for name, field in fields if meaning in field.metadata or _is_marked(field.annotation, meaning)
        )

    @property
    def recipient(self) -> str | None:
        """Return the receiver of the page: a client's name, or the id of a page of that client."""
        return None

    @property
    def stored_logins(self) -> StoredLogins | None:
        return None

    @property
    def asked_reply(self) -> AskedReply:
        given = vars(self)
        skips_wait = given.get("no_wait_after", False)
        return AskedReply(given.get("reply", "delta"), given.get("trial", False), awaits=not skips_wait)

    @property
    def reads_on(self) -> ReadOn | None:
        given = vars(self)
        return ReadOn(cursor, given.get("budget")) if (cursor := given.get("cursor")) else None

    @property
    def needs_no_page(self) -> bool:
        """Return whether this call needs no page, because an earlier call stored all that it reads."""
        return self.reads_on is not None

    @property
    def wakes_page(self) -> bool:
        """Return whether this call opens a closed page, although it takes no turn."""
        return self.needs_open_page and self.effect is Effect.READS

    @property
    def asks_page(self) -> bool:
        """Return whether the call asks the page itself, which cannot answer while it shows a dialog."""
        return self.lane is Lane.QUEUE and self.reads_on is None


def may_answer(kind: type[Traits], *questions: str) -> bool:
    """Return whether a call of this action may answer one of the questions otherwise than by its default."""
    return any(
        next(vars(each)[name] for each in kind.__mro__ if name in vars(each)) is not vars(Traits)[name]
        for name in questions
    )

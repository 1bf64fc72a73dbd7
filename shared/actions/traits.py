"""Declares what policy asks of an action. Each question is an attribute with a default, so that nothing outside checks
an action's class.

It is long because each question stands here once, with what it means.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue

from shared.next_calls import next_call


class Effect(StrEnum):
    """`acts` and `destroys` need the page's lease; `reads` needs nothing."""

    READS = "reads"
    ACTS = "acts"
    DESTROYS = "destroys"


class Scope(StrEnum):
    """Says what the handler is given: a page, a session, or the service."""

    PAGE = "page"
    SESSION = "session"
    SERVICE = "service"


class Lane(StrEnum):
    """`queue` takes its turn on the page; `beside` takes none, so that a wait never blocks the act that ends it."""

    QUEUE = "queue"
    BESIDE = "beside"


class Unaddressed(StrEnum):
    """Says which page a call without `pageId` means."""

    ONLY_PAGE = "only_page"
    NEW_PAGE = "new_page"
    OWN_PAGE = "own_page"
    """Means the page that browser_launch opened."""


class Alias(NamedTuple):
    """Declares a second name of an action, with some arguments renamed and others preset."""

    name: str
    renames: Mapping[str, str] = MappingProxyType({})
    presets: Mapping[str, JsonValue] = MappingProxyType({})


class Touches(NamedTuple):
    """Lists the ids that a call names."""

    pages: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()


class Closing(NamedTuple):
    """Says how a call closes its page: why, and whether it may be one that another agent of the client opened."""

    reason: str | None
    confirmed: bool


T = TypeVar("T")


class Argument(Generic[T]):
    """Reads an argument of a call under the same name for every action. `without` is the answer of an action that has
    no such argument."""

    def __init__(self, name: str, without: T) -> None:
        self._name, self._without = name, without

    def __get__(self, action: object, _: type[object]) -> T:
        value: T | None = getattr(action, self._name, None)
        return self._without if value is None else value


class Traits(BaseModel):
    """Declares every question with its default. A class overrides those that it answers otherwise; a call answers those
    that its arguments decide."""

    # --- the call's place --------------------------------------------------------------------------------------------

    effect: ClassVar[Effect] = Effect.READS
    scope: ClassVar[Scope] = Scope.SERVICE
    lane: ClassVar[Lane] = Lane.QUEUE
    unaddressed: ClassVar[Unaddressed] = Unaddressed.ONLY_PAGE
    page_fields: ClassVar[tuple[str, ...]] = ()
    """Lists the arguments that can name a page. A call touches no page besides these and the one it is addressed to."""
    session_fields: ClassVar[tuple[str, ...]] = ()
    """Lists the arguments that can name a session, likewise."""
    only_carries: ClassVar[bool] = False
    """Says that the action does nothing besides the actions that it carries."""
    part_fields: ClassVar[tuple[str, ...]] = ()
    """Lists the arguments that hold other actions, either one or a list of them."""
    is_separate_call: ClassVar[bool] = False
    """Says that the action cannot run in the turn of another one: it needs no page, or another page, or it ends what
    that turn waits for."""

    # --- how it is called and shown ----------------------------------------------------------------------------------

    aliases: ClassVar[tuple[Alias, ...]] = ()
    option_bags: ClassVar[tuple[str, ...]] = ()
    """Lists the arguments whose keys are moved among the action's own, such as `params`."""
    everyday: ClassVar[tuple[str, ...] | None] = None
    """Lists the arguments of its own that tool lists show besides the required ones: those of every day, about three.
    None shows all. The others are taken all the same: `help` describes them, and a client that sends nothing but what
    it is shown has `call_tool` for them. It can name an option bag too."""
    text_key: ClassVar[str] = ""
    """Names the key of the result that a model sees as text. Without one it sees the whole result as JSON."""
    extra_keys: ClassVar[tuple[str, ...]] = ()
    """Lists the keys of the result that a model sees after that text."""
    counted: ClassVar[str] = "matches"
    """Names what the result's `count` counts."""
    activity_phrase: ClassVar[str] = ""
    """Says what the action is doing, as its errors begin ("Error typing into element"). It marks the tools whose
    replies are their text and nothing else."""
    hints: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Maps the codes of errors to what the caller should do next, where that is not the error's own hint."""
    untrusted: ClassVar[bool] = False
    """Says that the result has the site's own words, which a model must not take for instructions."""
    quotes_page: ClassVar[bool] = False
    """Says that the text is a line of the site's own words, which a model sees in quotes."""
    loggable_arguments: ClassVar[frozenset[str]] = frozenset()
    """Lists, by their wire names, the texts that are no secret. The record of who did what keeps these, elements,
    addresses and reasons, and no other text."""
    secret_fields: ClassVar[tuple[str, ...]] = ()
    """Lists the arguments in which a secret may be named in place of a text."""
    adds_toolset: ClassVar[bool] = False
    """Says that the caller's list of tools gets the toolset that the result names."""

    # --- its limits, and its end -------------------------------------------------------------------------------------

    idempotent: ClassVar[bool] = False
    outlives_client: ClassVar[bool] = False
    """Says that the call goes on when its client has gone, because a person is busy with it."""
    unmetered: ClassVar[bool] = False
    """Says that no quota refuses the action: a client at its limit must be able to end what it began."""
    visits: ClassVar[bool] = False
    """Says that the action sends a request to a site, at its `url` or where the page is. That counts against the limits
    of the origin."""
    undoable: ClassVar[bool] = False
    """Says that `undo` can take the action back for ten minutes, because the service keeps what it changed."""
    undone_by: ClassVar[str] = ""
    """Names the call that takes the action back where `undo` cannot."""

    # --- what the guard of a chat asks of it -------------------------------------------------------------------------

    gives_nothing: ClassVar[bool] = False
    """Says that the act gives the page's site neither a text nor a press."""

    # --- what a token's limits ask of it -----------------------------------------------------------------------------

    serves_reading: ClassVar[bool] = False
    """Says that a client that may only read may do it too, with pages, sessions and calls of its own: it opens, moves
    or ends what that client reads, and touches nothing of others."""
    runs_given_script: ClassVar[bool] = False
    """Says that JavaScript which the caller gives runs in a page, at once or when the page loads it."""
    outlasts_document: ClassVar[bool] = False
    """Says that what the caller gives runs in later documents too, wherever the page is then."""
    touches_cookies: ClassVar[bool] = False
    """Says that the action reads, writes, keeps or brings cookies."""
    creates_session: ClassVar[bool] = False

    # --- pages and sessions, as it makes and ends them ---------------------------------------------------------------

    needs_open_page: ClassVar[bool] = True
    """Says that the page must be open in the browser. Actions that only concern its owner do not need that."""
    navigates: ClassVar[bool] = False
    """Says that the action loads a document."""
    replaces_page: ClassVar[bool] = False
    """Says that the action can put a new browser page under the id of one that does not respond."""
    opens_another: ClassVar[bool] = False
    """Says that the action opens a page beside the one that has its name already."""
    opens_main_page: ClassVar[bool] = False
    """Says that a call without a page opens the main page of the session that it names."""
    closes_session: ClassVar[bool] = False
    closes_page: ClassVar[bool] = False
    claims_page: ClassVar[bool] = False
    """Says that the action asks for another client's page, whose lease therefore does not refuse it."""
    ownership: ClassVar[bool] = False
    """Says that the action concerns a page's owner and not the page. Nothing is half done when it is stopped."""

    # --- others, and people ------------------------------------------------------------------------------------------

    affects_other_pages: ClassVar[bool] = False
    """Says that pages besides the caller's notice the action."""
    shows_all_pages: ClassVar[bool] = False
    """Says that the caller sees all pages of the session, which is refused where one is private to another client."""
    for_people: ClassVar[bool] = False
    """Says that only the account's own person may do it."""
    waits_for_person: ClassVar[bool] = False
    """Says that the action waits for a person as long as it takes, so that it cannot be part of another call."""
    answers_dialog: ClassVar[bool] = False

    # --- what it does in the page ------------------------------------------------------------------------------------

    acts_on_element: ClassVar[bool] = False
    """Says that the action is input to one element, and that Playwright reports whether the element received it."""
    activates: ClassVar[bool] = False
    """Says that the action sets off what an element does, as a click on a button does."""
    points: ClassVar[bool] = False
    """Says that it does so with the mouse, so that whatever is at that point of the element receives it."""
    runs_script: ClassVar[bool] = False
    """Says that the action runs the caller's script in the page, whose failures are the caller's own."""
    from_page: ClassVar[bool] = False
    """Says that the page itself requests the URL, with the page's own rights."""
    waits_for_document: ClassVar[bool] = False
    reads_back: ClassVar[bool] = False
    """Says that Playwright bounds the act itself, so that only the look at the field afterwards can take longer."""
    reports_value: ClassVar[bool] = False
    """Says that the reply has the field's value afterwards, so that a change of the value alone needs no report."""
    reports_everything: ClassVar[bool] = False
    """Says that the reply itself makes a look at the whole page needless, if the act caused nothing else."""
    shows_styles: ClassVar[bool] = False
    """Says that the page may answer the act by a style alone, which a snapshot does not show."""

    # --- what this very call asks for --------------------------------------------------------------------------------

    requested_page: ClassVar[Argument[str | None]] = Argument("page_id", None)
    requested_session: ClassVar[Argument[str | None]] = Argument("session_id", None)
    agent: ClassVar[Argument[str]] = Argument("as_", "")
    """Says which of a client's agents calls, if the call has it."""
    requested_url: ClassVar[Argument[str | None]] = Argument("url", None)
    requested_selector: ClassVar[Argument[str | None]] = Argument("selector", None)
    requested_target: ClassVar[Argument[str | None]] = Argument("target", None)
    """Holds the selector of the second element of a drag."""
    requested_frame: ClassVar[Argument[str | None]] = Argument("frame", None)
    """Holds the selector of the iframe in which the elements are."""
    requested_point: ClassVar[Argument[BaseModel | None]] = Argument("position", None)
    """Says where in its element the call uses the mouse; None is the middle."""
    requested_strict: ClassVar[Argument[bool]] = Argument("strict", without=True)
    """Says whether the selector may mean one element alone."""
    requested_key: ClassVar[Argument[str]] = Argument("key", "")
    requested_timeout: ClassVar[Argument[int | None]] = Argument("timeout", None)
    """Bounds the time that the call may take on the page, in milliseconds."""
    requested_load_state: ClassVar[Argument[str]] = Argument("wait_until", "load")
    """Names the event that counts as loaded."""
    requested_budget: ClassVar[Argument[int | None]] = Argument("budget", None)
    requested_pattern: ClassVar[Argument[str]] = Argument("pattern", "")
    """Says which URLs the call is about, if it has such a pattern."""
    expected_revision: ClassVar[Argument[int | None]] = Argument("if_revision", None)
    expected_url: ClassVar[Argument[str | None]] = Argument("expect_url", None)
    reply_amount: ClassVar[Argument[str]] = Argument("reply", "delta")
    """Says how much an act answers: none, delta or full."""
    requested_cursor: ClassVar[Argument[str]] = Argument("cursor", "")
    """Says where to read on in what an earlier call left. It is empty where this call begins to read."""
    is_trial: ClassVar[Argument[bool]] = Argument("trial", without=False)
    """Says that the call only checks that it could be done, and does nothing."""
    skips_wait: ClassVar[Argument[bool]] = Argument("no_wait_after", without=False)
    """Says that the reply does not wait for what the act causes."""
    runs_before_unload: ClassVar[Argument[bool]] = Argument("run_before_unload", without=False)
    """Says that the page may ask whether to leave it, before it closes."""

    @property
    def supports_trial(self) -> bool:
        return "trial" in type(self).model_fields

    @property
    def needs_no_page(self) -> bool:
        """Return whether this call can do without a page, because an earlier call left all that it reads."""
        return bool(self.requested_cursor)

    @property
    def named_urls(self) -> tuple[str, ...]:
        """Return the URLs at which the call does something. An empty one stands for what is not bound to a URL."""
        return (self.requested_url,) if self.requested_url is not None else ()

    @property
    def given_headers(self) -> Mapping[str, str]:
        """Return the headers that the browser is to send, or to take for those of an answer."""
        return {}

    @property
    def typed_text(self) -> str:
        """Return the text whose characters the call presses as keys."""
        return ""

    @property
    def given_texts(self) -> tuple[str, ...]:
        """Return what each field is to have that the call fills; an empty text for one that it ticks."""
        return ()

    @property
    def gives(self) -> bool:
        """Return whether the call gives a site something: a text, a press, a request."""
        return self.effect is not Effect.READS and not self.gives_nothing

    @property
    def requested_selectors(self) -> tuple[str, ...]:
        """Return the selectors of all elements that the call gives something to."""
        return tuple(each for each in (self.requested_selector, self.requested_target) if each is not None)

    @property
    def pastes(self) -> bool:
        """Return whether the call puts what its caller copied where the focus is."""
        return False

    @property
    def sends_anywhere(self) -> bool:
        """Return whether what the call gives may go to any site: a program sends it, or each site that the page visits
        gets it."""
        return self.runs_given_script

    @property
    def sent_method(self) -> str:
        """Return the HTTP method of the request that the call itself sends; empty if it sends none."""
        return ""

    @property
    def exports_cookies(self) -> bool:
        """Return whether the call makes a file with cookie values in it."""
        return False

    @property
    def has_separate_calls(self) -> bool:
        """Return whether each of the action's parts is a call of its own."""
        return False

    @property
    def makes_session(self) -> bool:
        """Return whether a new session is made for this call."""
        return False

    @property
    def wakes_page(self) -> bool:
        """Return whether a page that is not open is opened for this call, although it takes no turn."""
        return self.needs_open_page and self.effect is Effect.READS

    @property
    def asks_page(self) -> bool:
        """Return whether the call asks the page itself, which answers nothing while it shows a dialog."""
        return self.lane is Lane.QUEUE and not self.requested_cursor

    @property
    def closing(self) -> Closing | None:
        """Return how the call closes its page; None if it does not."""
        return None

    @property
    def recipient(self) -> str | None:
        """Return whom the call gives its page to: a client's name, or the id of a page of that client."""
        return None

    @property
    def saved_name(self) -> str | None:
        """Return the name under which the call saves the logins of its session."""
        return None

    @property
    def restored_name(self) -> str | None:
        """Return the name of the saved logins that the call puts back."""
        return None

    @property
    def human_request_id(self) -> str | None:
        """Return the id of the request to a person that the call continues."""
        return None

    @property
    def human_request_kind(self) -> str | None:
        """Return the kind of thing that the call asks a person for."""
        return None

    @property
    def stops_others(self) -> bool:
        """Return whether the acts that run on the page are cancelled."""
        return False

    @property
    def affects_origin(self) -> bool:
        """Return whether the call affects all pages of the page's origin."""
        return False

    @property
    def may_affect_others(self) -> bool:
        """Return whether the caller accepts that the call affects pages that others hold."""
        return False

    def concerns(self, url: str) -> bool:  # noqa: ARG002 - the narrower actions look at it
        """Return whether the call affects a page at `url`."""
        return True

    def narrower_calls(self) -> str:
        """Return the calls that affect fewer pages, for the hint of a refusal."""
        return f"{next_call('create_session')} makes a session of your own."

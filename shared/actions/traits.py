"""Declares what policy asks of an action: each question is an attribute with a default, so no class is asked for."""

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
    """The one that browser_launch opened."""


class Alias(NamedTuple):
    """A second name of an action: arguments renamed, others preset."""

    name: str
    renames: Mapping[str, str] = MappingProxyType({})
    presets: Mapping[str, JsonValue] = MappingProxyType({})


class Touches(NamedTuple):
    """The ids that a call names."""

    pages: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()


class Closing(NamedTuple):
    """Says how a call closes its page: why, and if it may be one that another agent of the client opened."""

    reason: str | None
    confirmed: bool


T = TypeVar("T")


class Argument(Generic[T]):
    """An argument of a call by the question that it answers; `without`: the answer of an action that has none."""

    def __init__(self, name: str, without: T) -> None:
        self._name, self._without = name, without

    def __get__(self, action: object, _: type[object]) -> T:
        found: T | None = getattr(action, self._name, None)
        return self._without if found is None else found


class Traits(BaseModel):
    """The questions. A class answers those that differ from the default; a call answers those that its arguments
    decide."""

    # --- the call's place --------------------------------------------------------------------------------------------

    effect: ClassVar[Effect] = Effect.READS
    scope: ClassVar[Scope] = Scope.SERVICE
    lane: ClassVar[Lane] = Lane.QUEUE
    unaddressed: ClassVar[Unaddressed] = Unaddressed.ONLY_PAGE
    page_fields: ClassVar[tuple[str, ...]] = ()
    session_fields: ClassVar[tuple[str, ...]] = ()
    """The arguments that can name a page or a session: all that a call may touch, besides where it is addressed to."""
    carries: ClassVar[tuple[str, ...]] = ()
    """The arguments that hold actions: one each, or a list."""
    alone: ClassVar[bool] = False
    """It is not done in another's turn on a page: it is of no page, of another one, or ends what keeps that turn."""

    # --- how it is called and shown ----------------------------------------------------------------------------------

    aliases: ClassVar[tuple[Alias, ...]] = ()
    bags: ClassVar[tuple[str, ...]] = ()
    """Arguments whose own keys are folded into the action's, such as `params`."""
    shown: ClassVar[str] = ""
    """The key of the result that a model is shown as text; without one it is shown all of it as JSON."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Further keys of the result that a model is shown after it."""
    bare: ClassVar[str] = ""
    """For an action whose replies are its text and nothing beside it: what it was doing, as its errors begin."""
    hints: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What to do next, by the code of an error, where it is not what the error says."""
    untrusted: ClassVar[bool] = False
    """What is shown are words of the site, which a model must not take for instructions."""
    told: ClassVar[frozenset[str]] = frozenset()
    """Wire names of texts that are no secret: the account of who did what keeps them, and no others but elements,
    addresses and reasons."""
    adds_toolset: ClassVar[bool] = False
    """The list of tools that its reader has gets the toolset that its result names."""

    # --- its limits, and its end -------------------------------------------------------------------------------------

    idempotent: ClassVar[bool] = False
    outlives_client: ClassVar[bool] = False
    """It goes on when its client has gone: a person is at it."""
    unmetered: ClassVar[bool] = False
    """No quota refuses it: a client at its limit must be able to end what it began."""
    visits: ClassVar[bool] = False
    """It sends a request to a site: to its `url`, or where the page is. Counts against that origin's limits."""
    undoable: ClassVar[bool] = False
    """`undo` takes it back, for ten minutes: what it changed is kept on our side."""
    undone_by: ClassVar[str] = ""
    """The call that takes it back where `undo` does not."""

    # --- pages and sessions, as it makes and ends them ---------------------------------------------------------------

    opens: ClassVar[bool] = True
    """It needs the page open in the browser; what only concerns ownership does not."""
    navigates: ClassVar[bool] = False
    """It loads a document."""
    replaces_page: ClassVar[bool] = False
    """It puts a new page under the id of one that does not respond."""
    opens_another: ClassVar[bool] = False
    """It opens a page beside the one that has its name already."""
    opens_main_page: ClassVar[bool] = False
    """Without a page, it opens the main page of the session that it names."""
    closes_session: ClassVar[bool] = False
    closes_page: ClassVar[bool] = False
    claims: ClassVar[bool] = False
    """It asks for another's page: the lease of that one does not refuse it beforehand."""
    ownership: ClassVar[bool] = False
    """It concerns a page's owner and not the page, where nothing is half done when it is stopped."""

    # --- others, and people ------------------------------------------------------------------------------------------

    felt: ClassVar[bool] = False
    """It is felt on pages besides the caller's."""
    shows_all_pages: ClassVar[bool] = False
    """It shows its caller all pages of the session, which it may not where one is private to another."""
    asks_people: ClassVar[bool] = False
    """It waits for a person for as long as that takes: no other call carries it."""
    answers_dialog: ClassVar[bool] = False

    # --- what it does in the page ------------------------------------------------------------------------------------

    acts_on_element: ClassVar[bool] = False
    """It is input to one element, of which Playwright tells whether it came to it."""
    runs_script: ClassVar[bool] = False
    """It runs a script in the page, whose failures are the caller's own."""
    from_page: ClassVar[bool] = False
    """The page asks for its URL, by the page's own rights."""
    waits_for_document: ClassVar[bool] = False
    reads_back: ClassVar[bool] = False
    """Its act has a time of its own in the browser; what takes longer is the look at what it left in its field."""
    tells_value: ClassVar[bool] = False
    """Its reply says what its field has afterwards, so that a change of that alone is told already."""
    tells_all: ClassVar[bool] = False
    """Its reply's own words save a look at the whole page, where nothing else was caused."""
    shows_styles: ClassVar[bool] = False
    """The page may answer it by a style alone, which a snapshot does not show."""

    # --- what this very call asks for --------------------------------------------------------------------------------

    named_page: ClassVar[Argument[str | None]] = Argument("page_id", None)
    named_session: ClassVar[Argument[str | None]] = Argument("session_id", None)
    agent: ClassVar[Argument[str]] = Argument("as_", "")
    """Which of a client's agents calls, as far as it says."""
    asked_url: ClassVar[Argument[str | None]] = Argument("url", None)
    asked_selector: ClassVar[Argument[str | None]] = Argument("selector", None)
    asked_target: ClassVar[Argument[str | None]] = Argument("target", None)
    """The selector of a second element that it needs."""
    asked_frame: ClassVar[Argument[str | None]] = Argument("frame", None)
    """The selector of the iframe that its elements are in."""
    asked_timeout: ClassVar[Argument[int | None]] = Argument("timeout", None)
    """Milliseconds that it may take on the page."""
    asked_load_state: ClassVar[Argument[str]] = Argument("wait_until", "load")
    """The event that counts as loaded."""
    asked_budget: ClassVar[Argument[int | None]] = Argument("budget", None)
    expected_revision: ClassVar[Argument[int | None]] = Argument("if_revision", None)
    expected_url: ClassVar[Argument[str | None]] = Argument("expect_url", None)
    reply_amount: ClassVar[Argument[str]] = Argument("reply", "delta")
    """How much an act answers: none, delta or full."""
    kept_cursor: ClassVar[Argument[str]] = Argument("cursor", "")
    """Where to read on in what an earlier call left; empty where this one begins to read."""
    only_tried: ClassVar[Argument[bool]] = Argument("trial", without=False)
    """It is checked that it could be done, and nothing is done."""
    unawaited: ClassVar[Argument[bool]] = Argument("no_wait_after", without=False)
    """The reply does not wait for what the act causes."""
    page_may_ask: ClassVar[Argument[bool]] = Argument("run_before_unload", without=False)
    """The page may ask whether to leave it, before it closes."""

    @property
    def can_be_tried(self) -> bool:
        return "trial" in type(self).model_fields

    @property
    def pageless(self) -> bool:
        """Return whether it needs no page this time, because all that it is about is kept already."""
        return bool(self.kept_cursor)

    @property
    def apart(self) -> bool:
        """Return whether each of its parts is a call of its own."""
        return False

    @property
    def makes_session(self) -> bool:
        """Return whether it is done in a new session, which is made for it."""
        return False

    @property
    def wakes_page(self) -> bool:
        """Return whether a page that is not open is opened for it, though it takes no turn."""
        return self.opens and self.effect is Effect.READS

    @property
    def asks_page(self) -> bool:
        """Return whether it asks the page itself, which answers nothing while it shows a dialog."""
        return self.lane is Lane.QUEUE and not self.kept_cursor

    @property
    def closing(self) -> Closing | None:
        """Return how it closes its page; None if it does not."""
        return None

    @property
    def recipient(self) -> str | None:
        """Whom it gives its page to: a client's name, or a page of its."""
        return None

    @property
    def saved_name(self) -> str | None:
        """Return the name under which it saves the logins of its session."""
        return None

    @property
    def restored_name(self) -> str | None:
        """The name under which the logins were saved that it puts back."""
        return None

    @property
    def asked_request(self) -> str | None:
        """Return the id of the request to a person that it goes on with."""
        return None

    @property
    def asked_kind(self) -> str | None:
        """Return the kind of thing that it asks a person for."""
        return None

    @property
    def by_origin(self) -> bool:
        """Return whether the other pages of the page's origin feel it."""
        return False

    @property
    def others_accepted(self) -> bool:
        """Return whether it is done though others hold pages that it concerns."""
        return False

    def concerns(self, url: str) -> bool:  # noqa: ARG002 - the narrower actions look at it
        """Return whether a page at `url` would feel it."""
        return True

    def narrower(self) -> str:
        """Give the calls that concern fewer, for the refusal."""
        return f"{next_call('create_session')} makes a session of your own."

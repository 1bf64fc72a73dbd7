"""Pages and sessions, as hosts report them and are told to open them."""

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from browse_together.contract.model import Json, Model
from browse_together.contract.next_calls import next_call
from browse_together.contract.words import own_words

Access = Literal["private", "read", "act"]
"""What others may do with a page."""

Lent = Literal["read", "act"]
"""What agents may do with a tab that a person shares out of their own browser."""
RequestKind = Literal["login", "code", "decision", "tab", "other"]
"""What an agent may ask a person for."""
HoldKind = Literal["stopped", "taken"]
"""How a person took a page without a request: by stopping its agent, or by working on it."""
_MOST_NUMBER: Final = 2**53
"""More than anything here counts, and few enough to be computed with as a float."""
_ANSWERS: Final = {"code": "The code, if it is not typed into the page", "decision": "Your decision"}


Milliseconds = Annotated[int, Field(ge=-_MOST_NUMBER, le=_MOST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=_MOST_NUMBER)]

ASK_FOR_TAB: Final = f"If you need one, ask for it: {next_call('request_human', kind='tab', message='...')}."


class HumanRequestState(Model):
    """Why a person has a page, for all who may read it: an agent's request, or the person's own hold."""

    request_id: str
    kind: RequestKind | HoldKind
    origin: str = ""
    message: str = ""
    choices: list[str] = Field(default=[])
    page_id: str
    session_id: str
    asked_by: str = ""
    of_rule: bool = Field(
        default=False,
        description="A rule of the account's owner asks, or a locked vault: the words are not an agent's.",
    )
    joined_by: list[str] = Field(default=[], description="The labels of those who wait for the same.")
    asked_ago_ms: Milliseconds = 0

    @model_validator(mode="before")
    @classmethod
    def _without_link(cls, fields: object) -> object:
        """Drop the link that version 0.1.0 has written into the journal."""
        return {key: value for key, value in fields.items() if key != "link"} if isinstance(fields, dict) else fields

    @property
    def is_hold(self) -> bool:
        """Return whether the person took the page without a request, so that there is nothing to answer."""
        return self.kind in {"stopped", "taken"}

    @property
    def what(self) -> str:
        """Return the request in words, such as "a login at https://shop.example"."""
        if self.kind == "tab":
            return "one of their own tabs"
        article = "something" if self.kind == "other" else f"a {self.kind}"
        return f"{article} at {self.origin}" if self.origin else article

    def question(self, why: str = "") -> str:
        """Return the question for the person. `why` says what was wrong with the previous answer."""
        what = f"An agent asks for {self.what}, on page {self.page_id}, {own_words(self.message)}"
        if self.of_rule:
            what = f"A call on page {self.page_id} waits for you. {self.message}"
        then = "Sign in on that page of the shared browser, then accept." if self.kind == "login" else ""
        if self.kind == "tab":
            what = f"An agent asks for one of your own tabs, {own_words(self.message)}"
            then = "Choose it on the page of this request or at the wall (browse-together show)."
        return "\n".join(filter(None, (why, what, then)))

    def answer_schema(self) -> Json:
        """Return the JSON Schema of an answer: a flat object, which clients can show. It never asks for a password."""
        if self.kind in {"login", "tab"}:
            return {"type": "object", "properties": {}}
        answer: Json = {"type": "string", "title": _ANSWERS.get(self.kind, "Your answer, if there is one")}
        if self.choices:
            answer["enum"] = [*self.choices]
        required: Json = {"required": ["answer"]} if self.kind == "decision" else {}
        return {"type": "object", "properties": {"answer": answer}, **required}

    def next_calls(self, page_id: str) -> str:
        """Return how to wait for the person or withdraw the request, for clients that may have missed the reply with
        its name."""
        wait = next_call("request_human", page_id=page_id, request_id=self.request_id)
        withdraw = next_call("request_human", page_id=page_id, request_id=self.request_id, withdraw=True)
        return f"Wait for them: {wait}; or give it up: {withdraw}."


class Answer(Model):
    """A person's answer to a request: done or refused, or only that somebody is there."""

    state: Literal["there", "done", "refused"]
    text: str = Field(default="", repr=False, description="The answer or the reason; for who asked, and nobody else.")
    by: str = ""


class Parked(Model):
    """Where a page was when its unused window was closed."""

    x: int = 0
    y: int = Field(default=0, description="How far it was scrolled, px.")
    history: int = Field(default=1, description="How many entries its history had.")
    loses: bool = Field(default=False, description="It was acted on: its scripts may have had something in memory.")


class PageState(Model):
    """A page as its host knows it; `holder_id` stays inside the service."""

    page_id: str
    session_id: str
    url: str = "about:blank"
    title: str = ""
    error_page: str = Field(default="", description="Why it shows an error page of the browser's, and not its URL.")
    revision: int = 0
    holder_id: str | None = None
    holder_label: str = ""
    holder_agent: str = Field(default="", description="Which of the holder's agents, as it calls itself.")
    acted_ago_ms: Milliseconds | None = None
    idle_ms: Milliseconds = Field(default=0, description="Since anybody used it.")
    untouched: bool = Field(default=False, description="Blank, and nothing was done to it since it was opened.")
    parked: Parked | None = Field(default=None, description="Its window is closed until somebody uses it.")
    opener_id: str | None = None
    left_by: str = Field(default="", description="The label of the last holder, where nobody holds it now.")
    left_by_id: str | None = Field(default=None, description="Its id, where it did not give the page up but is gone.")
    of_person: bool = Field(default=False, description="A tab that nobody here opened.")
    access: Access = "read"
    lent: Lent | None = Field(default=None, description="What agents may do with a tab that its person shares.")
    lent_to: str | None = Field(default=None, description="The client that it is for, if not all.")
    hold_reason: str = ""
    hold_left_ms: Milliseconds | None = None
    target_id: str = Field(default="", description="The browser's own name of it, by which it is found again there.")
    dialog: str | None = Field(default=None, description="What the page asks and waits to be answered.")
    person: HumanRequestState | None = Field(
        default=None, description="What a person has the page for, above its lease."
    )
    asker_id: str | None = Field(default=None, description="Who asked first, in whose chat it may be answered too.")

    @property
    def shown_url(self) -> str:
        """Return the URL of the document on display."""
        return "chrome-error://chromewebdata/" if self.error_page else self.url

    def private_from(self, client_id: str) -> bool:
        """Return whether the page is private to another client."""
        return self.access == "private" and self.holder_id is not None and self.holder_id != client_id

    def belongs_to(self, client_id: str) -> bool:
        """Return whether the page is the client's own, now or formerly."""
        return client_id in {self.holder_id, self.left_by_id if self.holder_id is None else None}

    def after(self, ms: int) -> "PageState":
        """Return the state after `ms` without any event."""
        ms = max(0, ms)
        left = max(0, (self.hold_left_ms or 0) - ms) or None
        acted = None if self.acted_ago_ms is None else self.acted_ago_ms + ms
        idle, person = self.idle_ms + ms, self.person
        if person is not None:
            person = person.model_copy(update={"asked_ago_ms": person.asked_ago_ms + ms})
        reason = self.hold_reason if left else ""
        held = {"hold_left_ms": left, "hold_reason": reason, "person": person}
        return self.model_copy(update={**held, "acted_ago_ms": acted, "idle_ms": idle})


Engine = Literal["chromium", "firefox", "webkit"]

Permission = Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write"]


class Size(Model):
    """A width and a height in CSS pixels."""

    width: int = Field(default=1920, ge=1, le=10_000)
    height: int = Field(default=1080, ge=1, le=10_000)


class Proxy(Model):
    """A proxy. Its password appears in no reply, record or log."""

    server: str = Field(pattern=r"^((https?|socks[45])://)?[^\s/@]+$", description="http://host:port, or socks5://...")
    username: str | None = None
    password: str | None = Field(default=None, repr=False)


class SessionOptions(Model):
    """How the pages of a session see the world, and are seen."""

    browser_type: Engine | None = Field(default=None, description="The engine; the service's own without.")
    viewport: Size = Size()
    user_agent: str | None = None
    locale: str | None = "en-US"
    timezone: str | None = None
    permissions: list[Permission] = Field(default=[])
    proxy: Proxy | None = None
    own_browser: bool = Field(default=False, description="In a browser to itself.")
    headless: bool | None = Field(default=None, description="Whether it has no windows; as the service's own without.")


class SessionSpec(Model):
    """All that a host needs to open a session. It keeps nothing on disk, so it can do so again."""

    session_id: str
    profile: bool = Field(default=False, description="It is the profile on disk: the shared login.")
    attached: bool = Field(default=False, description="Its browser is a person's own, which runs without us.")
    persistent: bool = Field(default=False, description="Its whole storage is told when it changes, to be kept.")
    options: SessionOptions = SessionOptions()
    state: Json = Field(default={}, repr=False, description="As Playwright has it: cookies, and storage by origin.")
    headers: dict[str, str] = Field(default={}, repr=False, description="What requests of its pages carry besides.")
    init_scripts: dict[str, str] = Field(default={}, repr=False, description="What runs in its documents, by id.")
    permissions: dict[str, list[str]] = Field(default={}, description="What sites were granted, by origin.")
    earlier: list[Json] = Field(default=[], repr=False, description="What it was before, should that not be taken.")
    pages: list[PageState] = Field(default=[])
    former: dict[str, Json] = Field(default={}, repr=False, description="What brings a page back, by its id.")
    lost_by: str = Field(default="", description="How it came away from the host before, in words.")


class Figures(Model):
    """What a host has open, and the memory that it takes."""

    pages: Count = 0
    parked: Count = 0
    sessions: Count = 0
    browsers: Count = 0
    browser_restarts: Count = Field(
        default=0, description="Browsers that ended or hung, and were given up, since the start."
    )
    memory_mb: Count = Field(default=0, description="Of the browsers, as last measured.")
    memory_limit_mb: Count = Field(default=0, description="0 is no limit.")


class PageBlock(Model):
    """The call's page in every reply."""

    page_id: str
    session_id: str
    url: str
    title: str
    revision: int
    owner: "Owner | None" = None
    error_page: str | None = Field(default=None, exclude_if=lambda error_page: error_page is None)
    dialog: str | None = Field(default=None, exclude_if=lambda dialog: dialog is None)


class Owner(Model):
    label: str
    you: bool

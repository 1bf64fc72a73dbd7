"""A call and its outcome: what crosses the seam between the service's front half and a session host."""

import json
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from shared.errors import ErrorBody

Json = dict[str, JsonValue]


class Model(BaseModel):
    """camelCase on the wire, snake_case in Python, nothing unknown accepted."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
    )


class Call(Model):
    """One run of an action, addressed and parsed by the front, performed by a host."""

    call_id: str
    seq: int = Field(description="The front's counter: turns on a page go by it.")
    client_id: str = Field(description="Who calls: the authenticated client, never a name from the body.")
    client_label: str = ""
    recipient: "Person | None" = Field(default=None, description="Whom a page is handed over to.")
    body: Json = Field(description="The action as JSON, with its canonical name under `action`.")
    page_id: str | None = None
    session_id: str | None = None
    state: Json | None = Field(default=None, repr=False, description="What is to be restored, where that is asked.")
    undo: Json | None = Field(
        default=None, repr=False, description="The act is to be taken back: what it left for that."
    )
    by_person: bool = Field(default=False, description="The account's own person acts, whom no hold keeps out.")
    remaining_ms: int = Field(description="Time crosses as what is left, so that clocks need not agree.")
    inline_text: int | None = Field(default=None, description="Characters of text the caller wants in the reply.")


class Person(Model):
    """A client as others are told of it, and as the service knows it."""

    client_id: str
    label: str = ""


Access = Literal["private", "read", "act"]
"""What others may do with a page."""


RequestKind = Literal["login", "code", "decision", "other"]
"""What a person may be asked for."""


class HumanRequest(Model):
    """What a person was asked to do, as everybody may read it who may read the page."""

    request_id: str
    kind: RequestKind
    origin: str = ""
    message: str = ""
    choices: list[str] = []
    page_id: str
    session_id: str
    asked_by: str = ""
    joined_by: list[str] = Field(default=[], description="The labels of those who wait for the same.")
    asked_ago_ms: int = 0
    link: str = Field(default="", repr=False, description="Path of the page to answer on, with its key: for people.")

    @property
    def what(self) -> str:
        """In words: a login at https://shop.example."""
        article = "something" if self.kind == "other" else f"a {self.kind}"
        return f"{article} at {self.origin}" if self.origin else article

    def next_calls(self, page_id: str) -> str:
        """What those who asked can do, who may have missed the reply that named the request."""
        named = {"pageId": page_id, "requestId": self.request_id}
        wait, withdraw = (f"request_human {json.dumps(each)}" for each in (named, {**named, "withdraw": True}))
        return f"Wait for them: {wait}; or give it up: {withdraw}."


class Answer(Model):
    """What a person says to a request: that it is done or refused, or only that somebody is there."""

    state: Literal["there", "done", "refused"]
    text: str = Field(default="", repr=False, description="The answer or the reason; for who asked, and nobody else.")
    by: str = ""


class Parked(Model):
    """Where a page was when its window was closed because nobody used it."""

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
    revision: int = 0
    holder_id: str | None = None
    holder_label: str = ""
    holder_agent: str = Field(default="", description="Which of the holder's agents, as it calls itself.")
    acted_ago_ms: int | None = None
    idle_ms: int = Field(default=0, description="Since anybody used it.")
    untouched: bool = Field(default=False, description="Blank, and nothing was done to it since it was opened.")
    parked: Parked | None = Field(default=None, description="Its window is closed until somebody uses it.")
    opener_id: str | None = None
    left_by: str = Field(default="", description="The label of the last holder, where nobody holds it now.")
    left_by_id: str | None = Field(default=None, description="Its id, where it did not give the page up but is gone.")
    of_person: bool = Field(default=False, description="A tab that nobody here opened.")
    access: Access = "read"
    hold_reason: str = ""
    hold_left_ms: int | None = None
    target_id: str = Field(default="", description="The browser's own name of it, by which it is found again there.")
    dialog: str | None = Field(default=None, description="What the page asks and waits to be answered.")
    person: HumanRequest | None = Field(default=None, description="What a person has the page for, above its lease.")
    asker_id: str | None = Field(default=None, description="Who asked first, in whose chat it may be answered too.")

    def later(self, ms: int) -> "PageState":
        """The same after so long a time in which nothing happened."""
        left = max(0, (self.hold_left_ms or 0) - ms) or None
        person = self.person
        if person is not None:
            person = person.model_copy(update={"asked_ago_ms": person.asked_ago_ms + ms})
        reason = self.hold_reason if left else ""
        return self.model_copy(update={"hold_left_ms": left, "hold_reason": reason, "person": person})


class Notice(Model):
    """One line about what happened to a client's pages, given with its next reply."""

    text: str
    page_id: str | None = None


class CallState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Undoable(Model):
    """An act that can be taken back, and what that takes. Kept in memory alone: it has the values that were lost."""

    body: Json = Field(repr=False, description="The act, which the same rules hold for when it is taken back.")
    page_id: str | None = None
    session_id: str | None = None
    what: str = Field(description="What it did, for who may undo it.")
    state: Json = Field(repr=False, description="What was before, and what the act made of it.")
    lost: bool = Field(default=True, description="Something was lost by it: its reply tells the way back.")


class Outcome(Model):
    """What a host answers: a result or an error, never both."""

    call_id: str
    result: Json | None = None
    error: ErrorBody | None = None
    page: PageState | None = None
    notices: list[Notice] = []
    url_before: str | None = Field(default=None, description="Where the page was; none where nothing began.")
    requests: list[Json] = Field(default=[], description="Those sent meanwhile that change things, however it ended.")
    suspended: bool = Field(default=False, description="A dialog keeps the call from its end, which will be told.")
    undo: list[Undoable] = Field(default=[], repr=False, description="What of it can be taken back, in order.")

    @property
    def state(self) -> CallState:
        return CallState.FAILED if self.error else CallState.DONE


def weight(value: JsonValue) -> int:
    """About how many bytes a value holds: what is kept is bounded by it."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(weight, value)) + 8
    return sum(len(key) + weight(item) for key, item in value.items()) if isinstance(value, dict) else 8


class Preview(Model):
    """A large picture as one that can be shown: smaller, or a slice of it."""

    mime_type: str
    width: int
    height: int
    data: str = Field(repr=False)
    said: str = Field(default="", description="How it differs from the whole, in words.")
    cursor: str | None = Field(default=None, description="What `screenshot` shows the rest by.")


class Artifact(Model):
    """Bytes that an action made, kept under an id; `data` is base64 where it is small enough to go along."""

    artifact_id: str
    mime_type: str
    size: int = Field(description="Bytes.")
    url: str = Field(description="Path below the service's address: GET it with the same token.")
    name: str | None = Field(default=None, description="What it is called in BROWSE_OUTPUT_DIR.")
    path: str | None = Field(default=None, description="Where that is, on the service's machine.")
    secret: bool | None = Field(default=None, description="It is not for a model to read.")
    data: str | None = None
    preview: Preview | None = Field(default=None, description="Of a picture that is too large to go along whole.")


class DownloadState(Model):
    """A file that a page downloads; `client_id` stays inside the service."""

    download_id: str
    client_id: str
    page_id: str
    url: str
    name: str
    began_at: str = Field(description="In ISO 8601 and UTC.")
    state: Literal["running", "finished", "failed", "cancelled"] = "running"
    size: int | None = Field(default=None, description="Bytes that have come.")
    mime_type: str | None = None
    artifact_id: str | None = None
    path: str | None = Field(default=None, description="Where the file is, on the service's machine.")
    file: str | None = Field(default=None, description="Path below the service's address: GET it with the same token.")
    reason: str | None = Field(default=None, description="Why it did not come.")

    def shown(self) -> Json:
        return self.model_dump(mode="json", exclude={"client_id"}, exclude_none=True)

    @property
    def line(self) -> str:
        """In words: download report.csv finished (1,234 bytes): file art-1."""
        if self.state == "finished":
            return f"download {self.name} finished ({self.size:,} bytes): file {self.artifact_id}"
        if self.state == "running":
            return f"download {self.name} began; list_downloads {{}} tells its end"
        return f"download {self.name} {'was cancelled' if self.state == 'cancelled' else 'failed'}: {self.reason}"


Engine = Literal["chromium", "firefox", "webkit"]
Permission = Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write"]


class Size(Model):
    """In CSS pixels."""

    width: int = Field(default=1920, ge=1, le=10_000)
    height: int = Field(default=1080, ge=1, le=10_000)


class Proxy(Model):
    """Its password is in no reply, record or log."""

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
    permissions: list[Permission] = []
    proxy: Proxy | None = None
    own_browser: bool = Field(default=False, description="In a browser to itself.")
    headless: bool | None = Field(default=None, description="Whether it has no windows; as the service's own without.")


class SessionSpec(Model):
    """Everything a host needs to have a session, complete and idempotent: it keeps nothing of its own on disk."""

    session_id: str
    profile: bool = Field(default=False, description="It is the profile on disk: the shared login.")
    persistent: bool = Field(default=False, description="Its whole storage is told when it changes, to be kept.")
    options: SessionOptions = SessionOptions()
    state: Json = Field(default={}, repr=False, description="As Playwright has it: cookies, and storage by origin.")
    headers: dict[str, str] = Field(default={}, repr=False, description="What requests of its pages carry besides.")
    init_scripts: dict[str, str] = Field(default={}, repr=False, description="What runs in its documents, by id.")
    permissions: dict[str, list[str]] = Field(default={}, description="What sites were granted, by origin.")
    earlier: list[Json] = Field(default=[], repr=False, description="What it was before, should that not be taken.")
    pages: list[PageState] = []
    former: dict[str, Json] = Field(default={}, repr=False, description="What brings a page back, by its id.")


class Figures(Model):
    """What a host has open, and what that weighs."""

    pages: int
    parked: int
    browsers: int
    memory_mb: int = Field(description="Of the browsers, as last measured.")
    memory_limit_mb: int = Field(description="0 is no limit.")


class PageOpened(Model):
    kind: Literal["page_opened"] = "page_opened"
    seq: int = 0
    page: PageState


class PageChanged(Model):
    """URL, title or holder of a page changed."""

    kind: Literal["page_changed"] = "page_changed"
    seq: int = 0
    page: PageState


class PageClosed(Model):
    kind: Literal["page_closed"] = "page_closed"
    seq: int = 0
    page_id: str
    session_id: str


class PageRetired(Model):
    """A page that nobody had any more was closed to make room for another one; it can be had back."""

    kind: Literal["page_retired"] = "page_retired"
    seq: int = 0
    page: PageState = Field(description="As it was.")
    undo: Undoable = Field(repr=False)
    newcomer: Person | None = Field(default=None, description="Whose page needed the room.")


class CallMoved(Model):
    """A call waits or runs: what a progress message is made of."""

    kind: Literal["call_moved"] = "call_moved"
    seq: int = 0
    call_id: str
    client_id: str
    state: CallState
    position: int = 0
    behind: str = ""
    elapsed_ms: int = 0
    request: HumanRequest | None = Field(default=None, description="What a person is waited for.")


class PageMoved(Model):
    """A page opened, changed or closed: told to every client that may know of it."""

    page_id: str
    session_id: str
    revision: int = 0


class CallEnded(Model):
    """The end of a call that was suspended when it replied."""

    kind: Literal["call_ended"] = "call_ended"
    seq: int = 0
    client_id: str
    outcome: Outcome


class NoticeGiven(Model):
    kind: Literal["notice"] = "notice"
    seq: int = 0
    client_id: str = Field(description="Whose it is; empty where it concerns all.")
    notice: Notice


class StateSaved(Model):
    """A session's logins as they are now, for the journal."""

    kind: Literal["state"] = "state"
    seq: int = 0
    session_id: str
    name: str = Field(default="", description="That it was saved under on demand; what comes back by itself has none.")
    state: Json = Field(repr=False)


class Throttled(Model):
    """A site answered a page's document, or a `fetch`, with 429, or with 503 and a Retry-After."""

    kind: Literal["throttled"] = "throttled"
    seq: int = 0
    url: str
    status: int
    retry_after: str | None = Field(default=None, description="The header as it came: seconds, or a date.")
    client_id: str | None = Field(default=None, description="Who met it: whose call runs there, or who holds the page.")
    client_label: str = ""


class DownloadMoved(Model):
    """A download began, came on, or ended."""

    kind: Literal["download"] = "download"
    seq: int = 0
    download: DownloadState


HostEvent = Annotated[
    PageOpened
    | PageChanged
    | PageClosed
    | PageRetired
    | CallMoved
    | CallEnded
    | NoticeGiven
    | StateSaved
    | Throttled
    | DownloadMoved,
    Field(discriminator="kind"),
]


class EventBatch(Model):
    """What `events_after` answers: the events past a sequence number, and who said so."""

    incarnation: str
    events: list[HostEvent] = []
    last_seq: int = 0


class PageBlock(Model):
    """The `page` of every reply."""

    page_id: str
    session_id: str
    url: str
    title: str
    revision: int
    owner: "Owner | None" = None
    dialog: str | None = Field(default=None, exclude_if=lambda dialog: dialog is None)


class Owner(Model):
    label: str
    you: bool


class ActivityRecord(Model):
    """What one client did, as another may read it: its label, never its id; no typed text, no secrets."""

    id: int
    time: str = Field(description="When it ended, in ISO 8601 and UTC.")
    client: str
    you: bool
    action: str
    arguments: Json = {}
    page_id: str | None = None
    session_id: str | None = None
    url_before: str | None = None
    url_after: str | None = Field(default=None, description="Where the page was afterwards, if elsewhere.")
    requests: list[Json] = Field(default=[], description="Those that change things: method, url, status.")
    outcome: str = Field(description="ok, or the code of the error.")
    duration_ms: int
    call_id: str

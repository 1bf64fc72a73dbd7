"""The events that a host sends to the front half, in the order in which they happened."""

from typing import Annotated, Literal

from pydantic import Field

from browse_together.contract.calls import CallState, ClientRef, DownloadState, Notice, Outcome
from browse_together.contract.model import Json, Model
from browse_together.contract.pages import HumanRequestState, PageState

_SECOND_MS = 1000


class _Event(Model):
    seq: int = 0


class PageOpened(_Event):
    kind: Literal["page_opened"] = "page_opened"
    page: PageState


class PageChanged(_Event):
    """The URL, title or holder of a page changed."""

    kind: Literal["page_changed"] = "page_changed"
    page: PageState


class PageClosed(_Event):
    kind: Literal["page_closed"] = "page_closed"
    page_id: str
    session_id: str


class PageRetired(_Event):
    """A page without a holder was closed to make room for another."""

    kind: Literal["page_retired"] = "page_retired"
    page: PageState = Field(description="As it was.")
    newcomer: ClientRef | None = Field(default=None, description="Whose page needed the room.")


class CallMoved(_Event):
    """A call waits or runs. Progress messages come from it."""

    kind: Literal["call_moved"] = "call_moved"
    call_id: str
    client_id: str
    state: CallState
    position: int = 0
    behind: str = ""
    waits_for: str = Field(default="", description="What it waits for before it can stand in a line.")
    elapsed_ms: int = 0
    request: HumanRequestState | None = Field(default=None, description="What a person is waited for.")
    people_url: str = Field(default="", description="Where people reach the service, if its settings say so.")

    @property
    def progress(self) -> str:
        """Return the move in words, such as "2nd in the queue"."""
        if self.waits_for:
            return f"waiting for {self.waits_for}"
        if self.state is CallState.QUEUED:
            return f"{_ordinal(self.position)} in the queue" + (f", behind {self.behind}" if self.behind else "")
        if self.request is not None:
            return f"waiting for a person: {self.request.what}"
        return "running" + (f", {self.elapsed_ms // _SECOND_MS} s" if self.elapsed_ms >= _SECOND_MS else "")


class CallFollowed(Model):
    """How far a call is, for whoever follows it by its id."""

    call_id: str
    action: str
    began_at: float = Field(description="Unix time in seconds.")
    elapsed_ms: int
    has_replied: bool = False
    kept_ms: int = Field(description="For how long its reply can be had after its end.")
    progress: str = ""
    request: HumanRequestState | None = Field(default=None, description="What a person is waited for.")
    people_url: str = Field(default="", description="Where people reach the service, if its settings say so.")


class PageMoved(Model):
    """A page was opened, changed or closed; for every client that may know of it."""

    page_id: str
    session_id: str
    revision: int = 0


class CallEnded(_Event):
    """The end of a call that a dialog had suspended when it replied."""

    kind: Literal["call_ended"] = "call_ended"
    client_id: str
    outcome: Outcome


class NoticeGiven(_Event):
    kind: Literal["notice"] = "notice"
    client_id: str = Field(description="Whose it is; empty where it concerns all.")
    notice: Notice


class RequestOver(_Event):
    """What an agent asked a person for is answered, or is asked no more. What the person wrote is not told."""

    kind: Literal["request_over"] = "request_over"
    request: HumanRequestState = Field(description="As it was.")
    client_id: str = Field(description="Who asked first.")
    state: str = Field(max_length=20, description="done, refused, expired, withdrawn or closed.")
    by: str = Field(default="", max_length=100, description="The name of the person who answered.")
    chosen: str = Field(default="", max_length=100, description="Which of the request's choices they made.")


class LoginOver(_Event):
    """A page of a session led to a site's page to sign in, though the session had a login there."""

    kind: Literal["login_over"] = "login_over"
    session_id: str
    site: str = Field(pattern=r"^[^\s/]{1,255}$")


class StateSaved(_Event):
    """A session's logins changed."""

    kind: Literal["state"] = "state"
    session_id: str
    name: str = Field(default="", description="That it was saved under on demand; what comes back by itself has none.")
    client_id: str = Field(default="", description="Who saved it under that name, and alone may do so again.")
    state: Json = Field(repr=False)


class SessionTold(_Event):
    """What else only a host elsewhere has of a session: the front opens it again from this, should the host be
    lost."""

    kind: Literal["session_told"] = "session_told"
    session_id: str
    headers: dict[str, str] = Field(default={}, repr=False)
    init_scripts: dict[str, str] = Field(default={}, repr=False)
    permissions: dict[str, list[str]] = Field(default={})
    former: dict[str, Json] = Field(default={}, repr=False, description="What brings pages that changed back, by id.")


class DownloadMoved(_Event):
    """A download began, progressed or ended."""

    kind: Literal["download"] = "download"
    download: DownloadState


HostEvent = Annotated[
    PageOpened
    | PageChanged
    | PageClosed
    | PageRetired
    | CallMoved
    | CallEnded
    | NoticeGiven
    | RequestOver
    | LoginOver
    | StateSaved
    | SessionTold
    | DownloadMoved,
    Field(discriminator="kind"),
]


class EventBatch(Model):
    """The answer to `events_after`: the events past a sequence number, and the host that sent them."""

    incarnation: str
    events: list[HostEvent] = Field(default=[])
    last_seq: int = 0
    oldest_seq: int = Field(default=0, description="Of the events that the host still has; older ones are lost.")


def _ordinal(number: int) -> str:
    teens = range(11, 14)
    return f"{number}{'th' if number % 100 in teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"

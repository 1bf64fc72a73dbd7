"""Calls and their outcomes, as they pass between the service's front half and a session host."""

from enum import StrEnum
from mimetypes import guess_type
from typing import Final, Literal

from pydantic import ConfigDict, Field

from browse_together.contract.errors import ErrorBody
from browse_together.contract.model import Json, Model
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import PageState
from browse_together.contract.quoting import quoted
from browse_together.contract.wire import PDF


class ClientRef(Model):
    """A client: its authenticated id, and the label that others read. The label is no authority."""

    model_config = ConfigDict(frozen=True)

    client_id: str
    label: str = ""

    @property
    def named(self) -> str:
        """Return the label, or a phrase for a client without one."""
        return self.label or "another client"


SEVERAL: Final = ""
"""An unknown origin: as the first of a pair any that was read, as the second any site."""

Pair = tuple[str, str]
"""The origin where something was read, and the one where it would be sent."""


class Guard(Model):
    """What a call of a guarded chat could take from one origin to another, and what of that a person allowed."""

    read: list[str] = Field(description="Origins that its chat has read.")
    allowed: list[Pair] = Field(default=[])

    def unallowed(self, sources: set[str], towards: set[str]) -> list[Pair]:
        """Return the pairs that a person must allow before something from `sources`, or from the origins already read,
        goes to `towards`."""
        pairs = {(source, to) for to in towards for source in sources | {*self.read}} - {*self.allowed}
        return sorted(pair for pair in pairs if SEVERAL in pair or not _is_same_site(*pair))


def _is_same_site(source: str, to: str) -> bool:
    """Return whether two origins count as one site: `www.` and a change to https make no difference."""
    source, to = (origin.replace("://www.", "://", 1) for origin in (source, to))
    return to in {source, source.replace("http://", "https://", 1)}


ASKING: Final = "~ask"
"""In the id of a question to a person, follows the id of the call that asks: for the client, it is that call which
waits. No client can choose such an id."""


class PageLimit(Model):
    """How many pages the clients of one token may have at once."""

    model_config = ConfigDict(frozen=True)

    most: int
    token: str


class Call(Model):
    """One run of an action, which the front addresses and a host performs."""

    call_id: str
    seq: int = Field(description="The front's counter: turns on a page go by it.")
    client_id: str = Field(description="Who calls: the authenticated client, never a name from the body.")
    client_label: str = ""
    recipient: ClientRef | None = Field(default=None, description="Whom a page is handed over to.")
    body: Json = Field(description="The action as JSON, with its canonical name under `action`.")
    page_id: str | None = None
    session_id: str | None = None
    opens: bool = Field(
        default=False, description="It may open its page where there is none: its name, session and right are decided."
    )
    state: Json | None = Field(default=None, repr=False, description="What is to be restored, where that is asked.")
    copied_sites: list[str] | None = Field(
        default=None,
        description="The logins go to a new session, by the front and not in a file: the origins whose storage goes.",
    )
    origins: list[str] = Field(default=[], description="Where the caller may read and act; everywhere without.")
    page_limit: PageLimit | None = Field(
        default=None, description="How many pages the caller may have; no limit without."
    )
    hides_cookies: bool = Field(default=False, description="The caller gets the names of cookies, and not the values.")
    secrets: dict[str, NamedSecret] = Field(
        default={}, repr=False, description="Those that the action names, by their names."
    )
    confirmed: list[str] = Field(default=[], description="Keys of what a person has confirmed of it.")
    guard: Guard | None = Field(default=None, description="Of a guarded chat alone.")
    by_person: bool = Field(default=False, description="The account's own person acts, whom no hold keeps out.")
    inline_text: int | None = Field(default=None, description="Characters of text the caller wants in the reply.")
    continues: bool = Field(default=False, description="More steps of the same batch follow.")

    @property
    def client(self) -> ClientRef:
        return ClientRef(client_id=self.client_id, label=self.client_label)


class Notice(Model):
    """One line about what happened to a client's pages, sent with its next reply."""

    text: str
    page_id: str | None = None


class CallState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class AsOf(Model):
    """A moment of a host: its incarnation, and the number of its last event."""

    model_config = ConfigDict(frozen=True)

    incarnation: str
    seq: int = 0


class Outcome(Model):
    """A host's answer: a result or an error, never both."""

    call_id: str
    result: Json | None = None
    error: ErrorBody | None = None
    page: PageState | None = None
    notices: list[Notice] = Field(default=[])
    url_before: str | None = Field(default=None, description="Where the page was; none where nothing began.")
    requests: list[Json] = Field(default=[], description="Those sent meanwhile that change things, however it ended.")
    read_at: list[str] = Field(default=[], description="URLs that a guarded chat may have read by it.")
    suspended: bool = Field(default=False, description="A dialog keeps the call from its end, which will be told.")
    taken_logins: list[Json] = Field(
        default=[],
        repr=False,
        description="What its acts took of the session's logins, in order; or read, to be copied.",
    )
    targets: dict[str, list[str]] = Field(
        default={}, description="How the elements that it named are found again, the most lasting selector first."
    )
    secret_fields: list[str] = Field(default=[], description="The selectors of its fields for secrets.")
    page_tools: list[Json] = Field(default=[], description="What each tool of the page that it called has to take.")
    came: list[str] = Field(default=[], description="What appeared by it: messages and dialogs of the page.")
    popups: list[str] = Field(default=[], description="The windows that it opened.")
    files: list[str] = Field(default=[], description="The names of the files that it downloaded.")
    answered: bool = Field(default=False, description="It caused dialogs, and they were answered before its end.")
    waited_ms: int | None = Field(default=None, description="How long it waited for its turn; none if it took none.")
    as_of: AsOf | None = Field(default=None, description="When its host gave it; none if no host did.")

    @property
    def state(self) -> CallState:
        return CallState.FAILED if self.error else CallState.DONE


class Preview(Model):
    """A large picture, reduced, or a slice of it."""

    mime_type: str
    width: int
    height: int
    data: str = Field(repr=False)
    said: str = Field(default="", description="How it differs from the whole, in words.")
    cursor: str | None = Field(default=None, description="What `screenshot` shows the rest by.")


class Artifact(Model):
    """A file that an action made; `data` has it in base64 if it is small enough for a reply."""

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
        """Return the state in words, such as "download report.csv finished (1,234 bytes): file art-1"."""
        name = quoted(self.name)
        if self.state == "finished":
            text = (
                f"; its text: {next_call('content', cursor=f'{self.artifact_id}:0')}" if self.mime_type == PDF else ""
            )
            named, wrapped = guess_type(self.name)
            is_other = named and not wrapped and self.mime_type not in {named, None}
            other = f" of {self.mime_type}" if is_other else ""
            return f"download {name} finished ({self.size:,} bytes{other}): file {self.artifact_id}{text}"
        if self.state == "running":
            return f"download {name} began; {next_call('list_downloads', wait=30_000)} tells its end"
        return f"download {name} {'was cancelled' if self.state == 'cancelled' else 'failed'}: {self.reason}"


class ActivityRecord(Model):
    """One client's act, for other clients: with its label, never its id; without typed text and secrets."""

    id: int
    time: str = Field(description="When it ended, in ISO 8601 and UTC.")
    client: str
    colour: str | None = Field(default=None, description="The colour of whoever acted, wherever owners are shown.")
    you: bool
    action: str
    arguments: Json = Field(default={})
    page_id: str | None = None
    session_id: str | None = None
    url_before: str | None = None
    url_after: str | None = Field(default=None, description="Where the page was afterwards, if elsewhere.")
    requests: list[Json] = Field(default=[], description="Those that change things: method, url, status.")
    via: str | None = Field(default=None, description="The step of a flow that it was.")
    targets: dict[str, list[str]] | None = Field(default=None, description="For flows: how its elements are found.")
    secret_fields: list[str] | None = Field(default=None, description="For flows: its fields for secrets.")
    page_tools: list[Json] | None = Field(default=None, description="For flows: what the page's tools have to take.")
    came: list[str] | None = Field(default=None, description="For flows: what appeared by it.")
    popups: list[str] | None = Field(default=None, description="For flows: the windows that it opened.")
    files: list[str] | None = Field(default=None, description="For flows: the names of what it downloaded.")
    answered: bool | None = Field(default=None, description="For flows: its dialogs were answered before its end.")
    done: int | None = Field(default=None, description="For flows: how many of its parts were done before it failed.")
    outcome: str = Field(description="ok, or the code of the error.")
    stopped: bool | None = Field(default=None, description="It was refused because a person had stopped the client.")
    duration_ms: int
    call_id: str

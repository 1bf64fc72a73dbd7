"""The seam between the two halves of the spine: every value passes through JSON."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pydantic import Field, InstanceOf

from browse_together.contract import catalogue
from browse_together.contract.actions.base import Action
from browse_together.contract.attached import AttachmentState, AttachTarget, PersonTab, TabShare
from browse_together.contract.calls import Artifact, Call, ClientRef, Outcome
from browse_together.contract.errors import ErrorBody
from browse_together.contract.events import EventBatch
from browse_together.contract.frames import ActPicture, Frame, Pointed, View
from browse_together.contract.pages import Answer, Figures, PageState, SessionOptions, SessionSpec
from browse_together.contract.strokes import Strokes
from browser_service.security.act_rules import ActRules


class CallKey(NamedTuple):
    """A call's name on both sides of the seam: a client's own callId means nothing to other clients."""

    client_id: str
    call_id: str

    def __str__(self) -> str:
        return f"{self.client_id}/{self.call_id}"

    @classmethod
    def parse(cls, text: str) -> "CallKey":
        """Read what `str` wrote: neither of the two ids has a slash."""
        client_id, _, call_id = text.rpartition("/")
        return cls(client_id, call_id)


class ParsedCall(Call):
    """A call with its action: a host in this process need not parse that again. JSON leaves it out."""

    action: InstanceOf[Action] | None = Field(default=None, exclude=True, repr=False)


def action_of(call: Call) -> Action:
    """Return the action of a call. Raises what `catalogue.parse` raises if another version's front half sent it."""
    action = call.action if isinstance(call, ParsedCall) else None
    return action or catalogue.parse(call.body)


class SessionHost(Protocol):
    """What the front asks of a host. Every value passes through JSON, so that a host may be elsewhere. Any method may
    raise HostGone (shared.errors), and nothing else."""

    async def start(self) -> None:
        """Begin to work, once the sessions that are known at the start are open."""

    async def stop(self) -> list[SessionSpec]:
        """End in good order, and return the specs that open the sessions again. Its last events come before that."""

    async def end_calls(self) -> None:
        """Make running calls reply now, because the service ends. What has not begun did not happen."""

    async def run(self, call: Call) -> Outcome:
        """Perform a call. The same callId again joins the run, or gets its outcome."""

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        """Return why a session with these options can have no browser, as far as is known without starting one."""

    async def open(self, spec: SessionSpec) -> None:
        """Open a session, with its pages as they were. One that is open stays as it is, and is told anew."""

    async def close(self, session_id: str) -> SessionSpec | None:
        """Close a session, and return the spec that opens it again as it was; None if there is no such session. The
        answer stays the same until `settle`."""

    async def settle(self, session_id: str) -> None:
        """Forget the spec of a closed session, because it has arrived. Idempotent."""

    async def cancel(self, call_id: str) -> None:
        """Stop a call, even one that has not arrived yet. Idempotent."""

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        """Release the leases that a client has not used since `before_seq`, a number of the front's; with `for_good`,
        also those that it keeps by a hold. Idempotent."""

    async def rename(self, client: ClientRef, former: str) -> None:
        """Call a client by another label than its former one, wherever the host names it. Idempotent."""

    async def forget(self, client_ids: list[str], labels: list[str]) -> None:
        """Name none of these clients as the one that left a page. Where the id is not known, the label tells, which
        is given without regard to case. What a client still holds stays in its name. Idempotent."""

    async def answer(self, request_id: str, answer: Answer) -> bool:
        """Take a person's answer to a request, and return whether that was still open."""

    async def discard(self, page_id: str, idle_ms: int) -> None:
        """Close a page that nobody has used for `idle_ms`, and that is still blank. Idempotent."""

    async def describe(self) -> list[PageState]: ...

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        """Return a page's frame once it differs from the one at `seq`, or after `wait_ms`: the newest picture, and none
        in between. None if there is no such page. Pictures are taken only while somebody asks."""

    async def refusal_to_read(self, call: Call) -> ErrorBody | None:
        """Return why a call may not read its page as it is now, if it may not."""

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        """Replay a person's hand on a page that they have taken, once. Returns why it could not be done, if so."""

    async def point(self, page_id: str, x: float, y: float, *, picks: bool) -> Pointed:
        """Measure the element at a point of a page's viewport, in CSS pixels. If a person `picks` it, the page's agent
        may use its ref."""

    async def figures(self) -> Figures: ...

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch: ...


class PersonsBrowser(Protocol):
    """What the front asks the host in its own process about the browser in which a person lives. No host elsewhere has
    one. Any method may raise a BrowseError."""

    def choose(self, target: AttachTarget) -> None:
        """Note which browser a session has, to attach to once a call needs it. Asks nobody."""

    async def attach(self, target: AttachTarget) -> None:
        """Attach now, as a person asks for it. Returns once that is done, or the browser asks its person."""

    async def detach(self, session_id: str) -> None:
        """Let a session's browser go, with all tabs as they are. The front closes the session before."""

    async def attachment(self, session_id: str) -> AttachmentState: ...

    def count_unshared(self) -> int:
        """Return how many tabs the person keeps to themselves."""

    async def tabs(self) -> list[PersonTab]:
        """Return the person's tabs, shared or not, as the browser lists them."""

    async def share_tab(self, share: TabShare) -> PageState:
        """Make a page of a person's tab. One that is shared already gets the new access."""

    async def unshare_tab(self, tab_id: str) -> list[PageState]:
        """Take a shared tab from all agents at once, with those whose scripts can reach it, and leave them as they are.
        Idempotent. Returns the pages that they were."""


class ArtifactPort(Protocol):
    """The place where a host hands over its bytes, because it has no disk of its own."""

    async def put(
        self, data: bytes, mime_type: str, client_id: str, *, inline: bool = True, name: str = "", searched: bool = True
    ) -> Artifact:
        """Keep bytes, without secrets in those that are `searched`. With a name, people find the file in the output
        directory."""

    async def conceal(self, text: str) -> str:
        """Return a text without the secrets that this process knows. The front removes the others from all that it
        gets."""

    async def take(self, path: Path, mime_type: str, client_id: str, *, name: str = "") -> Artifact:
        """Keep a site's file, which the browser wrote, as it is, by moving it."""

    async def data(self, artifact_id: str, client_id: str | None) -> tuple[bytes, str]:
        """Return the bytes and the MIME type of a client's file; the client None is the account's own person."""

    async def describe(self, artifact_id: str, client_id: str | None) -> Artifact:
        """Return a file's kind, place and size, without its bytes."""

    async def text(self, artifact_id: str, client_id: str | None) -> str: ...

    async def keep_picture(self, client_id: str, call_id: str, picture: ActPicture) -> None:
        """Keep the small picture of a page after an act, for the record."""

    async def upload(self, name: str, most: int) -> bytes:
        """Read a file of the upload folders, of `most` bytes at most."""


class Idle(NamedTuple):
    """The seconds for which something may be idle before it is closed."""

    page_s: float = 1_800
    """0 is for ever."""
    page_abandoned_s: float = 600
    """Applies if the client that had the page is gone."""
    page_in_need_s: float = 120
    """Applies if memory is short."""
    browser_s: float = 300
    browsers_kept: int = 1
    spare_s: float = 0
    """Applies to a blank window that is kept ready; 0 means that there is none."""


@dataclass(frozen=True)
class HostLimits:
    idle_lease_ms: int = 120_000
    queue_wait_ms: int = 10_000
    max_pages: int = 100
    dialog_wait_ms: int = 30_000
    download_max_mb: int = 500
    session_pages: int = 0
    """0 is no limit."""
    client_pages: int = 0
    """Applies to popups, which no client asks for; 0 is no limit."""
    page_popups: int = 10
    """The most popups that a page may have open, together with the popups of these; 0 is no limit."""
    act_rules: ActRules = field(default_factory=ActRules)
    """The owner's rules on which acts a person confirms."""
    memory_mb: int | None = None
    """None is a share of the memory that there is; 0 is no limit."""
    idle: Idle = field(default_factory=Idle)
    save_every_ms: int = 30_000
    timeline: Literal["thumbnails", "watched", "off"] = "watched"
    """Which acts get a picture for the record."""
    elsewhere: bool = False
    """True outside the front's process: the host may be lost, and tells the front all that only it has."""

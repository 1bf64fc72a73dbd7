"""Declares the seam between the two halves of the spine: every value passes through JSON."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from pydantic import Field, InstanceOf

from browser_service.security.act_rules import ActRules
from shared import catalogue
from shared.actions.base import Action
from shared.calls import Call, Outcome
from shared.errors import ErrorBody
from shared.events import EventBatch
from shared.frames import Frame, View
from shared.pages import Answer, Figures, PageState, SessionOptions, SessionSpec
from shared.strokes import Strokes


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
    """Return what a call asks for. Raises what `catalogue.parse` does for one of another version's front half."""
    action = call.action if isinstance(call, ParsedCall) else None
    return action or catalogue.parse(call.body)


class SessionHost(Protocol):
    """What the front asks of a host. Every value passes through JSON, so that a host may be elsewhere."""

    async def run(self, call: Call) -> Outcome:
        """Perform a call. The same callId again joins the run, or gets its outcome."""

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        """Return why a session of these options can have no browser, as far as that is known without starting it."""

    async def open(self, spec: SessionSpec) -> None:
        """Have a session, with its pages as they were. Idempotent."""

    async def close(self, session_id: str) -> SessionSpec | None:
        """Close a session, and return the spec that opens it again as it was; None where it is closed already."""

    async def cancel(self, call_id: str) -> None:
        """Stop a call, also one that has not arrived yet. Idempotent."""

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        """Release the leases that a client has not used since `before_seq`, in the front's order: `for_good` also
        those that it keeps by a hold. Idempotent."""

    async def answer(self, request_id: str, answer: Answer) -> bool:
        """Take a person's answer to a request, and return whether that was still open."""

    async def discard(self, page_id: str, idle_ms: int) -> None:
        """Close a page that nobody has used for so long, and on which nothing was done. Idempotent."""

    async def describe(self) -> list[PageState]: ...

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        """Return what a page looks like once that differs from what it was at `seq`, or when the time is over: the
        newest picture, and none between. None where there is no such page. Pictures are made while somebody asks."""

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        """Do what a person's hand does on a page that they have taken, once. Returns why it could not be done."""

    async def figures(self) -> Figures: ...

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch: ...


class Idle(NamedTuple):
    """For how many seconds something may be idle before it is closed."""

    page_s: float = 1_800
    """0 is for ever."""
    page_abandoned_s: float = 600
    """Counts if the client that had the page is gone."""
    page_in_need_s: float = 120
    """Counts if memory is short."""
    browser_s: float = 300
    browsers_kept: int = 1
    spare_s: float = 0
    """Counts for a blank window that is kept ready; 0 is that there is none."""


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
    """Counts for popups, which nobody asks for; 0 is no limit."""
    page_popups: int = 10
    """A page, with the popups of its popups, has at most so many open; 0 is no limit."""
    act_rules: ActRules = field(default_factory=ActRules)
    """The owner's, who says which acts a person confirms."""
    memory_mb: int | None = None
    """None is a share of what there is; 0 is no limit."""
    idle: Idle = field(default_factory=Idle)
    save_every_ms: int = 30_000
    invisible_text: Literal["drop", "mark", "keep"] = "drop"
    timeline: Literal["thumbnails", "watched", "off"] = "watched"
    """Says which acts are pictured for the record."""

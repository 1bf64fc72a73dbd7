"""The seam between the two halves of the spine: every value passes through JSON."""

from dataclasses import dataclass
from typing import Protocol

from shared.calls import Answer, Call, EventBatch, Outcome, PageState, SessionSpec


class SessionHost(Protocol):
    """Where sessions live. Every value passes through JSON, so that a host may be elsewhere."""

    async def run(self, call: Call) -> Outcome:
        """Perform a call. The same callId again joins the run, or gets its outcome."""

    async def open(self, spec: SessionSpec) -> None:
        """Have a session, with its pages as they were. Idempotent."""

    async def close(self, session_id: str) -> None: ...

    async def cancel(self, call_id: str) -> None:
        """Stop a call, also one that has not arrived yet. Idempotent."""

    async def release(self, client_id: str, before_seq: int) -> None:
        """A client was gone at that point of the front's order: leases that it has not used since lapse. Idempotent."""

    async def answer(self, request_id: str, answer: Answer) -> bool:
        """What a person says to a request; whether that was still open."""

    async def describe(self) -> list[PageState]: ...

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch: ...


@dataclass(frozen=True)
class HostLimits:
    idle_lease_ms: int = 120_000
    queue_wait_ms: int = 10_000
    max_pages: int = 100
    dialog_wait_ms: int = 30_000
    download_max_mb: int = 500

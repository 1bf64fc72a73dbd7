"""The one door for what callers get of pages besides replies to calls: their pictures, and files.

What a token allows, what its page may show it, what a guarded chat has read, secrets, quotas and the record are looked
at here as they are for calls."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from browse_together.contract import catalogue
from browse_together.contract.errors import BrowseError, HostGone, Relayed
from browse_together.contract.frames import Frame, Pointed, View
from browser_service.rules.bounded import Bounded
from browser_service.security.auth import Identity
from browser_service.security.named_secrets import NamedSecrets
from browser_service.spine.call import FrontCall
from browser_service.spine.parts import FrontParts
from browser_service.store.artifacts import Artifacts

_LOOK: Final = "screenshot"
"""The action whose rules a picture follows."""
_MOST_REFUSED: Final = 2_000


class File(NamedTuple):
    path: Path
    mime_type: str
    name: str | None


@dataclass(eq=False)
class Reads:
    parts: FrontParts
    secrets: NamedSecrets
    artifacts: Artifacts
    _refused: Bounded[tuple[str, str], str] = field(default_factory=lambda: Bounded(_MOST_REFUSED))
    """The code of the last refusal of each client's look at a page."""

    async def frame(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        """Return a page's frame, without secrets in its words, for a person who may see every page. None while there
        is no such page, or no host of it."""
        try:
            frame = await self.parts.host.frame_after(page_id, seq, wait_ms, view)
        except HostGone:
            return None
        if frame is None:
            return None
        words = self.secrets.concealment.value(frame.model_dump(mode="json", exclude={"picture"}))
        return Frame.model_validate(words).model_copy(update={"picture": frame.picture})

    async def point(self, page_id: str, x: float, y: float, *, picks: bool) -> Pointed:
        """Return the element at a point of a page, without secrets in its name, for a person who may see every page.
        Raises what prevents it."""
        found = await self.parts.host.point(page_id, x, y, picks=picks)
        if found.problem is not None:
            raise Relayed(found.problem)
        return self.secrets.concealment.message(found)

    async def look(self, caller: Identity, page_id: str, seq: int, view: View) -> Frame | None:
        """Return a page's frame for a client that may read the page now. Raises what a call would that reads it."""
        parts, key = self.parts, (caller.client_id, page_id)
        parts.quotas.count_beside(f"card of {caller.client_id}", "page_card")  # apart from its chat's calls
        call = FrontCall(caller, {"action": _LOOK, "pageId": page_id}, call_id="look")
        call.action = catalogue.parse(call.body)
        try:
            parts.policy.check(caller, call.action)
            call.address = parts.addressing.address(call.action, caller)
            parts.policy.check_place(caller, call.action, call.address)
            await self._check(call)
            frame = await self.frame(page_id, seq, 0, view)
            await self._check(call)  # the page may have moved
        except BrowseError as error:
            refusal = error.body()
            if self._refused.get(key) != refusal.code:  # a card asks again every second
                parts.ledger.refused(call, call.action, refusal)
            self._refused[key] = refusal.code
            raise
        self._refused.pop(key, None)
        parts.guard.note_pages(caller, [page_id])
        if frame is not None and caller.limits.origins and not frame.current:
            return frame.model_copy(update={"picture": None})
        return frame

    async def file(self, caller: Identity, artifact_id: str) -> File:
        """Return a file of the caller's own. Raises ArtifactNotFound, also for another client's file, which only the
        account's own person may read."""
        self.parts.quotas.count_beside(f"files of {caller.client_id}", "it")
        path, mime_type = await self.artifacts.path(artifact_id, None if caller.operator else caller.client_id)
        return File(path, mime_type, self.parts.downloads.name_of(artifact_id))

    async def _check(self, call: FrontCall) -> None:
        """Raise what the host says against a read of the page as it is now."""
        if error := await self.parts.host_calls.refusal_to_read(call):
            raise Relayed(error)

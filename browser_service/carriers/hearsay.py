"""Passes on what a host elsewhere says as the host's own words: it speaks for no person, and names no file of ours."""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from browse_together.contract.calls import Artifact, DownloadState, Notice, Outcome
from browse_together.contract.errors import ArtifactNotFound
from browse_together.contract.events import (
    CallEnded,
    CallMoved,
    DownloadMoved,
    HostEvent,
    NoticeGiven,
    PageChanged,
    PageOpened,
    PageRetired,
    RequestOver,
)
from browse_together.contract.model import Json, list_at
from browse_together.contract.pages import HumanRequestState, PageState
from browse_together.contract.words import one_line, quotable
from browser_service.host.seam import ArtifactPort
from browser_service.security.urls import origin_of

_MOST_TOLD: Final = 4_000


class Hearsay:
    """What one host says, as others may read it."""

    def __init__(
        self, name: str, artifacts: ArtifactPort, label_of: Callable[[str], str], *, owner_has_rules: Callable[[], bool]
    ) -> None:
        """`label_of` returns the label of a client that called there lately, or ""."""
        self.name, self._artifacts = name, artifacts
        self._label_of, self._owner_has_rules = label_of, owner_has_rules

    def page(self, page: PageState) -> PageState:
        words = {name: quotable(getattr(page, name)) for name in ("holder_label", "holder_agent", "left_by")}
        person = None if page.person is None else self._request(page.person, page.asker_id)
        return page.model_copy(update={**words, "hold_reason": quotable(page.hold_reason), "person": person})

    def notice(self, notice: Notice) -> Notice:
        text = f"From the host {self.name}: {one_line(notice.text[:_MOST_TOLD])}"
        return notice.model_copy(update={"text": text})

    async def outcome(self, outcome: Outcome, client_id: str) -> Outcome:
        """Return the outcome of a client's call, with files as the front keeps them for that client."""
        page = None if outcome.page is None else self.page(outcome.page)
        for part in _parts(outcome.result or {}):
            await self._place_files(part, client_id)
        return outcome.model_copy(update={"page": page, "notices": [*map(self.notice, outcome.notices)]})

    async def event(self, event: HostEvent) -> HostEvent:
        told: dict[str, object] = {}
        match event:
            case PageOpened() | PageChanged() | PageRetired():
                told = {"page": self.page(event.page)}
            case NoticeGiven():
                told = {"notice": self.notice(event.notice)}
            case RequestOver():
                words = {"by": quotable(event.by), "chosen": quotable(event.chosen)}
                told = {**words, "request": self._request(event.request, event.client_id)}
            case CallMoved():
                asked = None if event.request is None else self._request(event.request, event.client_id)
                words = {"behind": quotable(event.behind), "waits_for": quotable(event.waits_for)}
                told = {**words, "request": asked}
            case CallEnded():
                told = {"outcome": await self.outcome(event.outcome, event.client_id)}
            case DownloadMoved():
                told = {"download": await self._download(event.download)}
        return event.model_copy(update=told)

    def _request(self, request: HumanRequestState, asker_id: str | None) -> HumanRequestState:
        """Return a request with the asker's label as the front knows it, and an origin that is one. The owner's rules
        ask only if there are some, and then in the host's words."""
        message, of_rule = quotable(request.message), request.of_rule and self._owner_has_rules()
        changes: dict[str, object] = {
            "message": f'The host {self.name} says: "{message}"' if of_rule else message,
            "of_rule": of_rule,
            "origin": origin_of(request.origin) or "",
            "choices": [*map(quotable, request.choices)],
            "joined_by": [*map(quotable, request.joined_by)],
        }
        if not request.is_hold:
            changes["asked_by"] = self._label_of(asker_id or "") or f"a client on the host {self.name}"
        return request.model_copy(update=changes)

    # --- files -----------------------------------------------------------------------------------------------------

    async def _download(self, download: DownloadState) -> DownloadState:
        kept = await self._kept(download.artifact_id, download.client_id)
        where = (
            {"path": None, "file": None} if kept is None else {"path": kept.path, "file": kept.url, "size": kept.size}
        )
        return download.model_copy(update=where)

    async def _place_files(self, result: Json, client_id: str) -> None:
        """Say where the front has the files of a result, whatever that says itself."""
        for file in (result.get("artifact"), *list_at(result, "downloads")):
            if isinstance(file, dict):
                kept = await self._kept(file.get("artifactId"), client_id)
                file.pop("path", None)
                if kept is not None:
                    file.update({"size": kept.size} | ({"path": kept.path} if kept.path else {}))
                if "savedAs" in result:
                    result["savedAs"] = file.get("path")

    async def _kept(self, artifact_id: JsonValue, client_id: str) -> Artifact | None:
        try:
            return await self._artifacts.describe(artifact_id, client_id) if isinstance(artifact_id, str) else None
        except ArtifactNotFound:
            return None


def _parts(result: Json) -> list[Json]:
    """Return a result and those of the actions that it carried, which may have files of their own."""
    found = (result, result.get("during"), *list_at(result, "steps"))
    return [each for each in found if isinstance(each, dict)]

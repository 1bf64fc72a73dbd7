"""Runs the parts of a call that carries other actions, one by one."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from browser_service.host.call_run import CallRun, Handler
from browser_service.host.confinement import confine, confined
from browser_service.host.cursors import read_on, read_picture
from browser_service.host.files import ArtifactPort, Files
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading.comparison import compare_artifacts
from browser_service.host.run import bring_up, perform
from browser_service.rules.visits import count_visits
from browser_service.security.urls import origin_of
from shared.actions.base import Action
from shared.actions.media import CompareScreenshots, Screenshot
from shared.actions.traits import Effect
from shared.calls import Call
from shared.errors import NetworkError
from shared.model import Json


@dataclass(frozen=True)
class StepRunner:
    """Does what calls carry, in their turns, each part admitted and performed as if it came by itself."""

    admit: Callable[[BrowserPage, CallRun], None]
    handlers: Mapping[str, Handler]
    artifacts: ArtifactPort

    async def without_page(self, run: CallRun) -> Json:
        """Do what concerns only artifacts, for which neither a page nor a turn is needed."""
        return await _ARTIFACT_READERS.get(run.action.name(), _text)(self.artifacts, run.call, run.action)

    async def do(self, run: CallRun, page: BrowserPage, part: Action) -> Json:
        """Do one part of a call, in the call's turn."""
        await _wait_for_dialog(run)
        step = run.for_part(part)
        run.part_index = len(run.part_results)
        result: Json = {"action": part.name()}
        try:
            result |= await self._perform(_as_part(page, run, run.part_index), step)
        finally:
            run.requests += step.requests
        run.part_results.append(result)
        run.part_index = None
        return result

    async def _perform(self, page: BrowserPage, step: CallRun) -> Json:
        self.admit(page, step)
        _note_part(page, step.action)
        if step.action.needs_no_page:
            return await self.without_page(step)
        await bring_up(page, step)
        await confine(page, step.call)
        page = replace(page, perform_part=partial(self.do, step), undoable=step.undoable)
        work = perform(page, step, self.handlers[step.action.name()])
        return await confined(page, step.call, step.action, work)


def _as_part(page: BrowserPage, run: CallRun, index: int) -> BrowserPage:
    """Return the page as one part of a call sees it, which tells the changes unless an act follows."""
    parts = run.action.parts()
    tell = [each.text_key == "observed" for each in parts]
    follows = any(each.effect is not Effect.READS for each in parts[:index])
    shares = max(1, len(parts) - sum(tell))
    return replace(page, reply_shares=shares, quiet=any(tell[index + 1 :]), follows=follows)


async def _comparison(artifacts: ArtifactPort, call: Call, action: CompareScreenshots) -> Json:
    return await compare_artifacts(Files(artifacts, call.client_id), action)


async def _picture(artifacts: ArtifactPort, call: Call, action: Screenshot) -> Json:
    return await read_picture(artifacts, call, action.requested_cursor)


async def _text(artifacts: ArtifactPort, call: Call, action: Action) -> Json:
    return await read_on(artifacts, call, action.text_key, action.requested_cursor, action.requested_budget)


_ARTIFACT_READERS: Final[Mapping[str, Callable[..., Awaitable[Json]]]] = {
    CompareScreenshots.name(): _comparison,
    Screenshot.name(): _picture,
}
"""Read what calls that need no page ask for, if it is not the rest of a text."""


async def _wait_for_dialog(run: CallRun) -> None:
    """Wait for the answer to a dialog that opened since the part before."""
    if run.suspended:
        try:
            await run.wait_for_dialog()
        except TimeoutError:
            raise run.cancelled_error() from None


def _note_part(page: BrowserPage, part: Action) -> None:
    """Note which part runs. Raises NetworkError if it would visit a site that asked an earlier part for a pause."""
    turn = page.queue.current
    if turn is None:
        return
    turn.part = part.name()
    for url in turn.throttled:
        if (origin := origin_of(url)) in count_visits(part, page.record.url):
            raise NetworkError(
                f"{origin} asked for a pause after an earlier step: nothing more was sent there.",
                hint="Go on there later: RATE_LIMITED says until when.",
                details={"url": url},
            )

"""The stages around an act, from the outside in. A feature adds its stage here and nowhere else."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import BrowseError
from browse_together.contract.model import Json
from browser_service.host.stages.act import Act, Stage
from browser_service.host.stages.changes import Changes, Observed
from browser_service.host.stages.errors import GRACE_S, Clock, Crash, Errors
from browser_service.host.stages.guard import CrossOrigin
from browser_service.host.stages.logins import LoginsLeft
from browser_service.host.stages.rules import Leave, OwnersRules
from browser_service.host.stages.short import (
    Front,
    Handles,
    Lease,
    LeftFields,
    Live,
    PersonAtWindow,
    Pictures,
    SecretFields,
    Targets,
    Title,
    WaitingDialog,
)

_ALWAYS: Final = (Errors, WaitingDialog, Clock, Crash, Front, OwnersRules, CrossOrigin, Leave, Lease)
OF_READS: Final = (Pictures, Live, LeftFields, SecretFields, Targets, Handles, *_ALWAYS)
OF_ACTS: Final = (
    *(Pictures, Live, PersonAtWindow, LeftFields, Title),
    *(Changes, SecretFields, LoginsLeft, Observed, Targets, Handles, *_ALWAYS),
)


async def perform(act: Act) -> Json:
    """Run an act within all its stages, and return its result."""
    kinds = OF_ACTS if act.observed else OF_READS
    stages: list[Stage] = [kind(act) for kind in kinds if kind.needs is None or kind.needs(act)]
    begun: list[Stage] = []
    async with AsyncExitStack() as ends:  # each has its turn, even if another fails
        try:
            try:
                for stage in stages:
                    begun.append(stage)
                    if "end" in stage.moments:
                        ends.push_async_callback(stage.end)
                    if "before" in stage.moments:
                        await stage.before()
                await _do(act, stages)
            except (BrowseError, PlaywrightError, TimeoutError) as error:
                await _explain(error, begun)
            for stage in reversed(stages):
                if "after" in stage.moments:
                    await stage.after()
        except BrowseError as error:
            act.changed = act.changed and not error.nothing_happened
            raise
        act.done = True
    return act.result


async def _do(act: Act, stages: Sequence[Stage]) -> None:
    """Run the act within its own time. Playwright's timeout comes first; this one is for the calls that have none."""
    async with act.run.cancel.within(act.action.allowed_ms() / 1000 + GRACE_S):
        for stage in stages:
            if "check" in stage.moments:
                await stage.check()
        act.result = await act.handler(act.page, act.action)


async def _explain(error: Exception, begun: Sequence[Stage]) -> None:
    """Raise what an error means to the stages, from the inside out; return if the act was done all the same."""
    meaning = error
    for stage in reversed(begun):
        if (found := await stage.failed(meaning)) is None:
            return
        meaning = found
    if meaning is error:
        raise error
    raise meaning from error

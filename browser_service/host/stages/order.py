"""The way of an act, from top to bottom: what surrounds it, and what its failure means."""

from contextlib import AsyncExitStack
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import BrowseError
from browse_together.contract.model import Json
from browser_service.host.stages import around, changes, ends, failures
from browser_service.host.stages.act import Act
from browser_service.host.stages.guard import check_guard, note_urls
from browser_service.host.stages.logins import LoginsLeft
from browser_service.host.stages.rules import check_act, leave
from browser_service.host.tabs.presses import sending
from browser_service.host.world.handles import let_go

_MEANINGS: Final = (ends.of_end, failures.of_time, around.of_dialog, failures.of_playwright, changes.in_vain)
"""What a failure means, the nearest first: each gives the same error, a better one, or None if the act was done all the
same."""


async def perform(act: Act) -> Json:
    """Run an act within all that surrounds it, and return its result."""
    async with AsyncExitStack() as stack:  # each has its turn, even if another fails
        try:
            await (_act(act, stack) if act.observed else _read(act, stack))
        except BrowseError as error:
            act.changed = act.changed and not error.nothing_happened
            raise
        act.done = True
    return act.result


async def _act(act: Act, stack: AsyncExitStack) -> None:
    page, logins = act.page, LoginsLeft(act)
    stack.enter_context(around.pictured(act))
    await around.live(act)
    if page.session.attached and page.record.tab is not None:
        await stack.enter_async_context(around.person_respected(act, page.record.tab.presses))
    await stack.enter_async_context(around.left_fields(act))
    stack.push_async_callback(around.read_title, act)
    before = await changes.look_before(act)
    await around.guard_secret_fields(page)
    stack.push_async_callback(logins.end)
    await stack.enter_async_context(changes.observed(act))
    await _do(act, stack)
    await changes.settled(act)
    with ends.after(act):
        await logins.after()
        await around.guard_secret_fields(page)
        act.result = await changes.reply(page, act.action, act.result, act.observation, before)
        await around.check_last_field(act)


async def _read(act: Act, stack: AsyncExitStack) -> None:
    stack.enter_context(around.pictured(act))
    await around.live(act)
    await stack.enter_async_context(around.left_fields(act))
    await around.guard_secret_fields(act.page)
    await _do(act, stack)


async def _do(act: Act, stack: AsyncExitStack) -> None:
    """Run the act itself within its own time. Playwright's timeout comes first; this one is for the calls that have
    none. The handles that it takes are released: otherwise Playwright keeps each, and its element, as long as the
    page."""
    page, action, call = act.page, act.action, act.run.call
    if call.guard:
        stack.callback(note_urls, act)
    if page.act_rules:
        stack.enter_context(leave(page, call))
    with let_go(), sending() as act.sends:
        try:
            async with act.run.cancel.within(action.allowed_ms() / 1000 + failures.GRACE_S):
                for selector in action.aim.selectors:
                    page.note_target(selector, action.aim.frame)
                if around.needs_front(page, action):
                    await page.playwright.bring_to_front()
                await check_act(page, action)
                await check_guard(call, action, page)
                page.session.launcher.options.check_may_act()  # a host whose lease has ended begins nothing
                act.begun = True
                act.result = await act.handler(page, action)
        except (BrowseError, PlaywrightError, TimeoutError) as error:
            await _explain(act, error)


async def _explain(act: Act, error: Exception) -> None:
    """Raise what an error means; return if the act was done all the same."""
    meaning = error
    for what in _MEANINGS:
        if (found := await what(act, meaning)) is None:
            return
        meaning = found
    if meaning is error:
        raise error
    raise meaning from error

"""Runs our scripts beside a page's own, in the world where Playwright's run: what the page has made of its globals,
prototypes and elements is not there.

A selector engine of ours (`kept_engine.js`) runs in that world, and keeps an element there under a key. A CDP session
hears of that world in each frame, and calls our function there, with what was kept. Other engines than Chromium have no
such session: there, scripts run in the page's world.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Sequence
from typing import Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from playwright.async_api import CDPSession, ElementHandle, Frame, JSHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.host.scripts import call_of
from browser_service.host.world import ties
from browser_service.host.world.calls import LEFT, Answer, Call, NotHereError, On, function, send
from browser_service.host.world.handles import taken
from browser_service.host.world.worlds import ENGINE, KEYS, Worlds

_LOOKED_UP: Final = re.compile(rf'\.locator\("{ENGINE}=\w+:\w+"\)| >> {ENGINE}=\w+:\w+')
T = TypeVar("T")


class Kept(NamedTuple):
    """Elements that our world in a page's document keeps, until some hundred others are kept."""

    page: Page
    key: str


Target = Page | Frame | Locator | ElementHandle | Kept


class Held:
    """A value of a script, which stays in its document."""

    def __init__(self, session: CDPSession, answer: Answer) -> None:
        self._session = session
        self._object_id = answer["result"].get("objectId")

    async def evaluate(self, source: str, argument: object = None) -> object:
        """Return what a function makes of the value and an argument. Raises PlaywrightError."""
        return (await self._ask(source, argument, by_value=True))["result"].get("value")

    async def hold(self, source: str, argument: object = None) -> "Held":
        """Hold what a function makes of the value and an argument. Raises PlaywrightError."""
        return taken(Held(self._session, await self._ask(source, argument, by_value=False)))

    async def dispose(self) -> None:
        """Let the value go."""
        with contextlib.suppress(PlaywrightError):  # its document has gone
            await self._session.send("Runtime.releaseObject", {"objectId": self._object_id})

    async def _ask(self, source: str, argument: object, *, by_value: bool) -> Answer:
        given = {
            "functionDeclaration": source,
            "objectId": self._object_id,
            "arguments": [{"objectId": self._object_id}, {"value": argument}],
            "returnByValue": by_value,
            "awaitPromise": True,
        }
        return await _or_left(send(self._session, given))


class _HeldThere(Held):
    """A value that Playwright holds in the page's own world."""

    def __init__(self, handle: JSHandle) -> None:
        self._handle = handle

    async def evaluate(self, source: str, argument: object = None) -> object:
        return await self._handle.evaluate(source, argument)

    async def hold(self, source: str, argument: object = None) -> Held:
        return taken(_HeldThere(await self._handle.evaluate_handle(source, argument)))

    async def dispose(self) -> None:
        await self._handle.dispose()


_kept_as: Final = WeakKeyDictionary[ElementHandle, Kept]()
"""As what our world keeps the element of a handle."""


async def open_early(page: Page) -> None:
    """Get to know the worlds of a page before a script needs them."""
    if is_apart(page):
        await evaluate(page, "() => 0")


async def session_of(page: Page) -> CDPSession:
    """Return the session in which Chromium tells of a page's worlds: what scripts tell is heard there, too."""
    return await _worlds(page).open()


def is_apart(page: Page) -> bool:
    """Return whether our scripts run beside the page's own."""
    return ties.is_chromium(page.context)


async def evaluate(
    target: Target, source: str, argument: object = None, *, timeout_ms: float | None = None, awaits: bool = True
) -> object:
    """Return what a function of ours gives: of an argument, in the document of a page or frame; or of an element and an
    argument. For a locator's element it waits, as long as Playwright would or `timeout_ms`. A promise is awaited if
    `awaits`. Raises PlaywrightError."""
    if isinstance(target, Kept) or is_apart(await _page_of(target)):
        call = Call(function(source, _on(target)), argument, awaits=awaits)
        return (await _ask(target, call, timeout_ms))[1]["result"].get("value")
    if isinstance(target, Locator):
        return await target.evaluate(source, argument, timeout=timeout_ms)
    return await target.evaluate(source, argument)


async def evaluate_all(found: Locator | Kept | Sequence[ElementHandle], source: str, argument: object = None) -> object:
    """Return what a function of ours gives of the elements, as a list, and an argument. It waits for none, and a
    locator may find none. Raises PlaywrightError."""
    call = Call(function(source, "all"), argument)
    if isinstance(found, Locator):
        kept = await keep(found)
        if kept is None:
            return await evaluate(found.page, call_of("look => argument => look([], argument)", source), argument)
        if isinstance(kept, Locator):
            return await found.evaluate_all(source, argument)
        found = kept
    if isinstance(found, Kept):
        answer = await _or_left(_worlds(found.page).on([found.key], call))
    elif is_apart(page := await _page_of(found[0])):
        answer = await _ask_of_handles(page, found, call)
    else:
        spread = call_of("look => (_, [found, argument]) => look(found, argument)", source)
        return await found[0].evaluate(spread, [[*found], argument])
    return answer[1]["result"].get("value")


async def keep(locator: Locator) -> Kept | Locator | None:
    """Keep what a locator finds now, so that the next function is sent at once; None if it finds nothing. Where our
    scripts do not run apart, this returns the locator."""
    if not is_apart(locator.page):
        return locator
    kept = Kept(locator.page, next(KEYS))
    return kept if await _looked_up(locator.locator(f"{ENGINE}=keep:{kept.key}").count()) else None


async def hold(target: Target, source: str, argument: object = None, *, timeout_ms: float | None = None) -> Held:
    """Hold what a function of ours gives, as `evaluate` calls it, for the rest of the call."""
    if isinstance(target, Kept) or is_apart(await _page_of(target)):
        call = Call(function(source, _on(target)), argument, by_value=False)
        return taken(Held(*await _ask(target, call, timeout_ms)))
    if isinstance(target, Locator):
        return taken(_HeldThere(await target.evaluate_handle(source, argument, timeout=timeout_ms)))
    return taken(_HeldThere(await target.evaluate_handle(source, argument)))


async def element(target: Page | Frame | ElementHandle, source: str, argument: object = None) -> ElementHandle | None:
    """Return the element that a function of ours gives, as `evaluate` calls it; None if it gives none."""
    page = await _page_of(target)
    if not is_apart(page):
        return taken(await target.evaluate_handle(source, argument)).as_element()
    given = next(KEYS)
    call = Call(function(source, _on(target)), argument, given)
    if not (await _ask(target, call))[1]["result"].get("value"):
        return None
    handle = await target.query_selector(f"{ENGINE}=get:{given}")
    if handle is not None:
        _kept_as[taken(handle)] = Kept(page, given)
    return handle


def is_at_hand(page: Page) -> bool:
    """Return whether a function is sent to the page's document at once."""
    return is_apart(page) and _worlds(page).knows_document


async def begun(page: Page) -> None:
    """Wait until functions that were sent have begun: what Playwright sends goes another way, and may overtake them."""
    if is_apart(page):
        await _worlds(page).hear_all()


async def handle_of(locator: Locator, timeout_ms: float | None = None) -> ElementHandle:
    """Return a locator's element, for the rest of the call, once it is there."""
    if not is_apart(locator.page):
        return taken(await locator.element_handle(timeout=timeout_ms))
    key = next(KEYS)
    handle = taken(await _looked_up(locator.locator(f"{ENGINE}=keep:{key}").element_handle(timeout=timeout_ms)))
    _kept_as[handle] = Kept(locator.page, key)
    return handle


def _on(target: Target) -> On:
    return "alone" if isinstance(target, Page | Frame) else "one"


def _worlds(page: Page) -> Worlds:
    return ties.of(page, Worlds)


async def _page_of(target: Target) -> Page:
    if isinstance(target, Page):
        return target
    if not isinstance(target, ElementHandle):
        return target.page
    if (known := _kept_as.get(target)) is not None:
        return known.page
    frame = await target.owner_frame()
    if frame is None:
        raise PlaywrightError(LEFT)
    return frame.page


async def _ask(target: Target, call: Call, timeout_ms: float | None = None) -> tuple[CDPSession, Answer]:
    page = await _page_of(target)
    if isinstance(target, ElementHandle):
        return await _ask_of_handles(page, [target], call)
    if isinstance(target, Page | Frame):
        frame = target.main_frame if isinstance(target, Page) else target
        return await _or_left(_worlds(page).in_frame(frame, call))
    if isinstance(target, Kept):
        return await _or_left(_worlds(page).on([target.key], call))
    key = next(KEYS)
    await _looked_up(target.locator(f"{ENGINE}=keep:{key}").wait_for(state="attached", timeout=timeout_ms))
    return await _or_left(_worlds(page).on([key], call))


async def _or_left(asking: Awaitable[T]) -> T:
    try:
        return await asking
    except NotHereError:
        raise PlaywrightError(LEFT) from None


async def _looked_up(looking: Awaitable[T]) -> T:
    """Name an error's locator as it would be named without our engine."""
    try:
        return await looking
    except PlaywrightError as error:
        raise type(error)(_LOOKED_UP.sub("", error.message)) from error


async def _ask_of_handles(page: Page, handles: Sequence[ElementHandle], call: Call) -> tuple[CDPSession, Answer]:
    known = [_kept_as[each].key for each in handles if each in _kept_as]
    if len(known) == len(handles):
        with contextlib.suppress(NotHereError):  # many others were kept since
            return await _worlds(page).on(known, call)
    kept = await asyncio.gather(*(_put(page, each) for each in handles))
    return await _or_left(_worlds(page).on([each.key for each in kept], call))


async def _put(page: Page, handle: ElementHandle) -> Kept:
    kept = _kept_as[handle] = Kept(page, next(KEYS))
    await handle.query_selector(f"{ENGINE}=put:{kept.key}")
    return kept

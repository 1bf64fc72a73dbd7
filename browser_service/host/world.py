"""Runs our scripts beside a page's own, in the world where Playwright's run: what the page has made of its globals,
prototypes and elements is not there.

A selector engine of ours (`kept_engine.js`) runs in that world, and keeps an element there under a key. A CDP session
hears of that world in each frame, and calls our function there, with what was kept. Other engines than Chromium have no
such session: there, scripts run in the page's world.
"""

import asyncio
import contextlib
import itertools
import re
from collections.abc import Awaitable, Sequence
from functools import cache, partial
from typing import Any, Final, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from playwright.async_api import CDPSession, ElementHandle, Frame, JSHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.cuts import cut
from browser_service.host.elements import ties
from browser_service.host.elements.handles import taken
from browser_service.host.network.guard import is_chromium

ENGINE: Final = "kept"
"""Name of the selector engine that keeps elements."""
LEFT: Final = "Execution context was destroyed, most likely because of a navigation"
"""Playwright's own words for a document that went while a script ran there."""
_NOT_HERE: Final = "what was kept is not here"
_GONE: Final = ("Cannot find context with specified id", "uniqueContextId not found", "Session closed", "Target closed")
"""Parts of Chromium's errors for a world that is gone."""
_OTHER_DOCUMENT: Final = ("Inspected target navigated or closed", "Promise was collected")
_OF_ITS_PARENT: Final = "does not have a separate CDP session"
_LOOKED_UP: Final = re.compile(rf'\.locator\("{ENGINE}=\w+:\w+"\)| >> {ENGINE}=\w+:\w+')
_MESSAGE_CHARACTERS: Final = 2_000
_KEPT: Final = "(self[Symbol.for('kept')] ??= new Map())"
_HEADS: Final = {
    "document": f"if (!keys.length && !document.documentElement) throw '{_NOT_HERE}'; const look = () => (",
    "one": f"const [found] = keys.flatMap(key => {_KEPT}.get(key) ?? refuse()); const look = () => (",
    "all": f"const found = keys.flatMap(key => {_KEPT}.get(key) ?? refuse()); const look = () => (",
}
_TAILS: Final = {"document": ")(argument);", "one": ")(found, argument);", "all": ")(found, argument);"}
_RETURNS: Final = {
    "value": "return look();",
    "element": f"return (async () => {{ const e = await look(); if (e) {_KEPT}.set(given, [e]); return !!e; }})();",
}

Answer = dict[str, Any]  # Any: what Chromium is sent, and answers
T = TypeVar("T")
_keys: Final = map("k{}".format, itertools.count())


@cache
def _function(source: str, on: Literal["document", "one", "all"], gives: Literal["value", "element"] = "value") -> str:
    """Return a function of keys, an argument, and the key of what it gives. The text is the same each time, so Chromium
    compiles it once."""
    refuse = f"const refuse = () => {{ throw '{_NOT_HERE}'; }};"
    return f"(keys, argument, given) => {{ {refuse} {_HEADS[on]}{source}{_TAILS[on]} {_RETURNS[gives]} }}"


class _World(NamedTuple):
    """The world in one document of a frame."""

    session: CDPSession
    unique_id: str
    name: str
    frame_id: str


class _NotHereError(Exception):
    """Raised where a world is gone, or does not have what was kept. Nothing ran."""


class _Call(NamedTuple):
    """A function to call in a world."""

    function: str
    argument: object
    given: str = ""
    """The key under which it keeps the element that it gives."""
    awaits: bool = True
    by_value: bool = True

    async def run(self, world: _World, keys: list[str]) -> tuple[CDPSession, Answer]:
        """Return Chromium's answer. Raises _NotHereError, and PlaywrightError if the function threw."""
        arguments = [{"value": keys}, {"value": self.argument}, {"value": self.given}]
        return world.session, await _send(
            world.session,
            {
                "functionDeclaration": self.function,
                "uniqueContextId": world.unique_id,
                "arguments": arguments,
                "returnByValue": self.by_value,
                "awaitPromise": self.awaits,
            },
        )


async def _send(session: CDPSession, given: Answer) -> Answer:
    try:
        answer: Answer = await session.send("Runtime.callFunctionOn", given)
    except PlaywrightError as error:
        if any(words in str(error) for words in _GONE):
            raise _NotHereError from error
        if any(words in str(error) for words in _OTHER_DOCUMENT):
            raise PlaywrightError(LEFT) from error
        raise
    if thrown := answer.get("exceptionDetails"):
        told = thrown.get("exception", {})
        if told.get("value") == _NOT_HERE:
            raise _NotHereError
        raise PlaywrightError(cut(str(told.get("description") or told.get("value")), _MESSAGE_CHARACTERS))
    return answer


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
        return await _or_left(_send(self._session, given))


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


class _Worlds:
    """The worlds of our scripts in the documents of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._main_id = ""
        """Chromium's id of the page's main frame."""
        self._name = ""
        """Playwright's name of its world, once learned."""
        self._worlds = dict[str, _World]()
        self._of_frames = WeakKeyDictionary[Frame, str]()
        self._sessions = set[Frame | None]()
        self._opening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Have Chromium tell of each world of the page."""
        task = self._opening
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._opening = asyncio.ensure_future(self._open(None))
        if not task.done():
            await asyncio.shield(task)

    async def in_frame(self, frame: Frame, call: _Call) -> tuple[CDPSession, Answer]:
        """Call a function in the document of a frame. In a known world the message is sent at once, before any later
        one. Raises _NotHereError if the document goes."""
        await self.open()
        if (world := self._of(frame)) is not None:
            with contextlib.suppress(_NotHereError):
                return await call.run(world, [])
        key = next(_keys)
        await frame.locator(f"{ENGINE}=put:{key}").count()
        world = await self._find(key)
        self._of_frames[frame] = world.unique_id
        return await call.run(world, [key])

    async def on(self, keys: list[str], call: _Call) -> tuple[CDPSession, Answer]:
        """Call a function in the world that has kept something under the keys. Raises _NotHereError if none has."""
        await self.open()
        if (first := self._of(self._page.main_frame)) is not None:
            with contextlib.suppress(_NotHereError):
                return await call.run(first, keys)
        return await call.run(await self._find(keys[0]), keys)

    def _of(self, frame: Frame) -> _World | None:
        if frame.parent_frame is not None:
            return self._worlds.get(self._of_frames.get(frame, ""))
        ours = (each for each in self._worlds.values() if each.frame_id == self._main_id and each.name == self._name)
        return next(ours, None)

    async def _find(self, key: str) -> _World:
        """Return the world that has kept something under a key. Raises _NotHereError if none has."""
        has = _Call(f"(keys, key) => {_KEPT}.has(key)", key, awaits=False)
        for look in (None, self._hear_all, self._open_frames):
            if look is not None:
                await look()
            worlds = [each for each in self._worlds.values() if each.name == self._name or not self._name]
            answers = await asyncio.gather(*(has.run(each, []) for each in worlds), return_exceptions=True)
            for world, answer in zip(worlds, answers, strict=True):
                if not isinstance(answer, BaseException) and answer[1]["result"].get("value"):
                    self._name = world.name
                    return world
        raise _NotHereError

    async def _hear_all(self) -> None:
        """Hear of all worlds that were there before this was asked."""
        sessions = {each.session for each in self._worlds.values()}
        asked = (each.send("Runtime.evaluate", {"expression": "1"}) for each in sessions)
        await asyncio.gather(*asked, return_exceptions=True)

    async def _open_frames(self) -> None:
        """Open sessions for frames with a process of their own; the others are of their parent's session."""
        await asyncio.gather(*(self._open(frame) for frame in {*self._page.frames[1:]} - self._sessions))

    async def _open(self, frame: Frame | None) -> None:
        try:
            session = await ties.open_session(self._page, frame)
        except PlaywrightError as error:
            if frame is not None and (_OF_ITS_PARENT in str(error) or frame.is_detached()):
                return
            raise
        self._sessions.add(frame)
        session.on("close", lambda _: self._end(session, frame))
        session.on("Runtime.executionContextCreated", partial(self._note, session))
        session.on("Runtime.executionContextDestroyed", self._forget)
        session.on("Runtime.executionContextsCleared", lambda _: self._clear(session))
        if frame is not None:
            await session.send("Runtime.enable")
            return
        info: Answer = await session.send("Target.getTargetInfo")
        self._main_id = str(info["targetInfo"]["targetId"])
        await session.send("Runtime.enable")

    def _note(self, session: CDPSession, event: Answer) -> None:
        context = event["context"]
        of = context.get("auxData") or {}
        if of.get("type") == "isolated":
            unique_id = context["uniqueId"]
            self._worlds[unique_id] = _World(session, unique_id, context["name"], str(of.get("frameId")))

    def _forget(self, event: Answer) -> None:
        self._worlds.pop(event.get("executionContextUniqueId", ""), None)

    def _clear(self, session: CDPSession) -> None:
        self._worlds = {key: world for key, world in self._worlds.items() if world.session is not session}

    def _end(self, session: CDPSession, frame: Frame | None) -> None:
        self._clear(session)
        self._sessions.discard(frame)
        if frame is None:
            self._opening = None


_kept_as: Final = WeakKeyDictionary[ElementHandle, Kept]()
"""As what our world keeps the element of a handle."""


def open_early(page: Page) -> Awaitable[None]:
    """Have Chromium tell of the worlds of a page before a script needs them."""
    return _worlds(page).open() if is_apart(page) else asyncio.sleep(0)


def is_apart(page: Page) -> bool:
    """Return whether our scripts run beside the page's own."""
    return is_chromium(page.context)


async def evaluate(
    target: Target, source: str, argument: object = None, *, timeout_ms: float | None = None, awaits: bool = True
) -> object:
    """Return what a function of ours gives: of an argument, in the document of a page or frame; or of an element and an
    argument. For a locator's element it waits, as long as Playwright would or `timeout_ms`. Raises PlaywrightError.

    A function that `awaits` nothing is answered even while a print window is open."""
    if isinstance(target, Kept) or is_apart(await _page_of(target)):
        call = _Call(_function(source, _on(target)), argument, awaits=awaits)
        return (await _ask(target, call, timeout_ms))[1]["result"].get("value")
    if isinstance(target, Locator):
        return await target.evaluate(source, argument, timeout=timeout_ms)
    return await target.evaluate(source, argument)


async def evaluate_all(found: Locator | Kept | Sequence[ElementHandle], source: str, argument: object = None) -> object:
    """Return what a function of ours gives of the elements, as a list, and an argument. It waits for none, and a
    locator may find none. Raises PlaywrightError."""
    call = _Call(_function(source, "all"), argument)
    if isinstance(found, Locator):
        kept = await keep(found)
        if kept is None:
            return await evaluate(found.page, f"argument => ({source})([], argument)", argument)
        if isinstance(kept, Locator):
            return await found.evaluate_all(source, argument)
        found = kept
    if isinstance(found, Kept):
        answer = await _or_left(_worlds(found.page).on([found.key], call))
    elif is_apart(page := await _page_of(found[0])):
        answer = await _ask_of_handles(page, found, call)
    else:
        function = f"(_, [found, argument]) => ({source})(found, argument)"
        return await found[0].evaluate(function, [[*found], argument])
    return answer[1]["result"].get("value")


async def keep(locator: Locator) -> Kept | Locator | None:
    """Keep what a locator finds now, so that the next function is sent at once; None if it finds nothing. Where our
    scripts do not run apart, this returns the locator."""
    if not is_apart(locator.page):
        return locator
    kept = Kept(locator.page, next(_keys))
    return kept if await _looked_up(locator.locator(f"{ENGINE}=keep:{kept.key}").count()) else None


async def hold(target: Target, source: str, argument: object = None, *, timeout_ms: float | None = None) -> Held:
    """Hold what a function of ours gives, as `evaluate` calls it, for the rest of the call."""
    if isinstance(target, Kept) or is_apart(await _page_of(target)):
        call = _Call(_function(source, _on(target)), argument, by_value=False)
        return taken(Held(*await _ask(target, call, timeout_ms)))
    if isinstance(target, Locator):
        return taken(_HeldThere(await target.evaluate_handle(source, argument, timeout=timeout_ms)))
    return taken(_HeldThere(await target.evaluate_handle(source, argument)))


async def element(target: Page | Frame | ElementHandle, source: str, argument: object = None) -> ElementHandle | None:
    """Return the element that a function of ours gives, as `evaluate` calls it; None if it gives none."""
    page = await _page_of(target)
    if not is_apart(page):
        return taken(await target.evaluate_handle(source, argument)).as_element()
    given = next(_keys)
    call = _Call(_function(source, _on(target), "element"), argument, given)
    if not (await _ask(target, call))[1]["result"].get("value"):
        return None
    handle = await target.query_selector(f"{ENGINE}=get:{given}")
    if handle is not None:
        _kept_as[taken(handle)] = Kept(page, given)
    return handle


async def handle_of(locator: Locator, timeout_ms: float | None = None) -> ElementHandle:
    """Return a locator's element, for the rest of the call, once it is there."""
    if not is_apart(locator.page):
        return taken(await locator.element_handle(timeout=timeout_ms))
    key = next(_keys)
    handle = taken(await _looked_up(locator.locator(f"{ENGINE}=keep:{key}").element_handle(timeout=timeout_ms)))
    _kept_as[handle] = Kept(locator.page, key)
    return handle


def _on(target: Target) -> Literal["document", "one"]:
    return "document" if isinstance(target, Page | Frame) else "one"


def _worlds(page: Page) -> _Worlds:
    return ties.of(page, _Worlds)


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


async def _ask(target: Target, call: _Call, timeout_ms: float | None = None) -> tuple[CDPSession, Answer]:
    page = await _page_of(target)
    if isinstance(target, ElementHandle):
        return await _ask_of_handles(page, [target], call)
    if isinstance(target, Page | Frame):
        frame = target.main_frame if isinstance(target, Page) else target
        return await _or_left(_worlds(page).in_frame(frame, call))
    if isinstance(target, Kept):
        return await _or_left(_worlds(page).on([target.key], call))
    key = next(_keys)
    await _looked_up(target.locator(f"{ENGINE}=keep:{key}").wait_for(state="attached", timeout=timeout_ms))
    return await _or_left(_worlds(page).on([key], call))


async def _or_left(asking: Awaitable[T]) -> T:
    try:
        return await asking
    except _NotHereError:
        raise PlaywrightError(LEFT) from None


async def _looked_up(looking: Awaitable[T]) -> T:
    """Name an error's locator as it would be named without our engine."""
    try:
        return await looking
    except PlaywrightError as error:
        raise type(error)(_LOOKED_UP.sub("", error.message)) from error


async def _ask_of_handles(page: Page, handles: Sequence[ElementHandle], call: _Call) -> tuple[CDPSession, Answer]:
    known = [_kept_as[each].key for each in handles if each in _kept_as]
    if len(known) == len(handles):
        with contextlib.suppress(_NotHereError):  # many others were kept since
            return await _worlds(page).on(known, call)
    kept = await asyncio.gather(*(_put(page, each) for each in handles))
    return await _or_left(_worlds(page).on([each.key for each in kept], call))


async def _put(page: Page, handle: ElementHandle) -> Kept:
    kept = _kept_as[handle] = Kept(page, next(_keys))
    await handle.query_selector(f"{ENGINE}=put:{kept.key}")
    return kept

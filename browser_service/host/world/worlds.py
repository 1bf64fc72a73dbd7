"""Knows the worlds of our scripts in the documents of a page, and finds the one that has kept something."""

import asyncio
import contextlib
import itertools
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost
from browser_service.host.background import within
from browser_service.host.world import ties
from browser_service.host.world.calls import Answer, Call, NotHereError, World, function

ENGINE: Final = "kept"
"""Name of the selector engine that keeps elements."""
KEYS: Final = map("k{}".format, itertools.count())
"""Keys that nothing was kept under before."""
_AT_ONCE, _MOST_ASKED, _MOST_OPENED = 50, 2_000, 200
"""A page decides how many frames it has."""
_ANSWERS_WITHIN_S: Final = 1.0
_HAS: Final = function("() => true", "all")
_OF_ITS_PARENT: Final = "does not have a separate CDP session"


class Worlds:
    """The worlds of our scripts in the documents of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._main_id = ""
        """Chromium's id of the page's main frame."""
        self._name = ""
        """Playwright's name of its world, once learned."""
        self._worlds = dict[str, World]()
        self._of_frames = WeakKeyDictionary[Frame, str]()
        self._sessions = set[Frame | None]()
        self._opening: asyncio.Task[CDPSession] | None = None

    async def open(self) -> CDPSession:
        """Have Chromium tell of each world of the page. Returns the session in which it does."""
        task = self._opening
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._opening = asyncio.ensure_future(self._open())
            task.add_done_callback(_read)  # whoever waited may have gone
        return task.result() if task.done() else await asyncio.shield(task)

    @property
    def knows_document(self) -> bool:
        """True while it knows the world of the page's document, and so sends functions there at once."""
        return self._of(self._page.main_frame) is not None

    async def in_frame(self, frame: Frame, call: Call) -> tuple[CDPSession, Answer]:
        """Call a function in the document of a frame. In a known world the message is sent at once, before any later
        one. Raises NotHereError if the document goes."""
        await self.open()
        if (world := self._of(frame)) is not None:
            with contextlib.suppress(NotHereError):
                return await call.run(world, [])
        key = next(KEYS)
        await frame.locator(f"{ENGINE}=put:{key}").count()
        world = await self._find(key)
        self._of_frames[frame] = world.unique_id
        return await call.run(world, [key])

    async def on(self, keys: list[str], call: Call) -> tuple[CDPSession, Answer]:
        """Call a function in the world that has kept something under the keys. Raises NotHereError if none has."""
        await self.open()
        if (first := self._of(self._page.main_frame)) is not None:
            with contextlib.suppress(NotHereError):
                return await call.run(first, keys)
        return await call.run(await self._find(keys[0]), keys)

    def _of(self, frame: Frame) -> World | None:
        if frame.parent_frame is not None:
            return self._worlds.get(self._of_frames.get(frame, ""))
        ours = (each for each in self._worlds.values() if each.frame_id == self._main_id and each.name == self._name)
        return next(ours, None)

    async def _find(self, key: str) -> World:
        """Return the world that has kept something under a key. Raises NotHereError if none has."""
        for look in (None, self.hear_all, self._open_frames):
            if look is not None:
                await look()
            if (found := await self._having(key)) is not None:
                self._name = found.name
                return found
        raise NotHereError

    async def _having(self, key: str) -> World | None:
        """Ask each world, some at once, and do not wait for one that spins: a page may have thousands of frames."""
        worlds = [each for each in self._worlds.values() if each.name == self._name or not self._name][:_MOST_ASKED]
        for some in (worlds[start : start + _AT_ONCE] for start in range(0, len(worlds), _AT_ONCE)):
            asked = [asyncio.ensure_future(_if_it_has(key, each)) for each in some]
            try:
                async with AtMost(_ANSWERS_WITHIN_S):
                    for answer in asyncio.as_completed(asked):
                        if (found := await answer) is not None:
                            return found
            finally:
                for each in asked:
                    each.cancel()
        return None

    async def hear_all(self) -> None:
        """Wait until all has begun that was sent before, and all worlds are known that were there before. Whoever spins
        is not waited for."""
        sessions = {each.session for each in self._worlds.values()}
        asked = (_heard(each) for each in sessions)
        await within(_ANSWERS_WITHIN_S, *asked)

    async def _open_frames(self) -> None:
        """Open sessions for frames with a process of their own, of the first hundreds; the others are of their parent's
        session."""
        opened = (self._open_frame(frame) for frame in {*self._page.frames[1:_MOST_OPENED]} - self._sessions)
        await within(_ANSWERS_WITHIN_S, *opened)

    async def _open(self) -> CDPSession:
        session = await ties.open_session(self._page)
        self._listen(session, None)
        info: Answer = await session.send("Target.getTargetInfo")
        self._main_id = str(info["targetInfo"]["targetId"])
        await session.send("Runtime.enable")
        return session

    async def _open_frame(self, frame: Frame) -> None:
        try:
            session = await ties.open_session(self._page, frame)
        except PlaywrightError as error:
            if _OF_ITS_PARENT in str(error) or frame.is_detached():
                return
            raise
        self._listen(session, frame)
        await session.send("Runtime.enable")

    def _listen(self, session: CDPSession, frame: Frame | None) -> None:
        self._sessions.add(frame)
        session.on("close", lambda _: self._end(session, frame))
        session.on("Runtime.executionContextCreated", partial(self._note, session))
        session.on("Runtime.executionContextDestroyed", self._forget)
        session.on("Runtime.executionContextsCleared", lambda _: self._clear(session))

    def _note(self, session: CDPSession, event: Answer) -> None:
        context = event["context"]
        of = context.get("auxData") or {}
        if of.get("type") == "isolated":
            unique_id = context["uniqueId"]
            self._worlds[unique_id] = World(session, unique_id, context["name"], str(of.get("frameId")))

    def _forget(self, event: Answer) -> None:
        self._worlds.pop(event.get("executionContextUniqueId", ""), None)

    def _clear(self, session: CDPSession) -> None:
        self._worlds = {key: world for key, world in self._worlds.items() if world.session is not session}

    def _end(self, session: CDPSession, frame: Frame | None) -> None:
        self._clear(session)
        self._sessions.discard(frame)
        if frame is None:
            self._opening = None


async def _if_it_has(key: str, world: World) -> World | None:
    try:
        await Call(_HAS, None).run(world, [key])
    except (PlaywrightError, NotHereError):
        return None
    return world


async def _heard(session: CDPSession) -> None:
    with contextlib.suppress(PlaywrightError):
        await session.send("Runtime.evaluate", {"expression": "1"})


def _read(opening: "asyncio.Task[CDPSession]") -> None:
    _ = opening.cancelled() or opening.exception()

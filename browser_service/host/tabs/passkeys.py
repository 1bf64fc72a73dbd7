"""Knows when scripts of a tab wait for a passkey, and refuses it where nobody can give one."""

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Final

from playwright.async_api import CDPSession, Frame, Page

from browse_together.contract.background import Background
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.background import bounded
from browser_service.host.scripts import call_of, script
from browser_service.host.tabs.frame_processes import FrameProcesses
from browser_service.host.tabs.observer import Observer
from browser_service.security.urls import origin_of

_HAND_OVER: Final = next_call("request_human", kind="login", message="...")
WAITS: Final = (
    "the page waits for a passkey, which only its owner has, and no click or key reaches it until then: " + _HAND_OVER
)
REFUSED: Final = (
    f"it asked for a passkey, which only its owner has, and was refused, as nobody is there to give it: {_HAND_OVER}"
)

_World = tuple[CDPSession, int]
"""A document's world: Chromium's id of it, which counts in its session alone."""
_MOST_FRAMES: Final = 200
"""A page decides how many it has."""


class Passkeys:
    """The passkeys that the documents of one tab wait for.

    Neither Chromium nor Playwright tells of them, and whoever asks for another to see whether one is asked for already
    may open a window. So a script in each document wraps the two functions by which pages ask."""

    def __init__(self, page: Page, observer: Observer) -> None:
        self.tell: Callable[[str], None] = lambda _: None
        """Called with a line that no reply tells."""
        self._page, self._observer = page, observer
        self._refuses = False
        self._waiting = set[_World]()
        self._told_of = -1
        """The document, by the tab's count of navigations, for which something was told."""
        self._background = Background()
        self._frames = FrameProcesses(page, self._note_in)

    def note_by(self, cdp: CDPSession, *, refuses: bool) -> None:
        """Make each document tell of its waits, without waiting for that. With `refuses`, nobody sees the browser's
        question for a passkey, which keeps the mouse and the keys from the page (measured on Chromium 156)."""
        self._refuses = refuses
        self._background.spawn(bounded(self._note_by(cdp)))
        self._frames.watch(_may_ask)

    async def _note_by(self, cdp: CDPSession) -> None:
        await self._note(cdp, await world.session_of(self._page))

    async def _note_in(self, cdp: CDPSession) -> None:
        cdp.on("close", lambda _: self._end(*self._of(cdp)))
        await cdp.send("Runtime.enable")
        await self._note(cdp, cdp)

    async def _note(self, cdp: CDPSession, session: CDPSession) -> None:
        """Make the documents of a renderer tell, which are heard in `session`."""
        name = f"_{secrets.token_hex(8)}"
        refusal = f"dispatchEvent(new Event({json.dumps(name)}))"

        def heard(event: dict[str, str]) -> None:
            if event["name"] != name:
                return
            context = int(event["executionContextId"])
            self._take((session, context), event["payload"])
            if self._refuses and event["payload"] == "waits":
                asked = {"expression": refusal, "contextId": context}
                self._background.spawn(bounded(session.send("Runtime.evaluate", asked)))

        session.on("Runtime.bindingCalled", heard)
        session.on("Runtime.executionContextDestroyed", lambda event: self._end((session, event["executionContextId"])))
        session.on("Runtime.executionContextsCleared", lambda _: self._end(*self._of(session)))
        await session.send("Runtime.addBinding", {"name": name})  # for a script, it has to be there
        source = call_of(script("passkeys"), json.dumps(name), json.dumps(self._refuses))
        await asyncio.gather(
            cdp.send("Page.enable"),
            cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "runImmediately": True}),
        )

    def _take(self, context: _World, told: str) -> None:
        """Take what a document tells."""
        if told == "waits":
            self._waiting.add(context)
            self._observer.note_wait(WAITS, ends_soon=self._refuses)
        elif told == "over":
            self._end(context)
        elif told == "refused" and not self._observer.add_once(REFUSED) and self._told_of != self._observer.moves:
            self._told_of = self._observer.moves
            self.tell(REFUSED)

    def _of(self, session: CDPSession) -> list[_World]:
        return [each for each in self._waiting if each[0] is session]

    def _end(self, *contexts: _World) -> None:
        before = bool(self._waiting)
        self._waiting.difference_update(contexts)
        if before and not self._waiting:
            self._observer.note_wait("")


async def _may_ask(frame: Frame) -> bool:
    """Return whether a frame may have a renderer of its own and ask for a passkey, which its page has to allow. Of
    pages with very many frames none is asked about."""
    parent = frame.parent_frame
    if parent is None or origin_of(frame.url) == origin_of(parent.url) or len(frame.page.frames) > _MOST_FRAMES:
        return False
    element = await frame.frame_element()
    allowed = await element.get_attribute("allow")
    await element.dispose()
    return "publickey-credentials" in (allowed or "").lower()

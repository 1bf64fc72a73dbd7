"""Knows when scripts of a tab wait for a passkey, and refuses it where nobody can give one."""

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Final

from playwright.async_api import CDPSession, Page

from browse_together.contract.background import Background
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.background import bounded
from browser_service.host.scripts import call_of, script
from browser_service.host.tabs.observer import Observer

_HAND_OVER: Final = next_call("request_human", kind="login", message="...")
WAITS: Final = (
    "the page waits for a passkey, which only its owner has, and no click or key reaches it until then: " + _HAND_OVER
)
REFUSED: Final = (
    f"it asked for a passkey, which only its owner has, and was refused, as nobody is there to give it: {_HAND_OVER}"
)


class Passkeys:
    """The passkeys that the documents of one tab wait for; those of frames in processes of their own are not known.

    Neither Chromium nor Playwright tells of them, and whoever asks for another to see whether one is asked for already
    may open a window. So a script in each document wraps the two functions by which pages ask."""

    def __init__(self, page: Page, observer: Observer) -> None:
        self.tell: Callable[[str], None] = lambda _: None
        """Called with a line that no reply tells."""
        self._page, self._observer = page, observer
        self._refuses = False
        self._waiting = set[int]()
        """Chromium's ids of the documents' worlds."""
        self._told_of = -1
        """The document, by the tab's count of navigations, for which something was told."""
        self._background = Background()

    def note_by(self, cdp: CDPSession, *, refuses: bool) -> None:
        """Make each document tell of its waits, without waiting for that. With `refuses`, nobody sees the browser's
        question for a passkey, which keeps the mouse and the keys from the page (measured on Chromium 156)."""
        self._refuses = refuses
        self._background.spawn(bounded(self._note_by(cdp)))

    async def _note_by(self, cdp: CDPSession) -> None:
        name, session = f"_{secrets.token_hex(8)}", await world.session_of(self._page)
        refusal = f"dispatchEvent(new Event({json.dumps(name)}))"

        def heard(event: dict[str, str]) -> None:
            if event["name"] != name:
                return
            context = int(event["executionContextId"])
            self._note(context, event["payload"])
            if self._refuses and event["payload"] == "waits":
                asked = {"expression": refusal, "contextId": context}
                self._background.spawn(bounded(session.send("Runtime.evaluate", asked)))

        session.on("Runtime.bindingCalled", heard)
        session.on("Runtime.executionContextDestroyed", lambda event: self._end(event["executionContextId"]))
        session.on("Runtime.executionContextsCleared", lambda _: self._end(*self._waiting))
        await session.send("Runtime.addBinding", {"name": name})  # for a script, it has to be there
        source = call_of(script("passkeys"), json.dumps(name), json.dumps(self._refuses))
        await asyncio.gather(
            cdp.send("Page.enable"),
            cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "runImmediately": True}),
        )

    def _note(self, context: int, told: str) -> None:
        """Note what a document tells."""
        if told == "waits":
            self._waiting.add(context)
            self._observer.note_wait(WAITS, ends_soon=self._refuses)
        elif told == "over":
            self._end(context)
        elif told == "refused" and not self._observer.add_once(REFUSED) and self._told_of != self._observer.moves:
            self._told_of = self._observer.moves
            self.tell(REFUSED)

    def _end(self, *contexts: int) -> None:
        before = bool(self._waiting)
        self._waiting.difference_update(contexts)
        if before and not self._waiting:
            self._observer.note_wait("")

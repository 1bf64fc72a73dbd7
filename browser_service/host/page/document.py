"""Runs functions of ours in the document that a tab shows, over Chromium's own session for it."""

import contextlib
import json
from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from browser_service.host.scripts import call_of
from shared.cuts import cut

_WITH_ROOT: Final = "document.documentElement && "
_OF_ARGUMENT: Final = ("argument => document.documentElement && (", ")(argument)")
"""Stands before and behind a function that is to be called on a window."""
_NO_DOCUMENT: Final = "Cannot find default execution context"
_NO_WINDOW: Final = ("Cannot find context with specified id", "Could not find object with given id")
_OTHER_DOCUMENT: Final = ("Inspected target navigated or closed", "Promise was collected")
_LEFT: Final = "Execution context was destroyed, most likely because of a navigation"
"""Is what Playwright says where Chromium says one of those."""
_MESSAGE_CHARACTERS: Final = 2_000

_Answer = dict[str, Any]  # Any: what Chromium is sent, and answers


class Document:
    """Is the document that a tab shows now.

    A function is sent alike each time, and its argument beside it, so that Chromium compiles it once: one of 25 KB with
    the argument within takes 1 to 2 ms each time. It is called on the document's window, which is asked for once,
    behind the first function that runs there.
    """

    def __init__(self, cdp: CDPSession, moves: Callable[[], int]) -> None:
        """`moves` counts how often the tab has navigated."""
        self._cdp, self._moves = cdp, moves
        self._window = ""
        """Is Chromium's id of it, "" while that is not known."""
        self._window_of = -1
        """Says after how many moves the window was asked for."""
        self._background = Background()

    async def run(self, source: str, argument: object) -> str:
        """Return the text that a function gives; "" where it was not run, because the next document only begins. It is
        sent at once, before what is asked for next."""
        answer = None
        if self._window and self._window_of == self._moves():
            answer = await self._call(self._window, source, argument)
        return _text(answer or await self._evaluate(source, argument))

    async def _call(self, window: str, source: str, argument: object) -> _Answer | None:
        """Call a function on a window; None if that is no more, though nothing has told so yet."""
        given = {
            "functionDeclaration": source.join(_OF_ARGUMENT),
            "objectId": window,
            "arguments": [{"value": argument}],
        }
        try:
            return await self._send("Runtime.callFunctionOn", given)
        except PlaywrightError as error:
            if not any(words in str(error) for words in _NO_WINDOW):
                raise
            if self._window == window:
                self._window, self._window_of = "", -1
            return None

    async def _evaluate(self, source: str, argument: object) -> _Answer:
        """Call a function in whichever document there is, and look for that one's window behind it."""
        if self._window_of != (moves := self._moves()):
            self._window, self._window_of = "", moves
            self._background.spawn(self._find_window(moves))
        try:
            return await self._send(
                "Runtime.evaluate", {"expression": _WITH_ROOT + call_of(source, json.dumps(argument))}
            )
        except PlaywrightError as error:
            if _NO_DOCUMENT not in str(error):
                raise
            return {"result": {}}

    async def _find_window(self, moves: int) -> None:
        with contextlib.suppress(PlaywrightError):  # functions are run without it
            answer = await self._cdp.send("Runtime.evaluate", {"expression": "globalThis"})
            if self._window_of == moves:
                self._window = str(answer["result"].get("objectId", ""))

    async def _send(self, method: str, given: _Answer) -> _Answer:
        try:
            return await self._cdp.send(method, {**given, "returnByValue": True, "awaitPromise": True})
        except PlaywrightError as error:
            if any(words in str(error) for words in _OTHER_DOCUMENT):
                raise PlaywrightError(_LEFT) from error
            raise


def _text(answer: _Answer) -> str:
    """Return the text of an answer. Raises PlaywrightError for what a function threw."""
    if thrown := answer.get("exceptionDetails"):
        told = thrown.get("exception", {})
        raise PlaywrightError(cut(str(told.get("description") or told.get("value")), _MESSAGE_CHARACTERS))
    return str(answer["result"].get("value") or "")

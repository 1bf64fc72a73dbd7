"""Calls functions of ours in a world beside the page's: how they are written, sent, and what Chromium answers."""

import json
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.cuts import cut
from browser_service.host.scripts import call_of, script

LEFT: Final = "Execution context was destroyed, most likely because of a navigation"
"""Playwright's own words for a document that went while a script ran there."""
_NOT_HERE: Final = "what was kept is not here"
_GONE: Final = ("Cannot find context with specified id", "uniqueContextId not found", "Session closed", "Target closed")
"""Parts of Chromium's errors for a world that is gone."""
_OTHER_DOCUMENT: Final = ("Inspected target navigated or closed", "Promise was collected")
_MESSAGE_CHARACTERS: Final = 2_000
_KEPT_CALL: Final = script("kept_call")

Answer = dict[str, Any]  # Any: what Chromium is sent, and answers


On = Literal["alone", "one", "all"]
"""What a function is called on: the document, the first element of what was kept, or all."""


@cache
def function(source: str, on: On) -> str:
    """Return a function of keys, an argument, and the key of the element that it gives. The text is the same each time,
    so Chromium compiles it once."""
    return call_of(_KEPT_CALL, source, json.dumps(on))


class World(NamedTuple):
    """The world in one document of a frame."""

    session: CDPSession
    unique_id: str
    name: str
    frame_id: str


class NotHereError(Exception):
    """Raised where a world is gone, or does not have what was kept. Nothing ran."""


class Call(NamedTuple):
    """A function to call in a world."""

    function: str
    argument: object
    given: str = ""
    """The key under which it keeps the element that it gives."""
    awaits: bool = True
    by_value: bool = True

    async def run(self, world: World, keys: list[str]) -> tuple[CDPSession, Answer]:
        """Return Chromium's answer. Raises NotHereError, and PlaywrightError if the function threw."""
        arguments = [{"value": keys}, {"value": self.argument}, {"value": self.given}]
        return world.session, await send(
            world.session,
            {
                "functionDeclaration": self.function,
                "uniqueContextId": world.unique_id,
                "arguments": arguments,
                "returnByValue": self.by_value,
                "awaitPromise": self.awaits,
            },
        )


async def send(session: CDPSession, given: Answer) -> Answer:
    """Call a function, and return Chromium's answer. Raises NotHereError, and PlaywrightError if the function threw."""
    try:
        answer: Answer = await session.send("Runtime.callFunctionOn", given)
    except PlaywrightError as error:
        if any(words in str(error) for words in _GONE):
            raise NotHereError from error
        if any(words in str(error) for words in _OTHER_DOCUMENT):
            raise PlaywrightError(LEFT) from error
        raise
    if thrown := answer.get("exceptionDetails"):
        told = thrown.get("exception", {})
        if told.get("value") == _NOT_HERE:
            raise NotHereError
        raise PlaywrightError(cut(str(told.get("description") or told.get("value")), _MESSAGE_CHARACTERS))
    return answer

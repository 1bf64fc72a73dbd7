"""Runs functions of ours in the document that a tab shows, over Chromium's own session for it."""

from typing import Any, Final

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.host.scripts import OWN_WORLD
from shared.cuts import cut

_WITH_ROOT: Final = ("argument => document.documentElement && (", ")(argument)")
"""Stands before and behind a function that is run only where there is a document."""
_NO_DOCUMENT: Final = ("Cannot find context with specified id", "must be specified", "executionContextId")
"""Are in Chromium's words for a world that is no more, or not yet, or unknown to this driver."""
_OTHER_DOCUMENT: Final = ("Inspected target navigated or closed", "Promise was collected")
_LEFT: Final = "Execution context was destroyed, most likely because of a navigation"
"""Is what Playwright says where Chromium says one of those."""
_MESSAGE_CHARACTERS: Final = 2_000

_Answer = dict[str, Any]  # Any: what Chromium is sent, and answers


async def run(cdp: CDPSession, source: str, argument: object, *, awaits: bool = True) -> str:
    """Return the text that a function of ours gives in the document that a tab shows now; "" where it was not run,
    because the next document only begins. One that `awaits` nothing answers beside a window for printing, too.

    It is sent at once, before what is asked for next, and alike each time, its argument beside it: Chromium compiles it
    once, and one of 25 KB takes 1 to 2 ms."""
    given = {
        "functionDeclaration": source.join(_WITH_ROOT),
        "executionContextId": OWN_WORLD,
        "arguments": [{"value": argument}],
        "returnByValue": True,
        "awaitPromise": awaits,
    }
    try:
        return _text(await cdp.send("Runtime.callFunctionOn", given))
    except PlaywrightError as error:
        if any(words in str(error) for words in _NO_DOCUMENT):
            return ""
        if any(words in str(error) for words in _OTHER_DOCUMENT):
            raise PlaywrightError(_LEFT) from error
        raise


def _text(answer: _Answer) -> str:
    """Return the text of an answer. Raises PlaywrightError for what a function threw."""
    if thrown := answer.get("exceptionDetails"):
        told = thrown.get("exception", {})
        raise PlaywrightError(cut(str(told.get("description") or told.get("value")), _MESSAGE_CHARACTERS))
    return str(answer["result"].get("value") or "")

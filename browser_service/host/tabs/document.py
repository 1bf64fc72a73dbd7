"""Runs functions of ours in the document that a tab shows, over Chromium's session for the page."""

from typing import Any, Final

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.host.scripts import OWN_WORLD
from shared.cuts import cut

_WITH_ROOT: Final = ("argument => document.documentElement && (", ")(argument)")
"""The code around a function, so that it runs only if there is a document."""
_NO_DOCUMENT: Final = ("Cannot find context with specified id", "must be specified", "executionContextId")
"""Parts of Chromium's errors for an execution context that is gone, not there yet, or unknown to this driver."""
_OTHER_DOCUMENT: Final = ("Inspected target navigated or closed", "Promise was collected")
_LEFT: Final = "Execution context was destroyed, most likely because of a navigation"
"""Playwright's own error for those two."""
_MESSAGE_CHARACTERS: Final = 2_000

_Answer = dict[str, Any]  # Any: what Chromium is sent, and answers


async def run(cdp: CDPSession, source: str, argument: object, *, awaits: bool = True) -> str:
    """Run a function of ours in the document that a tab shows now, and return its text; "" if it did not run, because
    the next document is only beginning.

    A function that `awaits` nothing is answered even while a print window is open. The message is sent at once, before
    any later one. The source is the same each time, its argument apart, so that Chromium compiles it only once: 25 KB
    take 1 to 2 ms.
    """
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
    """Return the text of an answer. Raises PlaywrightError if the function threw."""
    if thrown := answer.get("exceptionDetails"):
        told = thrown.get("exception", {})
        raise PlaywrightError(cut(str(told.get("description") or told.get("value")), _MESSAGE_CHARACTERS))
    return str(answer["result"].get("value") or "")

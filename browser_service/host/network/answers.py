"""Reads what an answer says that its status does not: that its body was cut off, or that it means no."""

import json
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Request, Response
from pydantic import JsonValue

from browse_together.contract.background import AtMost
from browse_together.contract.cuts import cut
from browse_together.contract.quoting import quoted

_READ_WITHIN_S: Final = 0.3
_MOST_BYTES: Final = 100_000
_WORDS: Final = 120
_SAYS_WORDS: Final = ("error", "errors", "message", "msg", "reason", "detail", "title")
_SAYS_YES: Final = ("ok", "success")
_SAYS_NO: Final = frozenset({"error", "fail", "failed", "failure"})
FAILURES = 400
STREAMS: Final = "more of it is still to come"
BY_WORKER: Final = "answered by the page's own worker, which may have sent nothing"


def has_failed(request: Request) -> str:
    """Return why the body of an answered request was cut off; "" if it was whole, or nobody wanted it."""
    failure = request.failure or ""
    return "" if not failure or "ERR_ABORTED" in failure else f"but its body was cut off ({failure})"


def may_refuse(response: Response) -> bool:
    """Return whether a script was answered with JSON, which may say no though the status does not."""
    is_json = "json" in response.headers.get("content-type", "")
    return is_json and response.status < FAILURES and response.request.resource_type in {"fetch", "xhr"}


async def refusal(response: Response) -> str:
    """Return how the answer says no; "" if it does not, or if it cannot be read in time."""
    async with AtMost(_READ_WITHIN_S, PlaywrightError):
        body = await response.body()
        return refusal_in(body) if len(body) <= _MOST_BYTES else ""
    return ""


def refusal_in(body: bytes) -> str:
    """Return how a JSON body says no, in its own words if it has some; "" if it does not, or is no JSON object."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, dict) or not _says_no(said):
        return ""
    words = _words(said)
    return f"which says no: {quoted(cut(words, _WORDS))}" if words else "which says no"


def _says_no(said: dict[str, JsonValue]) -> bool:
    is_error = bool(said.get("error") or said.get("errors")) or said.get("status") in _SAYS_NO
    return is_error or any(said.get(name) is False for name in _SAYS_YES)


def _words(said: JsonValue) -> str:
    """Return the first words that say why."""
    if isinstance(said, str):
        return " ".join(said.split())
    if isinstance(said, list):
        return next(filter(None, map(_words, said)), "")
    if isinstance(said, dict):
        return next(filter(None, (_words(said.get(name)) for name in _SAYS_WORDS)), "")
    return ""

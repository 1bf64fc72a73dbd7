"""Recognises pages that are visibly still loading."""

import asyncio
import re
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.reading.snapshot import ClientView
from browser_service.host.reading.tree import Node

_YOUNG_S: Final = 5.0
"""In an older document, new requests are ongoing activity, not part of loading."""
_MOST_LOOKS: Final = 50
_LOOK_S: Final = 0.02
_LOADING: Final = re.compile(r"(loading|please wait)([.…!]*$|\b.*(\.\.\.|…)$)", re.IGNORECASE)
_MESSAGE_CHARACTERS: Final = 40
"""Maximum length of a text that only says that something is loading."""
_MOST_LISTED: Final = 2
EMPTY: Final = "no text or control yet; if it should have some, "


async def wait_for_answers(view: ClientView, pending: Callable[[], list[str]], *, asked: bool) -> bool:
    """Wait briefly for the answers that a young document has requested. Returns whether it was waiting for any, now or
    (as `asked` says) when the look began."""
    is_young, waits = time.time() - view.document / 1000 < _YOUNG_S, bool(pending())
    for _ in range(_MOST_LOOKS if is_young and waits else 0):
        await asyncio.sleep(_LOOK_S)  # requests that no act caused send no event when they end
        if not pending():
            break
    return is_young and (asked or waits)


def describe(view: ClientView, pending: list[str]) -> str:
    """Return a line for an outline that says what the page still waits for, by its requests and its own words; else
    ""."""
    signs = []
    if pending:
        paths = ", ".join(cut(urlsplit(url).path or "/", _MESSAGE_CHARACTERS) for url in pending[:_MOST_LISTED])
        more = ", ..." if len(pending) > _MOST_LISTED else ""
        signs.append(f"{len(pending)} request{'s' if len(pending) > 1 else ''} pending ({paths}{more})")
    if view.state is not None and view.state.busy:
        signs.append(f"{view.state.busy} part{'s' if view.state.busy > 1 else ''} of it marked as busy")
    messages = [message for message in dict.fromkeys(map(_loading_message, view.tree)) if message]
    signs += [repr(message) for message in messages[:_MOST_LISTED]]
    return f"still loading: {', '.join(signs)}" if signs else ""


def advice(view: ClientView, pending: list[str], page_id: str) -> Json:
    """Return what a reader of a page in which nothing was found is told if it still loads."""
    note = describe(view, pending)
    return {"advice": f"{note}; {again(page_id)}"} if note else {}


def again(page_id: str) -> str:
    """Return the advice for a page that waits for something. It stands outside the page's words."""
    return f"look again in a moment: {next_call('snapshot', page_id=page_id)}"


def _loading_message(node: Node) -> str:
    """Return an element's words if they say that something is loading, else ""."""
    texts = (text for text in (node.name, node.words) if len(text) <= _MESSAGE_CHARACTERS)
    return next(filter(_LOADING.match, texts), "")

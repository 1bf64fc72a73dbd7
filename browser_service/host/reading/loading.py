"""Recognises a page that says of itself that it is still loading."""

import re
from typing import Final
from urllib.parse import urlsplit

from browser_service.host.reading.snapshot import ClientView
from browser_service.host.reading.tree import Node, words
from shared.next_calls import next_call

_LOADING: Final = re.compile(r"(loading|please wait)([.…!]*$|\b.*(\.\.\.|…)$)", re.IGNORECASE)
_LONGEST: Final = 40
"""A text that says only that has this many characters at most."""
_SHOWN: Final = 2


def note(seen: ClientView, pending: list[str]) -> str:
    """Return a line for an outline about what the page still waits for, by its requests and its own words, or ""."""
    signs = []
    if pending:
        paths = ", ".join((urlsplit(url).path or "/")[:_LONGEST] for url in pending[:_SHOWN])
        more = ", ..." if len(pending) > _SHOWN else ""
        signs.append(f"{len(pending)} request{'s' if len(pending) > 1 else ''} pending ({paths}{more})")
    if seen.state is not None and seen.state.busy:
        signs.append(f"{seen.state.busy} part{'s' if seen.state.busy > 1 else ''} of it marked as busy")
    said = [text for text in dict.fromkeys(map(_words, seen.tree)) if text]
    signs += [repr(text) for text in said[:_SHOWN]]
    return f"still loading: {', '.join(signs)}; look again in a moment: {next_call('snapshot')}" if signs else ""


def _words(node: Node) -> str:
    """Return an element's words if they say that it is loading."""
    return next((said for said in (node.name, words(node.text)) if len(said) <= _LONGEST and _LOADING.match(said)), "")

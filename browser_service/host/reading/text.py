"""Converts the HTML of a page to markdown."""

import asyncio
import re
from collections.abc import Iterator
from typing import Final

from shared.errors import ScriptExecutionFailed

_MOST_CHARACTERS: Final = 2_000_000
"""The most HTML that is converted, in characters. A million takes about a second."""
_NAMES: Final = "(script|style|noscript|template)"
_UNSHOWN: Final = re.compile(rf"<(?:{_NAMES}\b|/{_NAMES}\s*>)", re.IGNORECASE)


async def markdown(html: str) -> str:
    """Convert HTML to markdown in a thread, because large pages take seconds."""
    return await asyncio.to_thread(_markdown, html)


def is_mostly_unshown(html: str) -> bool:
    """Return whether most of a document is invisible: its head, scripts and styles."""
    return 2 * sum(map(len, _shown(html.partition("</head>")[2] or html))) < len(html)


def _markdown(html: str) -> str:
    from markdownify import MarkdownConverter  # noqa: PLC0415 - most services never need it, nor Beautiful Soup

    shown = "".join(_shown(html))
    converter = MarkdownConverter(heading_style="ATX", strip=["script", "style", "head"])
    try:
        converted = str(converter.convert(shown[:_MOST_CHARACTERS]))
    except RecursionError:
        raise ScriptExecutionFailed(
            "The page's elements are nested too deeply to be written as markdown.", hint='Read it as "format": "text".'
        ) from None
    cut = len(shown) - _MOST_CHARACTERS
    rest = f"\n\n(cut: {cut:,} characters of HTML follow)" if cut > 0 else ""
    return re.sub(r"\n{3,}", "\n\n", converted).strip() + rest


def _shown(html: str) -> Iterator[str]:
    """Yield the pieces of a document outside of scripts and the like. An element that is never closed is not left
    out."""
    tags = [*_UNSHOWN.finditer(html)]
    last_end = {tag[2].lower(): tag.start() for tag in tags if tag[2]}
    start, within = 0, ""
    for tag in tags:
        if not within and tag[1] and last_end.get(tag[1].lower(), -1) > tag.start():
            yield html[start : tag.start()]
            within = tag[1].lower()
        elif within and tag[2] and tag[2].lower() == within:
            start, within = tag.end(), ""
    yield html[start:]

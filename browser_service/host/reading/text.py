"""Converts the HTML of a page to markdown."""

import asyncio
import re


async def markdown(html: str) -> str:
    """Convert HTML to markdown, beside the event loop: large pages take seconds."""
    return await asyncio.to_thread(_markdown, html)


def _markdown(html: str) -> str:
    from markdownify import MarkdownConverter  # noqa: PLC0415 - most services never need it, nor Beautiful Soup

    visible = re.sub(r"<(script|style|noscript|template)\b.*?</\1\s*>", "", html, flags=re.DOTALL | re.IGNORECASE)
    converter = MarkdownConverter(heading_style="ATX", strip=["script", "style", "head"])
    return re.sub(r"\n{3,}", "\n\n", str(converter.convert(visible))).strip()

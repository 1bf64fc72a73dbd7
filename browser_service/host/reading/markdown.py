"""Converts HTML to markdown: the title on a line of its own, and no heading without words."""

from bs4 import Tag
from markdownify import MarkdownConverter


class _Converter(MarkdownConverter):
    """The library's converter, without what it gets wrong."""

    def convert_title(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002 - the library's signature
        return f"{text.strip()}\n\n" if el.parent is not None and el.parent.name == "head" else text

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802 - likewise
        convert = super().convert_hN  # type: ignore[misc] # its stubs leave it out
        return str(convert(n, el, text, parent_tags)) if text.strip() else ""


def converter() -> MarkdownConverter:
    return _Converter(heading_style="ATX", strip=["script", "style", "head"])

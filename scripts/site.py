"""Hooks of the documentation's site: its pictures and mark come from where they lie, and tools' names lead to the
reference."""

import re
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts.lint.sources import CONTRACT, ROOT

_REFERENCE: Final = "reference.md"
_MARK: Final = ROOT / "browser_service" / "wall" / "static" / "mark.svg"
_HEADING: Final = re.compile(r"^### (.+): `(\w+)`$", re.MULTILINE)
_CODE: Final = re.compile(r"(<a [^>]*>.*?</a>|<pre.*?</pre>|<h\d.*?</h\d>)|<code>(\w+)</code>", re.DOTALL)
_PLACES: Final = {
    name: f"{title.lower().replace(' ', '-')}-{name}"
    for title, name in _HEADING.findall((ROOT / CONTRACT / "TOOLS.md").read_text(encoding="utf-8"))
}
"""The place of each tool in the reference."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in [_MARK, *(ROOT / "examples").glob("*.png")]:
        name = path.name if path == _MARK else f"examples/{path.name}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:  # noqa: ARG001 - mkdocs names its arguments
    return markdown.replace("](../examples/", "](examples/")


def on_page_content(html: str, page: Page, **_: object) -> str:
    if page.file.src_uri == _REFERENCE:
        return html

    def linked(found: re.Match[str]) -> str:
        place = _PLACES.get(found[2] or "")
        return f'<a class="tool" href="reference.html#{place}">{found[0]}</a>' if place else found[0]

    return _CODE.sub(linked, html)

"""Represents a document as the fake browser knows it: its title, its text, and elements by tag or id."""

import html
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

_VOID = {"input", "img", "br", "meta", "link", "hr"}
_UNSEEN = {"title", "script", "style"}


@dataclass(eq=False)
class Element:
    tag: str
    attributes: dict[str, str]
    form: "Element | None" = None
    text: str = ""
    fields: "list[Element]" = field(default_factory=list)

    @property
    def value(self) -> str:
        return self.attributes.get("value", "")

    @property
    def submits(self) -> bool:
        """Say whether a click on the element sends its form."""
        return self.tag == "button" or self.attributes.get("type") == "submit"

    def sent(self) -> str:
        """Return the fields of a form, encoded."""
        named = [(each.attributes["name"], each.value) for each in self.fields if "name" in each.attributes]
        return urlencode(named)


@dataclass(eq=False)
class Document:
    source: str = ""
    title: str = ""
    text: str = ""
    elements: list[Element] = field(default_factory=list)
    scripts: dict[str, int] = field(default_factory=dict)
    """The variables of its window."""

    def find(self, selector: str) -> Element | None:
        """Find an element by `#id`, or by its tag and an id if it has one."""
        tag, _, named = selector.partition("#")
        return next(
            (
                each
                for each in self.elements
                if (not tag or each.tag == tag) and (not named or each.attributes.get("id") == named)
            ),
            None,
        )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Document(elements=[Element("html", {}), Element("body", {})])
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        form = next((each for each in reversed(self._open) if each.tag == "form"), None)
        element = Element(tag, {name: value or "" for name, value in attrs}, form)
        self.found.elements.append(element)
        if form is not None and tag in {"input", "textarea", "select"}:
            form.fields.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].tag == "title":
            self.found.title = self.found.title or data
        if not self._open or self._open[-1].tag not in _UNSEEN:
            self.found.text += data
        for each in self._open:
            each.text += data


def read(source: str) -> Document:
    """Parse a page's HTML."""
    reader = _Reader()
    reader.feed(source)
    reader.found.source = source
    reader.found.title = " ".join(reader.found.title.split())
    reader.found.text = " ".join(html.unescape(reader.found.text).split())
    return reader.found

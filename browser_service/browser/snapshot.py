"""Snapshots: the page as a tree with refs, cut to what was asked for, and the memory that makes refs safe."""

import re
from dataclasses import dataclass, field
from typing import Final

from playwright.async_api import Page

_REF: Final = re.compile(r"\[ref=((?:f\d+)?e\d+)\]")
_LINE: Final = re.compile(r"""^ *- '?(?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<marks>(?: \[[^\]]*\])*)""")
"""Marks stand after the name and before the text: what looks like one in the page's own words is none."""
_INTERACTIVE: Final = frozenset(
    {
        *("button", "link", "textbox", "searchbox", "checkbox", "radio", "switch", "combobox", "listbox", "option"),
        *("slider", "spinbutton", "tab", "treeitem", "menuitem", "menuitemcheckbox", "menuitemradio", "heading"),
    }
)


@dataclass
class Seen:
    """The last snapshot that a client was given of a page: its document, and what each ref stood for."""

    document: float
    elements: dict[str, str] = field(default_factory=dict)


async def document_of(page: Page) -> float:
    """The identity of the current document: when it began. Survives pushState, changes with every load."""
    return float(await page.evaluate("performance.timeOrigin"))


async def take(page: Page, timeout_ms: int, *, boxes: bool = False) -> tuple[str, Seen]:
    """The whole page's tree, and what its refs mean.

    Always the whole page in AI mode: any other form makes Playwright forget the refs that it does not print.
    """
    while True:
        before = await document_of(page)
        tree = await page.aria_snapshot(mode="ai", boxes=boxes, timeout=timeout_ms)
        if await document_of(page) == before:
            return tree, Seen(before, elements_of(tree))


def first_ref(tree: str) -> str | None:
    return next((ref for line in tree.splitlines() if (ref := _ref_of(line))), None)


def elements_of(tree: str) -> dict[str, str]:
    """Ref -> `role "name"`."""
    found: dict[str, str] = {}
    for line in tree.splitlines():
        if (ref := _ref_of(line)) and (shown := _LINE.match(line)):
            found[ref] = shown.group("role") + (f' "{shown.group("name")}"' if shown.group("name") else "")
    return found


def subtree(tree: str, ref: str) -> str:
    """The lines of one element and what is in it."""
    lines = tree.splitlines()
    start = next((i for i, line in enumerate(lines) if _ref_of(line) == ref), None)
    if start is None:
        return ""
    indent = _indent(lines[start])
    end = next((i for i in range(start + 1, len(lines)) if _indent(lines[i]) <= indent), len(lines))
    return "\n".join(line[indent:] for line in lines[start:end])


def cut_depth(tree: str, depth: int) -> str:
    return "\n".join(line for line in tree.splitlines() if _indent(line) < depth * 2)


def interactive(tree: str) -> str:
    """Only headings and what can be acted on, in the order of the page."""
    return "\n".join(line.strip().removesuffix(":") for line in tree.splitlines() if _is_interactive(line))


def _is_interactive(line: str) -> bool:
    shown = _LINE.match(line)
    return shown is not None and (shown.group("role") in _INTERACTIVE or "[cursor=pointer]" in shown.group("marks"))


def _ref_of(line: str) -> str | None:
    shown = _LINE.match(line)
    found = _REF.search(shown.group("marks")) if shown else None
    return found.group(1) if found else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))

"""Reads a page: its content, and its accessibility tree with refs."""

from typing import Final

from browser_service.host.elements import locators
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading import changes, compact, search
from browser_service.host.reading import tree as trees
from browser_service.host.reading.snapshot import Refs
from browser_service.host.reading.text import markdown
from browser_service.host.reading.tree import Tree
from browser_service.host.scripts import script
from shared.actions import reading
from shared.model import Json
from shared.next_calls import next_call

_TEXT: Final = script("visible_text")
_MATCHES: Final = 12
_UNCHANGED: Final = "nothing changed since your last snapshot"
_ANOTHER: Final = "(you had no snapshot of this document, so the whole)"


async def content(page: BrowserPage, action: reading.Content) -> Json:
    if action.format == "text":
        element = await page.element(action.selector or ":root", action.frame)
        text = str(await element.evaluate(_TEXT, timeout=action.timeout))
    else:
        html = await _html(page, action)
        text = html if action.format == "html" else await markdown(html)
    where = {} if action.selector or action.frame else await _frames_of_a_blank_page(page, action.timeout)
    return {**where, **await page.shown("content", text, action.budget), "format": action.format, "url": page.url}


async def _frames_of_a_blank_page(page: BrowserPage, timeout_ms: int) -> Json:
    """Name the frames of a page whose own document has no text: they may have all that it shows."""
    if len(page.live.frames) == 1 or str(await page.live.locator(":root").evaluate(_TEXT, timeout=timeout_ms)).strip():
        return {}
    return await page.in_frames("body:not(:empty)", None)


async def snapshot(page: BrowserPage, action: reading.Snapshot) -> Json:
    root, part = None, ""
    if action.selector:
        element = await page.element(action.selector, action.frame)
        await element.wait_for(state="attached", timeout=action.timeout)  # aria_snapshot itself does not wait
        part = await element.aria_snapshot(mode="ai", boxes=action.boxes, timeout=action.timeout)
        root = trees.first_ref(trees.parse(part))
    before = page.seen
    given = before.given if before else None
    seen = await page.look(action.timeout, boxes=action.boxes)
    text = _cut(seen.tree, action, root, part)
    if action.since:
        same = given is not None and seen is before
        text = _since(given or [], seen.tree, action, root) if same else f"{_ANOTHER}\n{text}"
    seen.give_all()
    if action.filename:
        return {**await page.saved("snapshot", text, "text/plain; charset=utf-8", "", action.filename), "url": page.url}
    return {**await page.shown("snapshot", text, action.budget), "url": page.url}


async def find(page: BrowserPage, action: reading.Find) -> Json:
    described, refs = [], []
    if action.selector:
        found = await page.element(action.selector, action.frame, strict=True, frames=False)
        await locators.check_syntax(found, action.selector, page.live)
        total = await found.count()
        if not total and (where := await page.in_frames(action.selector, action.frame)):
            lines = [f"nothing matches on the page itself; it is in {where['inFrames']}"]
            return {**_found(page, lines, [], 0), **where}
        described = await locators.in_page(found, locators.DESCRIBE, _MATCHES)
        refs = await page.refs(found, _MATCHES, action.timeout)
        if not (action.text or action.role or action.named):
            return _by_selector(page, action.selector, refs, described, total)
    seen = await page.look(action.timeout)
    nodes = seen.tree
    matches = search.search(nodes, text=action.text or "", role=action.role or "", name=action.named or "")
    if action.selector:
        within = frozenset[str]().union(*(each.inner for each in refs))
        matches = [match for match in matches if match.node.ref in within]
    seen.give(match.node for match in matches[:_MATCHES])
    lines = [search.line(nodes, match) for match in matches[:_MATCHES]]
    if not matches:
        alike = search.nearest(nodes, action.named or action.text or "", action.role or "")
        lines = [f"nothing matches; nearest: {', '.join(alike) or 'nothing of the kind'}"]
    rows = [search.row(nodes, match) for match in matches[:_MATCHES]]
    return _found(page, lines, rows, len(matches))


def _by_selector(page: BrowserPage, selector: str, refs: list[Refs], described: list[Json], total: int) -> Json:
    nodes = page.seen.tree if page.seen else []
    lines: list[str] = []
    rows: list[Json] = []
    for number, (ref, what) in enumerate(zip(refs, described, strict=False)):
        index = trees.index_of(nodes, ref.own) if ref.own else None
        if index is None:
            its_own = f"{selector} >> nth={number}"
            lines.append(f"- {what['tag']} {what['text']!r} (no ref: {its_own})")
            rows.append({"selector": its_own, **what})
        else:
            match = search.Match(index, nodes[index], said="" if nodes[index].name else str(what["text"]))
            lines.append(search.line(nodes, match))
            rows.append(search.row(nodes, match))
    return _found(page, lines or ["nothing matches"], rows, total)


def _found(page: BrowserPage, lines: list[str], rows: list[Json], total: int) -> Json:
    more = [f"{total} in all: narrow it, or {next_call('snapshot')}"] if total > len(rows) else []
    return {"found": "\n".join([*lines, *more]), "matches": [*rows], "total": total, "url": page.url}


def _cut(nodes: Tree, action: reading.Snapshot, root: str | None, part: str) -> str:
    if action.selector:
        index = trees.index_of(nodes, root) if root else None
        nodes = trees.part(nodes, index) if index is not None else trees.parse(part)
    if action.depth:
        nodes = trees.cut_depth(nodes, action.depth)
    if action.interactive_only:
        nodes = trees.interactive(nodes)
    return compact.write(nodes)


def _since(given: Tree, now: Tree, action: reading.Snapshot, root: str | None) -> str:
    found = [change for change in changes.changes(given, now) if _asked(change, action, root)]
    return changes.report(found, now).text if found else _UNCHANGED


def _asked(change: changes.Change, action: reading.Snapshot, root: str | None) -> bool:
    """Say if a change is in the part of the page that the caller named."""
    nodes, index = change.at
    round_it = [index, *trees.above(nodes, index)]
    if root and all(nodes[outer].ref != root for outer in round_it):
        return False
    if action.depth and len(round_it) > action.depth:
        return False
    return not action.interactive_only or any(map(trees.is_interactive, trees.part(nodes, index)))


async def _html(page: BrowserPage, action: reading.Content) -> str:
    if action.selector:
        element = await page.element(action.selector, action.frame)
        return str(await element.evaluate("e => e.outerHTML", timeout=action.timeout))
    if action.frame:
        root = await page.element("html", action.frame)
        return str(await root.evaluate("e => e.outerHTML", timeout=action.timeout))
    return await page.live.content(include_shadow=action.include_shadow)

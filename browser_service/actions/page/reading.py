"""Reads a page: its content, and its accessibility tree with refs."""

from collections.abc import Awaitable
from typing import Final, cast

from browser_service.host import results
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
from shared.wire import FOUND_ELEMENTS

_VISIBLE_TEXT: Final = results.bounded(script("visible_text"))
_SEEN_HTML: Final = results.bounded(script("seen_html"))
_UNSEEN_COUNT: Final = results.bounded(script("unseen_count"))
_HTML: Final = results.bounded("e => e.outerHTML")
_DIGITS: Final = 10
_UNCHANGED: Final = "nothing changed since your last snapshot"
_ANOTHER: Final = "(you had no snapshot of this document, so the whole)"


async def content(page: BrowserPage, action: reading.Content) -> Json:
    if action.format == "html":
        text, beside = await _html(page, action)
    else:
        element = await page.element(action.selector or ":root", action.frame)
        source = _VISIBLE_TEXT if action.format == "text" else _SEEN_HTML
        text, unseen, cut = await _read(element.evaluate(source, page.invisible_text, timeout=action.timeout))
        text, beside = text if action.format == "text" else await markdown(text), {**page.of_unseen(unseen), **cut}
    where = {} if action.selector or action.frame else await _frames_of_a_blank_page(page, action.timeout)
    shown = await page.files.shown("content", text, action.budget)
    return {**where, **shown, **beside, "format": action.format, "url": page.url}


async def _frames_of_a_blank_page(page: BrowserPage, timeout_ms: int) -> Json:
    """Name the frames of a page whose own document has no text: they may have all that it shows."""
    if len(page.playwright.frames) == 1:
        return {}
    text, _, _ = await _read(page.playwright.locator(":root").evaluate(_VISIBLE_TEXT, "keep", timeout=timeout_ms))
    if text.strip():
        return {}
    return await page.in_frames("body:not(:empty)", None)


async def snapshot(page: BrowserPage, action: reading.Snapshot) -> Json:
    part, root = Tree(), None
    if action.selector:
        element = await page.element(action.selector, action.frame)
        await element.wait_for(state="attached", timeout=action.timeout)  # aria_snapshot itself does not wait
        part = trees.parse(await element.aria_snapshot(mode="ai", boxes=action.boxes, timeout=action.timeout))
        root = trees.first_ref(part)
    last = page.view
    last_snapshot = last.snapshot if last else None
    view = await page.refresh_view(action.timeout, boxes=action.boxes)
    text = _text(view.tree, action, root, page.seen(part))
    if action.since:
        known = last_snapshot is not None and view is last
        text = _changes(last_snapshot or [], view.tree, action, root) if known else f"{_ANOTHER}\n{text}"
    view.add_snapshot()
    if action.filename:
        return {
            **await page.save_text("snapshot", text, "text/plain; charset=utf-8", "", action.filename),
            "url": page.url,
        }
    shown = await page.files.shown("snapshot", text, action.budget)
    return {**shown, "url": page.url, **page.of_unseen(view.unseen.count)}


async def find(page: BrowserPage, action: reading.Find) -> Json:
    if not action.selector:
        return await _find_in_tree(page, action, None)
    elements = await page.element(action.selector, action.frame, strict=True, frames=False)
    await locators.check_syntax(elements, action.selector, page.playwright)
    total = await elements.count()
    if not total and (where := await page.in_frames(action.selector, action.frame)):
        lines = [f"nothing matches on the page itself; it is in {where['inFrames']}"]
        return {**_reply(page, lines, [], 0), **where}
    asked = [page.invisible_text, FOUND_ELEMENTS]
    candidates = (await locators.evaluate_all(locators.Candidates, elements, locators.DESCRIBE, asked))["value"]
    refs = await page.refs(elements, FOUND_ELEMENTS, action.timeout)
    if action.text or action.role or action.named:
        return await _find_in_tree(page, action, frozenset[str]().union(*(each.inner for each in refs)))
    return _matches_of_selector(page, action.selector, refs, candidates, total)


async def _find_in_tree(page: BrowserPage, action: reading.Find, within: frozenset[str] | None) -> Json:
    """Search the page by words, role and name, or only the elements of the refs `within`."""
    view = await page.refresh_view(action.timeout)
    nodes = view.tree
    matches = search.search(nodes, text=action.text or "", role=action.role or "", name=action.named or "")
    if within is not None:
        matches = [match for match in matches if match.node.ref in within]
    listed = matches[:FOUND_ELEMENTS]
    view.add_refs(match.node for match in listed)
    lines = [search.to_line(nodes, match) for match in listed]
    if not matches:
        similar = search.nearest(nodes, action.named or action.text or "", action.role or "")
        lines = [f"nothing matches; nearest: {', '.join(similar) or 'nothing of the kind'}"]
    return _reply(page, lines, [search.to_json(nodes, match) for match in listed], len(matches))


def _matches_of_selector(
    page: BrowserPage, selector: str, refs: list[Refs], candidates: list[locators.Candidate], total: int
) -> Json:
    nodes = page.view.tree if page.view else []
    lines: list[str] = []
    rows: list[Json] = []
    for number, (ref, candidate) in enumerate(zip(refs, candidates, strict=False)):
        index = trees.index_of(nodes, ref.own) if ref.own else None
        if index is None:
            address = f"{selector} >> nth={number}"
            lines.append(f"- {candidate['tag']} {candidate['text']!r} (no ref: {address})")
            rows.append({"selector": address, **cast("Json", candidate)})
        else:
            match = search.Match(index, nodes[index], "" if nodes[index].name else candidate["text"])
            lines.append(search.to_line(nodes, match))
            rows.append(search.to_json(nodes, match))
    return _reply(page, lines or ["nothing matches"], rows, total)


def _reply(page: BrowserPage, lines: list[str], rows: list[Json], total: int) -> Json:
    more: Json = {"advice": f"{total} in all: narrow it, or {next_call('snapshot')}"} if total > len(rows) else {}
    return {"found": "\n".join(lines), "matches": [*rows], "total": total, "url": page.url, **more}


def _text(nodes: Tree, action: reading.Snapshot, root: str | None, part: Tree) -> str:
    """Write the page, or the part of it that the caller named, as its own tree where it has no ref."""
    if action.selector:
        index = trees.index_of(nodes, root) if root else None
        nodes = trees.subtree(nodes, index) if index is not None else part
    if action.depth:
        nodes = [node for node in nodes if node.depth < action.depth]
    return compact.write(trees.interactive(nodes) if action.interactive_only else nodes)


def _changes(old: Tree, new: Tree, action: reading.Snapshot, root: str | None) -> str:
    found = [change for change in changes.changes(old, new) if _is_in_part(change, action, root)]
    return changes.report(found, new).text if found else _UNCHANGED


def _is_in_part(change: changes.Change, action: reading.Snapshot, root: str | None) -> bool:
    """Say if a change is in the part of the page that the caller named."""
    nodes, index = change.position
    path = [index, *trees.ancestors(nodes, index)]
    if root and all(nodes[outer].ref != root for outer in path):
        return False
    if action.depth and len(path) > action.depth:
        return False
    return not action.interactive_only or any(map(trees.is_interactive, trees.subtree(nodes, index)))


async def _html(page: BrowserPage, action: reading.Content) -> tuple[str, Json]:
    """Return the HTML as it is, and how many texts in it nobody sees."""
    element = await page.element(action.selector or ":root", action.frame)
    html, beside = await _received(element.evaluate(_HTML, timeout=action.timeout))
    if not (action.selector or action.frame or beside):
        html = await page.playwright.content(include_shadow=action.include_shadow)
    if page.invisible_text == "keep":
        return html, beside
    unseen = results.made(int, await element.evaluate(_UNSEEN_COUNT, timeout=action.timeout))
    texts = "1 text in it is" if unseen == 1 else f"{unseen} texts in it are"
    return html, {**beside, **({"invisible": unseen, "advice": f"{texts} not seen on the page"} if unseen else {})}


async def _read(evaluation: Awaitable[object]) -> tuple[str, int, Json]:
    """Return a text of the page, how many texts nobody sees in it, and how much of it came if that is not all."""
    read, cut = await _received(evaluation)
    count, _, text = read.partition("\n")
    return text, int(count) if count.isdecimal() and len(count) < _DIGITS else 0, cut


async def _received(evaluation: Awaitable[object]) -> tuple[str, Json]:
    """Return a text of the page, and how much of it came if that is not all."""
    found = results.received(await evaluation)
    return str(found.value()), {"cut": found.cut} if found.cut else {}

"""Reads a page as its accessibility tree, with refs, and finds what is in that."""

import asyncio
import contextlib
import time
from functools import partial
from typing import Final, cast

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions import reading
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import FOUND_ELEMENTS
from browser_service.host import world
from browser_service.host.elements import locators
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading import compact, difference, loading, search
from browser_service.host.reading import tree as trees
from browser_service.host.reading.snapshot import ClientView, Refs
from browser_service.host.reading.tree import Tree
from browser_service.host.reading.tree_text import frames_not_shown, joined, parsed, tree_text
from browser_service.host.scripts import results, script

_LEAST_OF_EACH: Final = 2
"""Least matches for each of several questions."""
_COMES_S: Final = 0.5
"""After an act in the same call, how long to look for something that is not there yet."""
_UNSEEN: Final = "nothing that is seen matches; what nobody sees does"
_LOOK_S: Final = 0.1
_IS_INERT: Final = results.bounded(script("is_inert"))
_INERT_MS: Final = 500
_DIALOGS: Final = frozenset({"dialog", "alertdialog"})
_UNCHANGED: Final = "nothing changed since your last snapshot"
_ANOTHER: Final = "(you had no snapshot of this document, so the whole)"


async def snapshot(page: BrowserPage, action: reading.Snapshot) -> Json:
    part, root, element = Tree(), None, None
    if action.selector:
        element = await page.elements.find(action.selector, action.frame)
        await element.wait_for(state="attached", timeout=action.timeout)  # aria_snapshot itself does not wait
        part = await parsed(await tree_text(element, action.timeout, boxes=action.boxes))
        root = trees.first_ref(part)
    last = page.looks.view
    last_snapshot = last.snapshot if last else None
    view = await page.looks.refresh_view(action.timeout, boxes=action.boxes)
    text = _text(view.tree, action, root, page.looks.seen(part))
    if action.since:
        known = last_snapshot is not None and view is last
        text = _changes(last_snapshot or [], view.tree, action, root) if known else f"{_ANOTHER}\n{text}"
    view.add_snapshot()
    if action.filename:
        return {
            **await page.files.save_text("snapshot", text, "text/plain; charset=utf-8", "", action.filename),
            "url": page.url,
        }
    shown = await page.files.shown("snapshot", text, action.budget)
    of_unseen = page.looks.of_unseen(view.unseen.count)
    beyond = view.state.beyond.advice(page.url) if view.state else {}
    closed = await page.looks.closed(element)
    loads = {} if text else loading.advice(view, page.pending(), page.page_id)
    waits: Json = {"advice": page.observer.waits} if page.observer.waits else {}
    return {**shown, "url": page.url, **of_unseen, **joined(waits, of_unseen, beyond, closed, loads)}


async def find(page: BrowserPage, action: reading.Find) -> Json:
    if not action.selector:
        return await _find_in_tree(page, action, None)
    elements = await page.elements.find(action.selector, action.frame, strict=True, frames=False)
    await locators.check_syntax(elements, action.selector, page.playwright)
    if not (total := await elements.count()) and page.follows:
        with contextlib.suppress(PlaywrightError):
            await elements.first.wait_for(state="attached", timeout=_COMES_S * 1000)
            total = await elements.count()
    if not total and (where := await page.elements.in_frames(action.selector, action.frame)):
        return {**_reply(page, ["nothing matches on the page itself"], [], 0), **where}
    candidates = (await locators.evaluate_all(locators.Candidates, elements, locators.DESCRIBE, FOUND_ELEMENTS))[
        "value"
    ]
    refs = await page.looks.refs(elements, FOUND_ELEMENTS, action.timeout)
    if action.asked:
        return await _find_in_tree(page, action, frozenset[str]().union(*(each.inner for each in refs)))
    return _matches_of_selector(page, action.selector, refs, candidates, total)


async def _find_in_tree(page: BrowserPage, action: reading.Find, within: frozenset[str] | None) -> Json:
    """Search the page for each thing that is asked for; with `within`, only the elements with these refs. If a page
    that has just loaded lacks one, wait a little for its pending requests."""
    pending = partial(page.pending, whole=True)
    asked = bool(pending())
    view = await page.looks.refresh_view(action.timeout)
    found = _found(view.tree, action, within)
    loads = within is None and not all(found) and await loading.wait_for_answers(view, pending, asked=asked)
    if loads:
        view = await page.looks.refresh_view(action.timeout)
        found = _found(view.tree, action, within)
    looks_until = time.monotonic() + (_COMES_S if page.follows and within is None else 0)
    while not all(found) and time.monotonic() < looks_until:
        await asyncio.sleep(_LOOK_S)  # nothing announces late effects of an act
        view = await page.looks.refresh_view(action.timeout)
        found = _found(view.tree, action, within)
    lines: list[str] = []
    rows: list[Json] = []
    totals = 0
    most = max(_LEAST_OF_EACH, FOUND_ELEMENTS // len(action.asked))
    for number, (query, matches) in enumerate(zip(action.asked, found, strict=True), 1):
        listed = search.listed(matches, query.named, most)
        view.add_refs(match.node for match in listed)
        of_several: Json = {"query": number} if action.queries else {}
        rows += [{**search.to_json(view.tree, match), **of_several} for match in listed]
        said = search.to_lines(view.tree, listed, len(matches)) or [_nothing(view, query, action)]
        inert = await _inert(page, view, listed)
        said = [f"{line} · inert, behind a dialog" if at in inert else line for at, line in enumerate(said)]
        lines += search.numbered(number, said, len(matches)) if action.queries else said
        totals += len(matches)
    beyond = _offer(view)
    if within is None and not all(found):
        lines += frames_not_shown(view.tree)
        beyond = joined(view.state.beyond.advice(page.url) if view.state else {}, await page.looks.closed())
        beyond = joined(loading.advice(view, pending() if loads else [], page.page_id), beyond)
    if any(_UNSEEN in line for line in lines):
        unseen = next_call("content", page_id=page.page_id, unseen=True)
        beyond = joined(_offer(view), {"advice": f"what nobody sees: {unseen}"})
    reply = _reply(page, lines, rows, totals, narrow=not action.queries)
    return {**reply, **joined(reply, beyond)}


async def _inert(page: BrowserPage, view: ClientView, listed: list[search.Match]) -> set[int]:
    """Return which matches take no acts now, because a dialog is open."""
    if not any(node.role in _DIALOGS for node in view.tree):
        return set()
    controls = [(at, str(each.node.ref)) for at, each in enumerate(listed) if each.node.ref and each.node.is_control]
    asked = [
        world.evaluate(page.playwright.locator(f"aria-ref={ref}"), _IS_INERT, timeout_ms=_INERT_MS)
        for _, ref in controls
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)  # an element may have gone
    return {at for (at, _), answer in zip(controls, answers, strict=True) if _is_true(answer)}


def _is_true(answer: object) -> bool:
    return not isinstance(answer, BaseException) and results.value_of(answer) is True


def _found(nodes: Tree, action: reading.Find, within: frozenset[str] | None) -> list[list[search.Match]]:
    """Return the matches of each question."""
    matches = [
        search.search(nodes, text=query.text or "", role=query.role or "", name=query.named or "")
        for query in action.asked
    ]
    return [[each for each in found if within is None or each.node.ref in within] for found in matches]


def _nothing(view: ClientView, query: reading.FindQuery, action: reading.Find) -> str:
    """Say that nothing matches, and what comes near. One of several questions gets a short answer."""
    nodes, sought = view.tree, (query.text or query.named or "").casefold()
    if sought and any(sought in words.casefold() for words in view.unseen.words):
        return _UNSEEN
    similar = search.nearest(nodes, query.named or query.text or "", query.role or "", others=not action.queries)
    if action.queries and not similar:
        return "nothing"
    return f"nothing matches; nearest: {', '.join(similar) or 'nothing of the kind'}"


def _matches_of_selector(
    page: BrowserPage, selector: str, refs: list[Refs], candidates: list[locators.Candidate], total: int
) -> Json:
    nodes = page.looks.view.tree if page.looks.view else []
    lines: list[str] = []
    rows: list[Json] = []
    for number, (ref, candidate) in enumerate(zip(refs, candidates, strict=False)):
        index = trees.index_of(nodes, ref.own) if ref.own else None
        if index is None:
            address = f"{selector} >> nth={number}"
            lines.append(f"- {candidate['tag']} {candidate['text']!r} (no ref: {address})")
            rows.append({"selector": address, **cast("Json", candidate)})  # our script returns JSON
        else:
            match = search.Match(index, nodes[index], "" if nodes[index].name else candidate["text"])
            lines.append(search.to_line(nodes, match))
            rows.append(search.to_json(nodes, match))
    reply = _reply(page, lines or ["nothing matches"], rows, total)
    return {**reply, **joined(reply, _offer(page.looks.view))}


def _offer(view: ClientView | None) -> Json:
    """Return the part of a reply that tells of the page's own tools."""
    return view.state.beyond.offer() if view and view.state else {}


def _reply(page: BrowserPage, lines: list[str], rows: list[Json], total: int, *, narrow: bool = True) -> Json:
    is_cut = narrow and total > len(rows)  # with several questions, each says how many it has
    more: Json = {"advice": f"{total} in all: narrow it, or {next_call('snapshot')}"} if is_cut else {}
    return {"found": "\n".join(lines), "matches": [*rows], "total": total, "url": page.url, **more}


def _text(nodes: Tree, action: reading.Snapshot, root: str | None, part: Tree) -> str:
    """Write the page, or the part that the caller named; `part` is used if that has no ref."""
    if action.selector:
        index = trees.index_of(nodes, root) if root else None
        nodes = trees.subtree(nodes, index) if index is not None else part
    if action.depth:
        nodes = [node for node in nodes if node.depth < action.depth]
    return compact.write(trees.interactive(nodes) if action.interactive_only else nodes)


def _changes(old: Tree, new: Tree, action: reading.Snapshot, root: str | None) -> str:
    """Write what changed in the part of the page that the caller named."""

    def is_shown(nodes: Tree, index: int) -> bool:
        path = [index, *trees.ancestors(nodes, index)]
        if root and all(nodes[outer].ref != root for outer in path):
            return False
        if action.depth and len(path) > action.depth:
            return False
        return not action.interactive_only or any(map(trees.is_interactive, trees.subtree(nodes, index)))

    return difference.written(old, new, is_shown) or _UNCHANGED

"""Reads a page: its content, and its accessibility tree with refs."""

import asyncio
import contextlib
from collections.abc import Awaitable
from functools import partial
from typing import Final, cast

from browser_service.host import results
from browser_service.host.elements import locators
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading import articles, changes, compact, loading, passages, search
from browser_service.host.reading import tree as trees
from browser_service.host.reading.articles import Article, Section
from browser_service.host.reading.snapshot import Refs
from browser_service.host.reading.text import markdown
from browser_service.host.reading.tree import Tree
from browser_service.host.reading.tree_text import frames_not_shown, parsed, tree_text
from browser_service.host.scripts import script
from shared.actions import reading
from shared.model import Json
from shared.next_calls import next_call
from shared.wire import FOUND_ELEMENTS

_VISIBLE_TEXT: Final = results.bounded(script("visible_text"))
_SEEN_HTML: Final = results.bounded(script("seen_html"))
_BLOCKS: Final = results.bounded(script("blocks"))
_UNSEEN_COUNT: Final = results.bounded(script("unseen_count"))
_HTML: Final = results.bounded("e => e.outerHTML")
_DOCUMENT_HTML: Final = results.bounded(script("document_html"))
_HTML_LENGTH: Final = results.bounded("e => e.outerHTML.length")
_NOT_EMPTY: Final = "body:not(:empty)"
_LEAST_OF_EACH: Final = 2
"""Of several questions, each gets so many matches at least."""
_DIGITS: Final = 10
_UNCHANGED: Final = "nothing changed since your last snapshot"
_ANOTHER: Final = "(you had no snapshot of this document, so the whole)"


async def content(page: BrowserPage, action: reading.Content) -> Json:
    if action.query or action.section or await _is_long(page, action):
        return await _article(page, action)
    if action.format in {None, "html"}:
        text, beside = await _html(page, action)
    else:
        element = await page.element(action.selector or ":root", action.frame)
        source = _VISIBLE_TEXT if action.format == "text" else _SEEN_HTML
        text, unseen, cut = await _read(element.evaluate(source, page.invisible_text, timeout=action.timeout))
        text, beside = text if action.format == "text" else await markdown(text), {**page.of_unseen(unseen), **cut}
    where = {} if action.selector or action.frame else await _frames_of_a_blank_page(page, action.timeout)
    shown = await page.files.shown("content", text, action.budget)
    return {**where, **shown, **beside, "format": action.format or "html", "url": page.url}


async def _is_long(page: BrowserPage, action: reading.Content) -> bool:
    """Say if a model that asks for the content alone would get more HTML than it can want."""
    if not page.files.is_for_model or action.format or action.budget or action.include_shadow:
        return False
    return results.made(int, await _evaluate(page, action, _HTML_LENGTH, None)) > articles.LONG


async def _evaluate(page: BrowserPage, action: reading.Content, source: str, arg: object) -> object:
    """Evaluate a function of what is to be read; of the page itself by one message, if it has anything yet."""
    if not (action.selector or action.frame):
        with contextlib.suppress(locators.NoElement):
            return await locators.evaluate_one(page.playwright, ":root", source, arg)
    element = await page.element(action.selector or ":root", action.frame)
    return await element.evaluate(source, arg, timeout=action.timeout)


async def _article(page: BrowserPage, action: reading.Content) -> Json:
    """Return the beginning of a page, a section of it, or the passages about a question."""
    answer = await _evaluate(page, action, _BLOCKS, [page.invisible_text])
    found = results.made(articles.Found.of, answer)
    article = found.article(await page.files.conceal(found.text))
    told: Json
    if action.query:
        told = await _passages(page, action, article)
    elif action.section:
        told = await _head(page, action, article, articles.section(article, action.section))
    else:
        told = await _head(page, action, article, None)
    in_frames = {} if told["content"] or action.selector or action.frame else await page.in_frames(_NOT_EMPTY, None)
    of_unseen = page.of_unseen(found.unseen)
    advice = "; ".join(str(each["advice"]) for each in (of_unseen, told) if "advice" in each)
    cut: Json = {"cut": "the beginning of a longer text"} if article.is_cut else {}
    return {**in_frames, **told, **of_unseen, **cut, "advice": advice, "format": "text", "url": page.url}


async def _head(page: BrowserPage, action: reading.Content, article: Article, section: Section | None) -> Json:
    """Return a page or a section of it; of a long one its headings, and as much of it as was asked for."""
    text, start = (article.text(), article.main) if section is None else (article.text_of(section), 0)
    inner = article.sections if section is None else article.within(section)
    budget = articles.budget(text, section, page.files.room) if page.files.is_for_model else None
    shown = await page.files.shown("content", text, action.budget or budget, start)
    if "length" not in shown:  # it is the whole
        return shown
    listed = articles.headings(inner)
    head = f"Headings:\n{listed}\n\nBeginning{' of the main part' if start else ''}:\n" if listed else ""
    return {**shown, "content": f"{head}{shown['content']}", "advice": articles.ways_on(page.page_id, inner)}


async def _passages(page: BrowserPage, action: reading.Content, article: Article) -> Json:
    found = await asyncio.to_thread(passages.about, article, action.query or "")
    if not found:
        return {
            "content": articles.headings(article.sections),
            "advice": "no passage has any of these words; the headings are above",
        }
    budget = min(page.files.room, passages.budget(found)) if page.files.is_for_model else None
    return await page.files.shown("content", "\n".join(found), action.budget or budget)


async def _frames_of_a_blank_page(page: BrowserPage, timeout_ms: int) -> Json:
    """Name the frames of a page whose own document has no text: they may have all that it shows."""
    if len(page.playwright.frames) == 1:
        return {}
    text, _, _ = await _read(page.playwright.locator(":root").evaluate(_VISIBLE_TEXT, "keep", timeout=timeout_ms))
    if text.strip():
        return {}
    return await page.in_frames(_NOT_EMPTY, None)


async def snapshot(page: BrowserPage, action: reading.Snapshot) -> Json:
    part, root = Tree(), None
    if action.selector:
        element = await page.element(action.selector, action.frame)
        await element.wait_for(state="attached", timeout=action.timeout)  # aria_snapshot itself does not wait
        part = await parsed(await tree_text(element, action.timeout, boxes=action.boxes))
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
    if action.asked:
        return await _find_in_tree(page, action, frozenset[str]().union(*(each.inner for each in refs)))
    return _matches_of_selector(page, action.selector, refs, candidates, total)


async def _find_in_tree(page: BrowserPage, action: reading.Find, within: frozenset[str] | None) -> Json:
    """Search the page for each thing that is asked for, or only the elements of the refs `within`. A page that has just
    come, and lacks one of them, may yet get what it asked its server for."""
    pending = partial(page.pending, whole=True)
    asked = bool(pending())
    view = await page.refresh_view(action.timeout)
    found = _found(view.tree, action, within)
    if within is None and not all(found) and await loading.wait_for_answers(view, pending, asked=asked):
        view = await page.refresh_view(action.timeout)
        found = _found(view.tree, action, within)
    lines: list[str] = []
    rows: list[Json] = []
    totals = 0
    most = max(_LEAST_OF_EACH, FOUND_ELEMENTS // len(action.asked))
    for number, (query, matches) in enumerate(zip(action.asked, found, strict=True), 1):
        listed = search.called_so(matches, query.named)[:most]
        view.add_refs(match.node for match in listed)
        of_several: Json = {"query": number} if action.queries else {}
        rows += [{**search.to_json(view.tree, match), **of_several} for match in listed]
        said = search.to_lines(view.tree, listed, len(matches)) or [_nothing(view.tree, query, action)]
        lines += search.numbered(number, said, len(matches)) if action.queries else said
        totals += len(matches)
    if within is None and not all(found):
        lines += frames_not_shown(view.tree)
    return _reply(page, lines, rows, totals, narrow=not action.queries)


def _found(nodes: Tree, action: reading.Find, within: frozenset[str] | None) -> list[list[search.Match]]:
    """Return what matches each question."""
    matches = [
        search.search(nodes, text=query.text or "", role=query.role or "", name=query.named or "")
        for query in action.asked
    ]
    return [[each for each in found if within is None or each.node.ref in within] for found in matches]


def _nothing(nodes: Tree, query: reading.FindQuery, action: reading.Find) -> str:
    """Say that there is nothing, and what is like it; to one question of several, that alone."""
    similar = search.nearest(nodes, query.named or query.text or "", query.role or "", others=not action.queries)
    if action.queries and not similar:
        return "nothing"
    return f"nothing matches; nearest: {', '.join(similar) or 'nothing of the kind'}"


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
            rows.append({"selector": address, **cast("Json", candidate)})  # our script gives JSON
        else:
            match = search.Match(index, nodes[index], "" if nodes[index].name else candidate["text"])
            lines.append(search.to_line(nodes, match))
            rows.append(search.to_json(nodes, match))
    return _reply(page, lines or ["nothing matches"], rows, total)


def _reply(page: BrowserPage, lines: list[str], rows: list[Json], total: int, *, narrow: bool = True) -> Json:
    is_cut = narrow and total > len(rows)  # several questions tell how many there are of each
    more: Json = {"advice": f"{total} in all: narrow it, or {next_call('snapshot')}"} if is_cut else {}
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
    asked = _HTML if action.selector or action.frame else _DOCUMENT_HTML
    html, beside = await _received(element.evaluate(asked, action.include_shadow, timeout=action.timeout))
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

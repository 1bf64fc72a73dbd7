"""Reads what a page says: as HTML, markdown or text, by its sections, or the passages about a question."""

import asyncio
from collections.abc import Awaitable
from typing import Final

from browse_together.contract.actions import reading
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.elements import frames
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading import articles, passages
from browser_service.host.reading.articles import Article, Section, is_mostly_unshown, markdown
from browser_service.host.reading.tree_text import joined
from browser_service.host.reading.unseen import UNSEEN_MARK
from browser_service.host.scripts import results, script

_VISIBLE_TEXT: Final = results.bounded(script("visible_text"))
_SEEN_HTML: Final = results.bounded(script("seen_html"))
_BLOCKS: Final = results.bounded(script("blocks"))
_UNSEEN_COUNT: Final = results.bounded(script("unseen_count"))
_HTML: Final = results.bounded(script("element_html"))
_DOCUMENT_HTML: Final = results.bounded(script("document_html"))
_HTML_LENGTH: Final = results.bounded("e => e.outerHTML.length")
_LEAST_HTML: Final = 600
"""Shorter HTML is hardly longer than its words."""
_NOT_EMPTY: Final = "body:not(:empty)"
_DIGITS: Final = 10


async def content(page: BrowserPage, action: reading.Content) -> Json:
    if action.unseen:
        return await _unseen(page, action)
    if action.query or action.section or await _is_long(page, action):
        return await _article(page, action)
    if action.format in {None, "html"}:
        text, beside = await _html(page, action)
    else:
        element = await page.elements.find(action.selector or ":root", action.frame)
        source = _VISIBLE_TEXT if action.format == "text" else _SEEN_HTML
        text, unseen, cut = await _read(world.evaluate(element, source, timeout_ms=action.timeout))
        text = text if action.format == "text" else await markdown(text)
        beside = {**page.looks.of_unseen(unseen), **cut}
    is_blank = not action.selector and not action.frame and await _is_blank(page, action, text)
    beyond = (await page.looks.state()).beyond.advice(page.url) if is_blank else {}
    where = {**await _in_frames(page, action, is_blank=is_blank), **beyond}
    closed = await _closed(page, action)
    shown = await page.files.shown("content", text, action.budget)
    return {
        **where,
        **shown,
        **beside,
        **joined(where, beside, closed),
        "format": action.format or "html",
        "url": page.url,
    }


async def _is_long(page: BrowserPage, action: reading.Content) -> bool:
    """Return whether a model that asks only for the content would get more HTML than it can use."""
    if not page.files.is_for_model or action.format or action.budget or action.include_shadow:
        return False
    return results.made(int, await _evaluate(page, action, _HTML_LENGTH, None)) > articles.LONG


async def _evaluate(page: BrowserPage, action: reading.Content, source: str, arg: object) -> object:
    """Evaluate a function on the element to read. On the page itself this takes one message, if it has a root yet."""
    element = await page.elements.find(action.selector or ":root", action.frame)
    return await world.evaluate(element, source, arg, timeout_ms=action.timeout)


async def _article(page: BrowserPage, action: reading.Content) -> Json:
    """Return the beginning of a page, a section of it, or the passages about a question."""
    answer = await _evaluate(page, action, _BLOCKS, "drop")
    found = results.made(articles.Found.of, answer)
    article = found.article(await page.files.conceal(found.text))
    told: Json
    if action.query:
        told = await _passages(page, action, article)
    elif action.section:
        told = await _head(page, action, article, articles.section(article, action.section))
    else:
        told = await _head(page, action, article, None)
    in_frames = await _in_frames(page, action, is_blank=not found.text)
    of_unseen, closed = page.looks.of_unseen(found.unseen), await _closed(page, action)
    cut: Json = {"cut": "the beginning of a longer text"} if article.is_cut else {}
    return {
        **in_frames,
        **told,
        **of_unseen,
        **cut,
        **joined(of_unseen, told, closed),
        "format": "text",
        "url": page.url,
    }


async def _unseen(page: BrowserPage, action: reading.Content) -> Json:
    """Return the invisible text, marked within the blocks around it."""
    found = results.made(articles.Found.of, await _evaluate(page, action, _BLOCKS, "mark"))
    article = found.article(await page.files.conceal(found.text))
    blocks = [block for block in article.blocks if UNSEEN_MARK in block]
    told: Json = {} if blocks else {"advice": "nothing that it draws is unseen"}
    return {**await page.files.shown("content", "\n".join(blocks), action.budget), **told, "url": page.url}


async def _head(page: BrowserPage, action: reading.Content, article: Article, section: Section | None) -> Json:
    """Return a page or section. For a long one: its headings, and as much of it as the budget allows."""
    text, start = (article.text(), article.main) if section is None else (article.text_of(section), 0)
    inner = article.sections if section is None else article.within(section)
    budget = articles.budget(text, section, page.files.room) if page.files.is_for_model else None
    shown = await page.files.shown("content", text, action.budget or budget, start)
    if "length" not in shown:  # it was short enough to show all
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


async def _is_blank(page: BrowserPage, action: reading.Content, text: str) -> bool:
    """Return whether a page's own document shows no text: its frames may have everything that it shows."""
    if action.format != "text":
        if len(page.playwright.frames) == 1:
            return False
        root = page.playwright.locator(":root")
        text, _, _ = await _read(world.evaluate(root, _VISIBLE_TEXT, timeout_ms=action.timeout))
    return not text.strip()


async def _in_frames(page: BrowserPage, action: reading.Content, *, is_blank: bool) -> Json:
    """Name the frames whose words this reading lacks; beside a blank page, all that show anything."""
    is_part = bool(action.selector or action.frame)
    if len(page.playwright.frames) == 1 or (is_blank and not is_part):
        return await page.elements.in_frames(_NOT_EMPTY, None) if is_blank else {}
    element = await page.elements.find(action.selector or ":root", action.frame) if is_part else None
    return frames.named(await frames.with_words(page.playwright, element))


async def _closed(page: BrowserPage, action: reading.Content) -> Json:
    part = await page.elements.find(action.selector, action.frame) if action.selector else None
    return await page.looks.closed(part)


async def _html(page: BrowserPage, action: reading.Content) -> tuple[str, Json]:
    """Return the raw HTML, how many invisible texts it has, and how to read it better if it has few words."""
    element = await page.elements.find(action.selector or ":root", action.frame)
    asked = _HTML if action.selector or action.frame else _DOCUMENT_HTML
    html, beside = await _received(world.evaluate(element, asked, action.include_shadow, timeout_ms=action.timeout))
    told: Json = {}
    if page.files.is_for_model and not action.format and len(html) > _LEAST_HTML and is_mostly_unshown(html):
        told = {"advice": f"mostly scripts and styles; its words: {next_call('content', format='markdown')}"}
    unseen = results.made(int, await world.evaluate(element, _UNSEEN_COUNT, timeout_ms=action.timeout))
    if unseen:
        texts = "1 text in it is" if unseen == 1 else f"{unseen} texts in it are"
        of_unseen: Json = {"advice": f"{texts} not seen on the page"}
        told = {"invisible": unseen, **joined(told, of_unseen)}
    return html, {**beside, **told}


async def _read(evaluation: Awaitable[object]) -> tuple[str, int, Json]:
    """Return a text of the page, how many invisible texts it has, and, if it was cut, how much of it came."""
    read, cut = await _received(evaluation)
    count, _, text = read.partition("\n")
    return text, int(count) if count.isdecimal() and len(count) < _DIGITS else 0, cut


async def _received(evaluation: Awaitable[object]) -> tuple[str, Json]:
    """Return a text of the page, and, if it was cut, how much of it came."""
    found = results.received(await evaluation)
    return str(found.value()), {"cut": found.cut} if found.cut else {}

"""Tests every script of ours beside a page that has replaced all that a page can: its globals, the methods and
properties of their prototypes, and those of each element. What a script gives there is what it gives beside the page as
it came."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from playwright.async_api import Page, Route

from browser_service.host import world
from browser_service.host.scripts import IN_THE_PAGES_WORLD, call_of, results, script
from tests.pure.test_page_scripts import CALLED
from tests.support.poison import POISON
from tests.support.service import RunningService, visiting

pytestmark = [pytest.mark.anyio]

URL = "http://shop.test/"
PAGE = """<!doctype html><title>Shop</title><meta name=description content=Teas><body>
<h1>Teas</h1><p>Green <b>fresh</b> <span style='opacity: 0'>hidden</span></p><a href=/next title=more>Next</a>
<img alt=a src='data:,'>
<form><label>Name <input id=i value=Ann></label><input type=checkbox id=k><input type=password id=w value=pw>
<input type=file><select id=s><option>a<option selected>b</select><button id=b type=button>Buy</button></form>
<table><tr><th>Kind<th>Price<tr><td>Green<td>5</table><div id=d>drag</div><div id=h></div>
<input id=c role=combobox aria-controls=l><div id=l><p role=option>Tea</div>
<output>Saved</output><iframe id=f srcdoc=inner></iframe><script>
h.attachShadow({mode: 'open'}).innerHTML = '<p>deep</p><input name=pin value=1>';
</script>"""

USES = {
    "act_over": "run(null, 'over')",
    "after_act": "run(e => e.id)([$('#i')])",
    "beyond_tree": "run(document)",
    "blocks": "run(document.body)",
    "can_be_hit": "run($('#b'), null)",
    "candidates": "run($$('input, a'), 5)",
    "click_and_state": "run([$('#b')], {asked: [0, 9, 'drop', 0], kind: 'click', force: true, first: true, name: 'n'})",
    "click_point": "run($('#b'), [null, true])",
    "click_verdict": "run([$('#b')], 'nobody')",
    "click_witness": "run([$('#b')], {kind: 'click', force: true, first: true, name: 'n'})",
    "clickable": "run($('#b')).id",
    "closed_part": "run($('p'))",
    "closed_secret": "run($('#w'))",
    "code_box": "run($('#i'), [1, 0])",
    "code_text": "run($('#i'), 1)",
    "combobox_options": "run($('#c'), 'Tea')",
    "combobox_state": "run($('#i'), 'none')",
    "control": "run($('b')).localName",
    "cut": "run('twelve words', 3)",
    "document_html": "run(document.documentElement, true).length",
    "document_size": "run()",
    "document_state": "run([1, 50, 'drop', 0])",
    "document_title": "run()",
    "drag_end": "run(() => 1)",
    "drag_moved": "run($('#d'), [{there: true, x: 0, y: 0, parent: '', index: 0}, 0]).then(({there}) => there)",
    "drag_place": "run($('#d'))",
    "drag_watch": "run($('#d'))()",
    "drop_field": "run().type",
    "drop_on": "run([$('[type=file]'), $('[type=file]')])",
    "drag_settled": "run($('#b'), 50)",
    "editor": "run([$('#i')])",
    "editor_text": "run($('#d'), 'drag')",
    "element_at": "run([20, 20]).localName",
    "element_html": "run($('#c')).length",
    "element_box": "run([$('#b')])",
    "element_facts": "run($('p'))",
    "element_name": "run($('#b'))",
    "element_words": "run($('#b'), {})",
    "expected": "run($$('p'), 99)",
    "extract_attribute": "run($$('input'), [true, 'type'])",
    "extract_data": "run(document.body, {fields: {teas: {selector: 'td', all: true}}, ms: 0})",
    "extract_html": "run($$('p'), [true, false])",
    "extract_images": "run(document.body, {backgrounds: true})",
    "extract_links": "run(document.body, {site: 'any', unique: true})",
    "extract_metadata": "run()",
    "extract_style": "run($$('p'), [false, {properties: ['color'], pseudo: null}])",
    "extract_tables": "run($$('table'), [true, {headers: null, lists: false}])",
    "extract_text": "run($$('p'), [true, {trim: true, normalize: true}])",
    "fetch": "run({url: 'data:text/plain,tea', init: {}, binary: true, timeout: 5000})",
    "fetch_within": "run(null, {url: 'data:text/plain,tea', init: {}, binary: false, timeout: 5000})",
    "field": "run($('#i'))",
    "field_after": "run(e => e.id)([$('#i')], [30, 50, null])",
    "find_on": "run({text: 'Green', back: false})",
    "focused_element": "run().localName",
    "form_fill": "run([$('#i'), $('#s')], ['Bea', ['a']]).then?.() ?? $('#i').value",
    "form_look": "run($$('input, select'), [20, 50])",
    "found_elements": "run($$('input, p'), [5, true])",
    "frame_corner": "run($('#f'))",
    "frame_inset": "run($('#f'))",
    "frame_selector": "run($('#f'))",
    "given_secrets": "run($('#i'), {of: origin, texts: ['Ana'], given: 'Ana'})",
    "is_inert": "run($('#b'))",
    "kept_call": "run(() => 3, 'alone')([], 1, '')",
    "kept_engine": "run().queryAll($('#b'), 'keep:k')[0].id",
    "key_released": "run($('#i'))",
    "keys_ready": "run($('#i'), [true, true]) || document.activeElement.id",
    "label_engine": "run().queryAll($('#b'), '').length",
    "lasting": "run($('#b'))",
    "lasting_pressed": "run(null, 50)",
    "line_numbers": "run(document.body).size",
    "list_options": "run($('#s'))",
    "list_under": "run((({x, y}) => ({x: x + 5, y: y + 5}))($('#s').getBoundingClientRect())).id",
    "local_storage": "run([])",
    "mark_draw": "run($('#b'), {tag: 'x-m', label: 'l', colour: 'red', seconds: 1}) ?? $$('x-m').length",
    "mark_removal": "run('x-m')",
    "next_field": "run(false)",
    "obstacles": "run([$('#b')], true)",
    "on_its_way": "run($('#b').animate([], 9000))",
    "opened_option": "run($('#b'), ['Tea', 30, 'open'])",
    "open_parts": "run()",
    "options_there": "run($('#s'), [[['label', 'a']], 0])",
    "origin_engine": "run().queryAll(document, encodeURIComponent(origin)).length",
    "packed": "run(() => [1, {a: 'b'}])()",
    "page_tool_call": "run(['tea', {}, 50, '']).then(({end}) => end)",
    "page_tools": "run(['', false, 5, 50, 50])",
    "page_work": "run().length",
    "parked_place": "(({x, y}) => [x, y])(run(1000))",
    "paste": "run($('#i'), {text: 'Cleo', html: null})",
    "pasted_value": "run($('#i'))",
    "pointed": "run($('#b')).id",
    "presses": "run('told') ?? 'listens'",
    "range_beside": "run(Object.assign(document.createElement('input'), {type: 'range', value: 7})).join()",
    "reachable": "run({url: 'data:text/plain,tea', timeout: 5000})",
    "ref_check": "run($('#b'), {name: 'Buy', row: ''})",
    "ref_engine": 'run().queryAll($(\'#b\'), encodeURIComponent(`{"event": "x", "name": "Buy", "row": ""}`)).length',
    "scroll": "run($('p'), {to: null, x: null, y: 5})",
    "scroll_back": "run([0, 0, 50])",
    "secret_boxes": "run({most: 99, undrawnMs: 0, guess: true})",
    "seen_html": "run(document.body)",
    "session_storage": "run('http://other', [])",
    "shown_around": "run($('#b'))",
    "shown_field": "run([$('#i')], 50)",
    "shown_secret": "run($('#w'))",
    "slider_state": "run($('#d')).map(String)",
    "storage_items": "run(['local', []])",
    "storage_removal": "run(['local', []])",
    "storage_setting": "run(['local', []])",
    "text_engine": "run().queryAll($('#d')).length",
    "tick_target": "run($('#k')).id",
    "tool_count": "run()",
    "tree_bounds": "run().queryAll($('p')).length",
    "typed_secrets": "run($('p'))",
    "typed_value": "run($('#i'))",
    "unseen_count": "run(document.body)",
    "unseen_words": "run(document)",
    "unsent_fields": "run($$('input'))",
    "visible_text": "run(document.body)",
}


@pytest.fixture(scope="module")
async def pages(service: RunningService) -> AsyncIterator[tuple[Page, Page]]:
    """Return the page as it came, and as it is poisoned, in contexts of which the service knows nothing."""
    async with visiting(service) as agent:
        await agent.call("open_page")  # while it is open, the browser is not closed as one that nobody uses
        browser = service.context().browser
        assert browser is not None
        pages = [await (await browser.new_context()).new_page() for _ in range(2)]
        for page, html in zip(pages, (PAGE, PAGE + POISON), strict=True):
            await page.route(URL, fulfilled(html))
            await page.goto(URL)
        yield pages[0], pages[1]
        for page in pages:
            await page.context.close()


def fulfilled(html: str) -> Callable[[Route], Awaitable[None]]:
    return lambda route: route.fulfill(body=html, content_type="text/html")


async def given(page: Page, name: str) -> object:
    """Return what a script gives, without the time at which the document began."""
    told = "JSON.parse(JSON.stringify(result ?? null).replaceAll(performance.timeOrigin, '0'))"
    use = f"run => async ($, $$) => {{ const result = await ({USES[name]}); return {told} }}"
    found = "css => document.querySelector(css), css => [...document.querySelectorAll(css)]"
    source = results.bounded(f"() => ({call_of(use, script(name))})({found})")
    return results.value_of(await world.evaluate(page, source))


def test_each_script_has_its_use_here() -> None:
    assert USES.keys() == {*CALLED} - IN_THE_PAGES_WORLD


async def test_each_script_gives_on_a_poisoned_page_what_it_gives_elsewhere(pages: tuple[Page, Page]) -> None:
    plain, poisoned = pages
    for name in USES:
        assert (name, await given(poisoned, name)) == (name, await given(plain, name))


async def test_the_poison_is_strong(pages: tuple[Page, Page]) -> None:
    await given(pages[1], "document_title")
    with pytest.raises(Exception, match="poisoned"):
        await pages[1].evaluate("document.querySelector('p').matches('p')")

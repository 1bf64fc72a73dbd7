"""Tests the world of our scripts: what a page has replaced is not there, in each kind of frame."""

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host import world
from browser_service.host.world import ties
from browser_service.host.world.handles import let_go
from browser_service.host.world.worlds import ENGINE
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

LIES = """<script>class Map{}; class Node{}; JSON.stringify = () => '"lie"';
Element.prototype.getAttribute = () => 'lie'; document.querySelector = () => null</script>"""
TOP = f"""{LIES}<ul><li data-x=1>one<li data-x=2>two</ul>
<iframe id=near srcdoc="<title>near</title><p data-x=3>in"></iframe><iframe id=far src=FAR></iframe>"""
FAR = f"{LIES}<p data-x=4>far"
X = "e => e.getAttribute('data-x') + new Map().size"
ALL = "found => found.map(e => e.getAttribute('data-x')).join()"


@pytest.fixture
async def page(service: RunningService, agent: Agent, site: Site) -> Page:
    """Return Playwright's page, with a frame of its own site and one of another."""
    far = site.page("/far", FAR).replace("127.0.0.1", "localhost")
    await agent.call("goto", pageId="tab", url=site.page("/top", TOP.replace("FAR", far)), waitUntil="load")
    return service.window("tab")


async def title_of(target: Page, index: int) -> object:
    return await world.evaluate(target.frames[index], "() => document.title + new Map().size")


async def test_a_page_deceives_none_of_our_scripts(page: Page) -> None:
    items = page.locator("li")
    assert await items.first.evaluate("e => e.getAttribute('data-x')") == "lie"
    assert await world.evaluate(items.first, X) == "10"
    assert await world.evaluate_all(items, ALL) == "1,2"
    assert await world.evaluate_all(page.locator("nothing"), ALL) == ""
    assert await world.evaluate(page, "([one]) => document.querySelector('title').textContent + one", [7]) == "/top7"


async def test_frames_of_the_same_and_of_another_site_have_worlds_too(page: Page) -> None:
    assert [await title_of(page, index) for index in range(3)] == ["/top0", "near0", "/far0"]
    assert await world.evaluate(page.frame_locator("#near").locator("p"), X) == "30"
    assert await world.evaluate(page.frame_locator("#far").locator("p"), X) == "40"
    with let_go():
        assert await world.evaluate(await world.handle_of(page.frame_locator("#far").locator("p")), X) == "40"


async def test_a_frame_that_goes_to_another_site_and_back_is_found_again(page: Page, site: Site) -> None:
    frame, near = page.frames[2], site.page("/next", "next")
    for url in (near, site.url("/far").replace("127.0.0.1", "localhost"), near):
        await page.evaluate("url => { far.src = url }", url)
        await frame.wait_for_url(url)
        assert await world.evaluate(frame, "() => location.href") == url


async def test_what_our_script_finds_is_an_element_of_playwrights(page: Page) -> None:
    with let_go():
        second = await world.element(page, "() => [...document.querySelectorAll('li')][1]")
        assert second is not None
        assert await second.text_content() == "two"
        parent = await world.element(second, "e => e.parentElement")
        assert parent is not None
        assert await world.evaluate_all([second, parent], "([one, other]) => other.contains(one)") is True
        assert await world.element(page, "() => null") is None


async def test_a_handle_of_playwrights_own_is_taken_along(page: Page) -> None:
    handle = await page.query_selector("li")
    assert handle is not None
    assert [await world.evaluate(handle, X) for _ in range(2)] == ["10", "10"]
    await handle.dispose()


async def test_an_element_is_found_again_after_hundreds_of_others(page: Page) -> None:
    with let_go():
        first = await world.handle_of(page.locator("li").first)
        for _ in range(6):
            await world.evaluate_all(page.locator("li"), ALL)
        await world.evaluate(page, "() => { for (let n = 0; n < 600; n++) self[Symbol.for('kept')].set(`n${n}`, []) }")
        await world.evaluate(page.locator("li").last, X)
        assert await world.evaluate(first, X) == "10"


async def test_a_value_is_held_in_its_document_alone(page: Page, site: Site) -> None:
    with let_go():
        held = await world.hold(page, "() => ({texts: ['a', 'b'], at: self})")
        assert await held.evaluate("({texts}, index) => texts[index]", 1) == "b"
        again = await held.hold("held => () => held.texts.length")
        assert await again.evaluate("count => count()") == 2
        await page.goto(site.page("/next", "next"))
        with pytest.raises(PlaywrightError, match="destroyed"):
            await held.evaluate("held => 1")
        assert await title_of(page, 0) == "/next0"


async def test_an_element_of_a_document_that_went_says_so(page: Page, site: Site) -> None:
    kept = await world.keep(page.locator("li").first)
    assert isinstance(kept, world.Kept)
    assert await world.evaluate(kept, X) == "10"
    await page.goto(site.page("/next", "next"))
    with pytest.raises(PlaywrightError, match="destroyed"):
        await world.evaluate(kept, X)


async def test_an_error_is_told_as_of_the_locator_that_was_given(page: Page) -> None:
    with pytest.raises(PlaywrightError, match=r"resolved to 2 elements") as several:
        await world.evaluate(page.locator("li"), X)
    with pytest.raises(PlaywrightError, match="Timeout 50ms exceeded") as missing:
        await world.evaluate(page.locator("nothing"), X, timeout_ms=50)
    assert ENGINE not in f"{several.value.message}{missing.value.message}"
    with pytest.raises(PlaywrightError, match="RangeError: far"):
        await world.evaluate(page, "() => { throw new RangeError('far') }")


async def test_it_works_again_after_a_person_has_had_the_tab(page: Page) -> None:
    assert await title_of(page, 0) == "/top0"
    await ties.cut(page)
    assert await title_of(page, 0) == "/top0"
    assert await world.evaluate(page.locator("li").first, X) == "10"

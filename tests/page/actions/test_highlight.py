"""Tests marks on a page: a picture shows them, and scripts hardly do."""

import io

import pytest
from PIL import Image

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window, pytest.mark.thorough]

BOX = """<body style='margin: 0; background: white; height: 3000px'><dialog id=modal>hi</dialog>
<div id=box style='position: absolute; left: 100px; top: 200px; width: 200px; height: 100px; background: yellow'></div>
<p class=two>1<p class=two>2<b id=low style='position: absolute; top: 2500px'>low</b><i id=none hidden>no</i>"""
MARKED, WHITE, YELLOW = (0, 0, 255), (255, 255, 255), (255, 255, 0)
OUTLINE = (97, 250)
"""A point left of the box, two to five pixels away."""


async def _picture(tab: Tab, **arguments: AnyJson) -> Image.Image:
    artifact = (await tab.call("screenshot", **arguments))["artifact"]
    return Image.open(io.BytesIO((await tab.agent.http.get(artifact["url"])).content)).convert("RGB")


async def test_highlight_is_on_pictures_around_its_element_and_follows_it_until_it_is_taken_away(tab: Tab) -> None:
    await tab.show(BOX)
    assert (await _picture(tab)).getpixel(OUTLINE) == WHITE
    await tab.call("highlight", selector="#box", label="Pay here", colour="rgb(0, 0, 255)")
    shown = await _picture(tab)
    assert [shown.getpixel(at) for at in (OUTLINE, (303, 250), (200, 196), (200, 303))] == [MARKED] * 4
    assert [shown.getpixel(at) for at in ((99, 250), (105, 250), (90, 250))] == [WHITE, YELLOW, WHITE]
    words = [shown.getpixel((x, y)) for x in range(96, 160) for y in range(174, 192)]
    assert {MARKED, WHITE} <= set(words)
    await tab.sees("new Promise(done => {box.style.left = '500px'; requestAnimationFrame(() => setTimeout(done))})")
    moved = await _picture(tab)
    assert (moved.getpixel(OUTLINE), moved.getpixel((497, 250))) == (WHITE, MARKED)
    assert await tab.call("highlight") == {"removed": 1, "observed": "1 marks are taken away"}
    assert (await _picture(tab)).getpixel((497, 250)) == WHITE


async def test_highlight_is_one_empty_element_to_scripts_and_nothing_to_readers_and_clicks(tab: Tab) -> None:
    await tab.show(BOX)
    await tab.sees("window.clicks = 0; box.onclick = () => clicks++; box.textContent = 'Pay'; modal.showModal()")
    before = (await tab.call("snapshot"))["snapshot"]
    await tab.call("highlight", selector="#box", label="Words of ours")
    assert (await tab.call("snapshot"))["snapshot"] == before
    assert await tab.sees("document.querySelectorAll('x-browse-mark').length") == 1
    assert await tab.sees("[...document.querySelector('x-browse-mark').childNodes].length") == 0
    assert await tab.sees("document.querySelector('x-browse-mark').shadowRoot") is None
    assert "Words of ours" not in (await tab.call("content"))["content"]
    assert (await _picture(tab)).getpixel(OUTLINE) == (214, 0, 108)  # above a modal dialog too
    await tab.sees("modal.close()")
    await tab.call("click", selector="#box")
    assert await tab.sees("clicks") == 1
    changes = "new Promise(done => {let n = 0; new MutationObserver(found => n += found.length).observe(document,"
    changes += "{subtree: true, childList: true, attributes: true}); setTimeout(() => done(n), 100)})"
    assert await tab.sees(changes) == 0


async def test_highlight_goes_by_itself_and_with_its_element(tab: Tab) -> None:
    await tab.show(BOX)
    gone = "document.querySelector('x-browse-mark') === null"
    await tab.call("highlight", selector="#box", seconds=0.2)
    await tab.call(
        "evaluate_script", expression=f"(async () => {{while (!({gone})) await new Promise(requestAnimationFrame)}})()"
    )
    await tab.call("highlight", selector="#low")
    assert await tab.sees("scrollY > 1000")
    await tab.sees("low.remove()")
    await tab.call(
        "evaluate_script", expression=f"(async () => {{while (!({gone})) await new Promise(requestAnimationFrame)}})()"
    )


async def test_highlight_works_in_frames_and_refuses_ambiguous_or_invisible_elements(tab: Tab) -> None:
    tab.site.page("/inner", BOX)
    await tab.show(
        f"{BOX}<iframe src={tab.site.url('/inner', 'localhost')} style='width: 600px; height: 400px'></iframe>"
    )
    await tab.call("highlight", selector="#box", frame="iframe")
    await tab.call("highlight", selector="#box")
    assert (await tab.call("highlight"))["removed"] == 2
    assert (await tab.error("highlight", selector=".two", timeout=300))["code"] == "AMBIGUOUS_SELECTOR"
    await tab.call("highlight", selector=".two", strict=False)
    assert (await tab.error("highlight", selector="#none", timeout=300))["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert (await tab.error("highlight", selector="#nothing", timeout=300))["code"] == "ELEMENT_NOT_FOUND"
    wrong = await tab.error("highlight", selector="#box", colour="red; background: url(x)")
    assert wrong["details"]["context"]["field"] == "colour"

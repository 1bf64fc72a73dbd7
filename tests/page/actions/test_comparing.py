"""Tests pictures compared: how many pixels differ, where, and what the picture of it shows."""

import base64
import io

import pytest
from PIL import Image

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.thorough, pytest.mark.one_window]

RED = (255, 0, 0)
BOX = """<style>body {{margin: 0; background: white}}
#box {{position: absolute; left: 100px; top: 50px; width: {width}px; height: 10px; background: {colour}}}</style>
<div id=box></div>"""


async def _shot(tab: Tab, **arguments: AnyJson) -> str:
    return str((await tab.call("screenshot", **arguments))["artifact"]["artifactId"])


def _picture(result: dict[str, AnyJson]) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(result["artifact"]["data"]))).convert("RGB")


async def test_compare_screenshots_counts_the_pixels_that_differ_and_shows_them(tab: Tab) -> None:
    await tab.show(BOX.format(width=20, colour="blue"))
    before = await _shot(tab)
    same = await tab.call("compare_screenshots", baseline=before)
    assert (same["same"], same["differentPixels"], same["ratio"], "where" in same) == (True, 0, 0, False)
    assert same["observed"] == "no pixel differs"
    await tab.sees("box.style.width = '30px'")
    found = await tab.call("compare_screenshots", baseline=before)
    assert (found["same"], found["differentPixels"], found["pixels"]) == (False, 100, 1280 * 720)
    assert found["ratio"] == pytest.approx(100 / (1280 * 720))
    assert found["where"] == {"x": 120, "y": 50, "width": 10, "height": 10}
    shown = _picture(found)
    assert shown.size == (1280, 720)
    assert [shown.getpixel(at) for at in ((120, 50), (129, 59))] == [RED, RED]
    assert shown.getpixel((130, 55)) == (255, 255, 255)
    assert shown.getpixel((110, 55)) not in {RED, (255, 255, 255)}
    after = await _shot(tab)
    kept = await tab.call("compare_screenshots", baseline=before, current=after)
    assert (kept["differentPixels"], kept["where"]) == (100, found["where"])


async def test_compare_screenshots_goes_by_the_threshold(tab: Tab) -> None:
    await tab.show(BOX.format(width=20, colour="rgb(100, 100, 100)"))
    before = await _shot(tab, selector="#box")
    await tab.sees("box.style.background = 'rgb(108, 100, 100)'")
    for threshold, count in ((0.1, 0), (0, 200), (0.01, 200), (1, 0)):
        found = await tab.call("compare_screenshots", baseline=before, selector="#box", threshold=threshold)
        assert (found["differentPixels"], found["pixels"]) == (count, 200)


async def test_compare_screenshots_says_that_sizes_differ_and_counts_what_one_lacks(tab: Tab) -> None:
    await tab.show(BOX.format(width=20, colour="blue"))
    before = await _shot(tab, selector="#box")
    await tab.sees("box.style.width = '25px'")
    found = await tab.call("compare_screenshots", baseline=before, selector="#box")
    assert found["sizes"] == {"baseline": [20, 10], "current": [25, 10]}
    assert (found["differentPixels"], found["pixels"]) == (50, 250)
    assert "the sizes differ: 20 x 10 and 25 x 10" in found["observed"]


async def test_compare_screenshots_of_two_pictures_needs_no_page(agent: Agent, tab: Tab) -> None:
    await tab.show(BOX.format(width=20, colour="blue"))
    one, two = await _shot(tab), await _shot(tab, type="webp", quality=100)
    await tab.call("close_page")
    assert (await agent.call("list_pages"))["yours"] == []
    assert (await tab.call("compare_screenshots", baseline=one, current=two))["same"] is True


async def test_compare_screenshots_refuses_what_is_no_picture_or_not_the_callers(tab: Tab, other: Agent) -> None:
    await tab.show(BOX.format(width=20, colour="blue"))
    picture, paper = await _shot(tab), (await tab.call("generate_pdf"))["artifact"]["artifactId"]
    for arguments, field in (
        ({"baseline": paper}, "baseline"),
        ({"baseline": picture, "current": paper}, "current"),
        ({"baseline": picture, "current": picture, "selector": "#box"}, "selector"),
        ({"baseline": picture, "threshold": 2}, "threshold"),
    ):
        error = await tab.error("compare_screenshots", **arguments)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", field)
    for arguments in ({"baseline": "art-none"}, {"baseline": picture, "current": "art-none"}):
        assert (await tab.error("compare_screenshots", **arguments))["status"] == 404
    own = await other.call("open_page", url=tab.site.url("/"))
    assert own
    for arguments in ({"baseline": picture}, {"baseline": picture, "current": picture}):
        error = await other.error("compare_screenshots", **arguments)
        assert (error["status"], picture in error["message"]) == (404, True)

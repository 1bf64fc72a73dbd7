"""Tests that a click in a frame that is drawn smaller or larger reaches its element, or is said to have missed it."""

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.own_window]

INNER = """<body style="margin:0"><div style="height:120px"></div>
<button id=b onclick="parent.postMessage('pressed', '*')" style="margin-left:200px">Pay</button>"""
OUTER = """<script>window.seen = 0; onmessage = () => seen++</script><p>Shop</p>
<iframe src="{0}" style="width:500px;height:300px;{1}"></iframe>"""


@pytest.mark.parametrize("style", ["transform:scale(.5)", "zoom:.5", "transform:scale(1.5);transform-origin:0 0", ""])
@pytest.mark.parametrize("by_ref", [False, True])
async def test_a_click_in_a_scaled_frame_of_another_site_reaches_its_element(
    tab: Tab, style: str, *, by_ref: bool
) -> None:
    tab.site.page("/inner", INNER)
    await tab.show(OUTER.format(tab.site.url("/inner", "localhost"), style))
    where: AnyJson = {"selector": "#b", "frame": "iframe"}
    if by_ref:
        lines = (await tab.call("snapshot"))["snapshot"].splitlines()
        pay = next(line for line in lines if "Pay" in line)
        where = {"selector": pay.partition("[ref=")[2].partition("]")[0]}
    await tab.call("click", **where)
    assert await tab.sees("seen") == 1


async def test_a_click_there_that_something_else_gets_is_said_to_have_missed(tab: Tab) -> None:
    cover = "<div style='position:fixed;inset:0'></div>"
    tab.site.page("/inner", INNER + cover)
    await tab.show(OUTER.format(tab.site.url("/inner", "localhost"), "transform:scale(.5)"))
    error = await tab.error("click", selector="#b", frame="iframe")
    assert "The click did not reach the element matching '#b': <div> received it" in error["message"]
    assert await tab.sees("seen") == 0


async def test_the_mouse_at_a_point_in_a_scaled_frame_names_the_element_there(tab: Tab) -> None:
    tab.site.page("/inner", "<body style='margin:0'><button style='width:400px;height:200px'>Pay</button>")
    await tab.show(OUTER.format(tab.site.url("/inner", "localhost"), "transform:scale(.5);transform-origin:0 0"))
    x, y = await tab.sees("(({x, y}) => [x + 150, y + 80])(document.querySelector('iframe').getBoundingClientRect())")
    assert "Pay" in (await tab.call("mouse", do="move", x=x, y=y))["element"]

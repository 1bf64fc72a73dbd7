"""Tests that acts by the mouse in a frame that is drawn smaller or larger reach their elements or are said to miss."""

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.own_window, pytest.mark.thorough]

INNER = """<body style="margin:0"><div style="height:120px"></div>
<button id=b onclick="parent.postMessage('pressed', '*')" style="margin-left:200px">Pay</button>"""
OUTER = """<script>window.seen = 0; onmessage = () => seen++</script><p>Shop</p>
<iframe src="{0}" style="width:500px;height:300px;{1}"></iframe>"""


@pytest.mark.parametrize("style", ["transform:scale(.5)", "zoom:.5", "transform:scale(1.5);transform-origin:0 0", ""])
async def test_a_click_in_a_scaled_frame_of_another_site_reaches_its_element(tab: Tab, style: str) -> None:
    tab.site.page("/inner", INNER)
    await tab.show(OUTER.format(tab.site.url("/inner", "localhost"), style))
    await tab.call("click", selector="#b", frame="iframe")
    assert await tab.sees("seen") == 1
    lines = (await tab.call("snapshot"))["snapshot"].splitlines()
    pay = next(line for line in lines if "Pay" in line)
    await tab.call("click", selector=pay.partition("[ref=")[2].partition("]")[0])
    assert await tab.sees("seen") == 2


ENDS = """<body style="margin:0"><div style="height:80px"></div><style>* {margin-left: 60px}</style>
<button id=b>Pay</button><input id=c type=checkbox><div id=d draggable=true style="width:60px;height:30px">drag</div>
<div id=z style="width:60px;height:40px;margin-left:200px">zone</div><script>
const tell = (of, kind) => of.addEventListener(kind, () => parent.postMessage(kind, '*'));
tell(b, 'mouseover'); tell(b, 'dblclick'); tell(b, 'contextmenu'); tell(c, 'change'); tell(z, 'drop');
z.ondragover = e => e.preventDefault();</script>"""
ACTS: dict[str, tuple[str, AnyJson]] = {
    "mouseover": ("hover", {"selector": "#b"}),
    "dblclick": ("click", {"selector": "#b", "clickCount": 2}),
    "contextmenu": ("click", {"selector": "#b", "button": "right"}),
    "change": ("check", {"selector": "#c"}),
    "drop": ("drag_and_drop", {"source": "#d", "target": "#z"}),
}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("style", ["transform:scale(.5)", "zoom:.5", "transform:scale(1.5);transform-origin:0 0"])
async def test_every_act_by_the_mouse_in_a_scaled_frame_reaches_its_element(tab: Tab, style: str, host: str) -> None:
    tab.site.page("/inner", ENDS)
    await tab.show(
        "<script>window.seen = []; onmessage = e => seen.push(e.data)</script>"
        f"<iframe src='{tab.site.url('/inner', host)}' style='width:500px;height:300px;{style}'></iframe>"
    )
    for event, (action, given) in ACTS.items():
        await tab.call(action, frame="iframe", timeout=3_000, **given)
        assert await tab.sees(f"seen.includes('{event}')"), (action, given)
    assert "not checked" in (await tab.call("uncheck", selector="#c", frame="iframe", timeout=3_000))["observed"]


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


WHEELED = """<body style="margin:0"><div id=box style="margin:60px 0 0 150px;width:200px;height:100px;overflow:auto">
<div style="height:900px">long</div></div><script>box.onscroll = () => top.postMessage('box', '*')</script>"""


@pytest.mark.parametrize(("style", "drawn"), [("transform:scale(.5)", 0.5), ("zoom:.5", 0.5), ("", 1.0)])
async def test_the_wheel_turns_what_is_at_its_point_in_frames_within_scaled_frames(
    tab: Tab, style: str, drawn: float
) -> None:
    style += ";transform-origin:0 0;border:0"
    frame = f"<body style='margin:0'><iframe src='{{0}}' style='width:450px;height:280px;{style}'></iframe>"
    tab.site.page("/inner", WHEELED)
    tab.site.page("/between", frame.format(tab.site.url("/inner")))
    seen = "<script>window.seen = []; onmessage = e => seen.push(e.data)</script>"
    await tab.show(seen + frame.format(tab.site.url("/between", "localhost")))
    turned = await tab.call("mouse", do="wheel", x=250 * drawn**2, y=110 * drawn**2, by={"x": 0, "y": 30})
    assert "on <div> 'long'" in turned["observed"]
    assert await tab.sees("seen.includes('box')")

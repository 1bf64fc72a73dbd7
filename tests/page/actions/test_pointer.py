"""Tests dragging, the mouse by coordinates, and scrolling: as the page sees it, and what the reply says came of it."""

import threading

import pytest

from tests.support.json import AnyJson
from tests.support.site import Answer, Received
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


NOTED = (
    "<script>window.seen = []; const note = e => seen.push(e.type + ' ' + (e.target.id || e.target.nodeName))</script>"
)

BOARD = f"""{NOTED}<style>li, ul, p {{width: 200px; min-height: 40px; background: #eee}}</style>
<ul id=todo><li id=a draggable=true>A<li id=b draggable=true>B</ul><ul id=done></ul><p id=wall>No</p><script>
for (const li of document.querySelectorAll('li')) li.ondragstart = e => e.dataTransfer.setData('text/plain', li.id);
done.ondragover = e => {{ e.preventDefault(); e.dataTransfer.dropEffect = 'move' }};
done.ondrop = e => {{ e.preventDefault(); done.append(document.getElementById(e.dataTransfer.getData('text/plain')));
  fetch('/moved', {{method: 'POST', body: 'a'}}) }};
for (const kind of ['dragstart', 'drop', 'dragend']) addEventListener(kind, note)
</script>"""

SLIDER = """<style>body {margin: 0}
#knob {position: absolute; left: 0; top: 0; width: 40px; height: 40px; background: red}
#rail {position: absolute; top: 100px; left: 300px; width: 300px; height: 40px}</style>
<div id=knob></div><div id=rail></div><script>let on = false; window.moves = 0; knob.onpointerdown = () => on = true;
onpointermove = e => { if (!on) return;
  moves++; knob.style.left = e.clientX - 20 + 'px'; knob.style.top = e.clientY - 20 + 'px' };
onpointerup = () => on = false</script>"""


# --- drag_and_drop ---------------------------------------------------------------------------------------------------


async def test_drag_and_drop_does_an_html_drag_and_says_where_it_was_dropped(tab: Tab) -> None:
    tab.site.page("/moved", "")
    await tab.show(BOARD)
    result = await tab.call("drag_and_drop", source="#a", target="#done")
    assert (result["drag"], result["dropped"], result["moved"]) == ("html", True, True)
    assert result["observed"] == (
        "an HTML drag was dropped on <ul#done> (effect: move); it moved into <ul#done>; POST /moved → 200"
    )
    assert await tab.sees("[seen, done.children[0].id]") == [["dragstart a", "drop done", "dragend a"], "a"]


async def test_drag_and_drop_on_an_element_that_takes_no_drop_fails(tab: Tab) -> None:
    await tab.show(BOARD)
    error = await tab.error("drag_and_drop", source="#a", target="#wall")
    assert (error["code"], error["details"]["selector"]) == ("ELEMENT_NOT_INTERACTABLE", "#wall")
    assert error["message"] == "An HTML drag began, and nothing accepted the drop; the dragged element is where it was."


async def test_drag_and_drop_moves_elements_that_follow_the_mouse(tab: Tab) -> None:
    await tab.show(SLIDER)
    at = {"sourcePosition": {"x": 20, "y": 20}, "targetPosition": {"x": 200, "y": 10}}
    result = await tab.call("drag_and_drop", source="#knob", target="#rail", steps=9, **at)
    assert (result["drag"], result["moved"]) == ("pointer", True)
    assert "pressed on <div#knob> and released on <div#rail>" in result["observed"]
    assert "it moved from 0,0 to 480,90" in result["observed"]
    assert await tab.sees("[knob.offsetLeft, knob.offsetTop, moves >= 9]") == [480, 90, True]


SORTED = """<style>ul {display: inline-block; width: 200px} li {height: 40px; margin: 8px; background: #eee}</style>
<ul><li id=a draggable=true>A<li id=b draggable=true>B</ul><ul id=other><li id=c>C<li id=d>D</ul><script>
let card, deaf = 0;
ondragstart = e => card = e.target;
for (const kind of ['dragenter', 'dragover']) addEventListener(kind, e => {
  e.preventDefault();
  const over = e.target.closest('li'), {top, height} = over?.getBoundingClientRect() ?? {};
  if (!over || over === card || performance.now() < deaf || e.clientY === top + height / 2) return;
  deaf = performance.now() + 30;
  e.clientY < top + height / 2 ? over.before(card) : over.after(card);
});
ondrop = e => e.preventDefault();
</script>"""


async def test_a_card_comes_into_a_list_that_sorts_before_the_card_on_which_it_is_dropped(tab: Tab) -> None:
    """The list does not know where a card belongs whose middle is on its own, and for a while after it moved one."""
    await tab.show(SORTED)
    for source, target, cards in (("#a", "#c", "acd"), ("#b", "#d", "acbd")):
        result = await tab.call("drag_and_drop", source=source, target=target)
        assert "moved into <ul#other>" in result["observed"]
        assert await tab.sees("[...other.children].map(li => li.id).join('')") == cards


HANDLES = """<style>.card {{ width: 200px; height: 40px }} .card b {{ display: none }}
.card:hover b {{ display: inline }}</style>
<div id=card class=card>Fair <b>::</b></div><div style="height: {}px"></div><div id=zone>Zone</div><script>
let held; onmousedown = e => {{ held = e.target.matches('b'); e.preventDefault() }};
onmouseup = e => {{ if (held) document.title = `dropped on ${{e.target.id}}` }}</script>"""


@pytest.mark.parametrize("between", [20, 2000])
async def test_drag_and_drop_takes_a_handle_that_shows_only_under_the_mouse(tab: Tab, between: int) -> None:
    await tab.show(HANDLES.format(between))
    await tab.call("hover", selector="#card")
    result = await tab.call("drag_and_drop", source=".card b", target="#zone", timeout=2_000)
    assert "released on <div#zone>" in result["observed"]


LATE = """<table><tr><td id=mon><b>Dentist</b><td id=tue>-</table><script>
onmousedown = e => e.preventDefault();
onmouseup = e => {{ const cell = e.target.closest('td'), old = document.querySelector('b');
  WAIT(() => {{ const now = old.cloneNode(true); old.remove(); cell.append(now) }}, 150) }}</script>"""


@pytest.mark.parametrize("wait", ["setTimeout", "fetch('/kept').then"])
async def test_drag_and_drop_waits_until_the_page_has_drawn_what_was_dragged(tab: Tab, wait: str) -> None:
    tab.site.routes["/kept"] = Answer("{}")
    await tab.show(LATE.replace("WAIT", wait))
    result = await tab.call("drag_and_drop", source="b", target="#tue")
    assert (result["moved"], "it moved into <td#tue>" in result["observed"]) == (True, True)


async def test_drag_and_drop_names_the_end_that_is_not_there_or_not_the_only_one(tab: Tab) -> None:
    await tab.show(BOARD)
    missing = await tab.error("drag_and_drop", source="#a", target="#nowhere", timeout=300)
    assert (missing["code"], missing["details"]["selector"]) == ("ELEMENT_NOT_FOUND", "#nowhere")
    several = await tab.error("drag_and_drop", selector="#a", target="li", timeout=300)
    assert several["code"] == "AMBIGUOUS_SELECTOR"
    assert "Selector 'li' matches 2 elements" in several["message"]
    assert await tab.sees("seen") == []


async def test_drag_and_drop_as_a_trial_does_nothing(tab: Tab) -> None:
    await tab.show(BOARD)
    result = await tab.call("drag_and_drop", source="#a", target="#done", trial=True)
    assert result == {"observed": "it could be done; nothing was done (trial)"}
    assert await tab.sees("seen") == []


# --- mouse -----------------------------------------------------------------------------------------------------------

FACE = f"""{NOTED}<style>body {{margin: 0}}
button {{position: absolute; left: 100px; top: 50px; width: 80px; height: 40px}}
iframe {{position: absolute; left: 300px; top: 100px; border: 5px solid; padding: 3px}}</style>
<button id=buy>Buy</button><iframe src=/inner></iframe><script>
for (const kind of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'wheel'])
  addEventListener(kind, e => {{ e.preventDefault(); note(e); window.last = e }}, {{passive: false}})
</script>"""


async def test_mouse_clicks_at_a_point_and_names_the_element_there(tab: Tab) -> None:
    tab.site.page(
        "/inner", "<style>body{margin:0}</style><button id=deep style='width:60px' onclick='top.hit=1'>Deep</button>"
    )
    await tab.show(FACE)
    result = await tab.call("mouse", do="click", x=140, y=70, modifiers=["Shift"])
    assert result == {"element": "<button#buy> 'Buy'", "observed": "clicked at 140,70 on <button#buy> 'Buy'"}
    assert await tab.sees("[seen, last.clientX, last.clientY, last.shiftKey]") == [
        ["mousedown buy", "mouseup buy", "click buy"],
        140,
        70,
        True,
    ]
    await tab.call("mouse", do="click", x=140, y=70, clickCount=2, button="left")
    assert await tab.sees("[seen.at(-1), last.shiftKey]") == ["dblclick buy", False]
    await tab.call("mouse", do="click", x=140, y=70, button="right")
    assert (await tab.sees("seen"))[-2:] == ["contextmenu buy", "mouseup buy"]
    inside = await tab.call("mouse", do="click", x=330, y=115)
    assert inside["element"] == "<button#deep> 'Deep'"
    assert await tab.sees("window.hit") == 1


async def test_mouse_holds_a_button_from_down_to_up(tab: Tab) -> None:
    await tab.show(SLIDER)
    assert (
        "pressed, and not released, at 10,10 on <div#knob>"
        in (await tab.call("mouse", do="down", x=10, y=10))["observed"]
    )
    await tab.call("mouse", do="move", x=400, y=300, steps=4)
    assert (await tab.call("mouse", do="up", x=400, y=300))["element"] == "<div#knob>"
    await tab.call("mouse", do="move", x=20, y=20)
    assert await tab.sees("[knob.offsetLeft, knob.offsetTop, moves >= 4]") == [380, 280, True]


async def test_mouse_drags_from_a_point_to_another(tab: Tab) -> None:
    tab.site.page("/moved", "")
    await tab.show(SLIDER)
    result = await tab.call("mouse", do="drag", x=20, y=20, to={"x": 220, "y": 120})
    assert result["observed"].startswith("dragged at 20,20 on <div#knob> to 220,120")
    assert await tab.sees("[knob.offsetLeft, knob.offsetTop]") == [200, 100]
    await tab.show(BOARD)
    begin, end = await tab.sees("[a, done].map(e => e.getBoundingClientRect()).map(r => ({x: r.x + 9, y: r.y + 9}))")
    await tab.call("mouse", do="drag", **begin, to=end)
    assert await tab.sees("done.children[0].id") == "a"


async def test_mouse_turns_the_wheel_at_the_given_point(tab: Tab) -> None:
    await tab.show("<div id=box style='height:200px;overflow:auto'><div style='height:2000px'></div></div>")
    await tab.call("mouse", do="wheel", x=50, y=100, by={"x": 0, "y": 300})
    await tab.call("wait_for_selector", selector="#box", timeout=1_000)
    assert await tab.sees(
        "new Promise(done => { const look = () => box.scrollTop ? done(true) : setTimeout(look, 20); look() })"
    )


async def test_mouse_explains_a_wrong_point(tab: Tab) -> None:
    await tab.show("x")
    wrong: list[tuple[dict[str, AnyJson], str]] = [
        ({"do": "click", "x": 5}, "mouse needs 'y'"),
        ({"do": "drag", "x": 5, "y": 5}, "drag needs 'to'"),
        ({"do": "wheel", "x": 5, "y": 5}, "wheel needs 'by'"),
        ({"do": "move", "x": 5, "y": 5, "by": {"x": 1, "y": 3}}, "by is for wheel, not for move"),
        ({"do": "drag", "x": 5, "y": 5, "to": {"x": 5, "y": -3}}, "to.y -3 lies outside of the viewport"),
        ({"do": "click", "x": 5_000, "y": 5}, "x 5000 lies outside of the viewport, which is 1280 x 720 px"),
    ]
    for arguments, said in wrong:
        error = await tab.error("mouse", **arguments)
        assert (error["code"], said in error["message"]) == ("VALIDATION_ERROR", True), error


# --- scroll ----------------------------------------------------------------------------------------------------------


async def test_scroll_moves_the_page_and_says_where_it_is_and_what_is_more(tab: Tab) -> None:
    await tab.show("<body style='margin:0'><div style='height:3000px;width:2000px'></div><b id=low>Low</b>")
    down = await tab.call("scroll", y=500)
    assert down["position"] == {"x": 0, "y": 500}
    assert down["more"]["up"] == 500 == await tab.sees("scrollY")
    assert down["observed"].startswith("scrolled by 0,500 px; the page is at y=500; 500 px more up, ")
    screen = await tab.call("scroll")
    assert 1_000 < screen["position"]["y"] < 1_200
    end = await tab.call("scroll", to="bottom")
    assert end["more"]["down"] == 0
    again = await tab.call("scroll", y=100)
    assert "nothing moved" in again["observed"]
    assert (await tab.call("scroll", to="top"))["position"]["y"] == 0
    assert (await tab.call("scroll", x=120))["position"]["x"] == 120 == await tab.sees("scrollX")
    seen = await tab.call("scroll", selector="#low")
    assert seen["observed"].startswith("the element is in view")
    assert await tab.sees("low.getBoundingClientRect().top < innerHeight")


async def test_scroll_finds_the_scrollable_element_if_the_page_does_not_scroll(tab: Tab) -> None:
    inner = "<div id=list style='height:200px;overflow:auto'><p style='height:900px'>List</p></div>"
    await tab.show(
        f"<body style='margin:0'><main style='height:100vh;overflow:auto'>{inner}<p style='height:4000px'>Main</main>"
    )
    main = await tab.call("scroll", to="bottom")
    assert (main["what"], main["more"]["down"]) == ("<main>", 0)
    await tab.call("scroll", selector="text=List", y=50)
    assert await tab.sees("[scrollY, list.scrollTop]") == [0, 50]
    error = await tab.error("scroll", selector="#none", timeout=300)
    assert error["code"] == "ELEMENT_NOT_FOUND"


async def test_scroll_moves_the_only_box_that_scrolls_wherever_it_is(tab: Tab) -> None:
    box = "<div id={} style='height: {}px; overflow: auto'><p style='height: 900px'>Entries</p></div>"
    await tab.show(box.format("small", 40) + box.format("list", 100) + "<p id=deep>")
    moved = await tab.call("scroll")
    assert moved["observed"].startswith("scrolled by 0,90 px; <div#list> is at y=90")
    within = box.format("inner", 80)
    await tab.sees(f"list.remove(), small.remove(), deep.attachShadow({{mode: 'open'}}).innerHTML = `{within}`")
    moved = await tab.call("scroll", to="bottom")
    assert (moved["what"], moved["more"]["down"]) == ("<div#inner>", 0)


async def test_scroll_to_the_end_waits_for_more_content_and_says_what_is_still_pending(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/more", lambda received: Answer("<p style='height: 900px'>", hold=_held(received, release)))
    await tab.show(
        "<body style='margin: 0'><p style='height: 1500px'></p><script>let n = 0; onscroll = () => {"
        "  if (scrollY + innerHeight < document.body.scrollHeight - 5 || n > 1) return;"
        "  fetch('/more?n=' + ++n).then(r => r.text()).then(t => document.body.insertAdjacentHTML('beforeend', t)) }"
        "</script>"
    )
    more = await tab.call("scroll", to="bottom")
    assert more["more"]["down"] >= 900
    assert "px more down (came when the end was reached)" in more["observed"]
    held = await tab.call("scroll", to="bottom")
    assert "1 request is pending: more may come" in held["observed"]
    assert "all of it is shown" not in held["observed"]
    assert not release.is_set()
    release.set()


def _held(received: Received, release: threading.Event) -> threading.Event | None:
    return release if received.path.endswith("n=2") else None


async def test_scroll_of_a_page_that_is_shown_whole_says_so(tab: Tab) -> None:
    await tab.show("short")
    assert (await tab.call("scroll"))["observed"] == "nothing moved; the page is at y=0; all of it is shown"


async def test_a_drag_names_the_end_that_cannot_be_reached_and_what_was_pressed(tab: Tab) -> None:
    await tab.show(
        "<p id=a style='width: 90px'>Card</p><div style='overflow: hidden; height: 0'><p id=b>Bin</p></div>"
        "<p id=c style='width: 90px'>Box</p><script>onpointerdown = e => e.preventDefault()</script>"
    )
    error = await tab.error("drag_and_drop", source="#a", target="#b", timeout=500)
    assert "'#b'" in error["message"]
    dragged = await tab.call("drag_and_drop", source="#a", target="#c")
    assert dragged["observed"].startswith("pressed on <p#a> 'Card' and released on <p#c> 'Box': no HTML drag")

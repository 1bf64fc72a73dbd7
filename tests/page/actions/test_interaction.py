"""Tests clicking and hovering, as the page sees it, and what the reply says was observed."""

import threading

import pytest

from tests.support.site import Answer
from tests.support.tab import NOTHING, Tab, closed_port

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


RECORDER = """<style>body {margin: 0} #b {position: absolute; left: 10px; top: 10px; width: 100px; height: 50px}</style>
<button id=b>Press</button><script>
window.seen = [];
for (const kind of ['click', 'dblclick', 'auxclick', 'contextmenu', 'mousedown', 'mouseup', 'mousemove', 'mouseover'])
  b.addEventListener(kind, e => { e.preventDefault(); seen.push({kind, button: e.button, detail: e.detail,
    x: e.offsetX, y: e.offsetY, at: e.timeStamp, trusted: e.isTrusted,
    keys: ['alt', 'ctrl', 'meta', 'shift'].filter(k => e[k + 'Key'])}); });
</script>"""


async def _kinds(tab: Tab, *ignored: str) -> list[str]:
    return [kind for kind in await tab.sees("seen.map(e => e.kind)") if kind not in ignored]


# --- click: how --------------------------------------------------------------------------------------------------


async def test_click_is_one_trusted_left_click_in_the_middle_of_the_element(tab: Tab) -> None:
    await tab.show(RECORDER)
    assert await tab.call("click", selector="#b") == {"observed": NOTHING}
    assert await _kinds(tab, "mousemove", "mouseover") == ["mousedown", "mouseup", "click"]
    click = await tab.sees(
        "(({button, detail, x, y, trusted, keys}) => [button, detail, x, y, trusted, keys])(seen.at(-1))"
    )
    assert (click[0], click[1], click[4], click[5]) == (0, 1, True, [])
    assert (abs(click[2] - 50) < 4, abs(click[3] - 25) < 4) == (True, True)


@pytest.mark.parametrize(("button", "last", "number"), [("right", "contextmenu", 2), ("middle", "auxclick", 1)])
async def test_click_uses_the_button_that_it_is_given(tab: Tab, button: str, last: str, number: int) -> None:
    await tab.show(RECORDER)
    await tab.call("click", selector="#b", button=button)
    assert {"kind": last, "button": number} in await tab.sees("seen.map(({kind, button}) => ({kind, button}))")
    assert "click" not in await _kinds(tab)


async def test_click_count_2_is_a_double_click(tab: Tab) -> None:
    await tab.show(RECORDER)
    await tab.call("click", selector="#b", clickCount=2)
    assert await tab.sees("seen.filter(e => e.kind === 'click').map(e => e.detail)") == [1, 2]
    assert (await _kinds(tab)).count("dblclick") == 1


async def test_click_holds_the_modifiers_down_and_lets_them_go(tab: Tab) -> None:
    await tab.show(RECORDER)
    await tab.call("click", selector="#b", modifiers=["Shift", "Alt"])
    await tab.call("click", selector="#b")
    assert await tab.sees("seen.filter(e => e.kind === 'click').map(e => e.keys)") == [["alt", "shift"], []]


async def test_click_lands_at_the_position_that_it_is_given(tab: Tab) -> None:
    await tab.show(RECORDER.replace("<button id=b>Press</button>", "<div id=b></div>"))
    await tab.call("click", selector="#b", position={"x": 7, "y": 9})
    assert await tab.sees("(({x, y}) => [x, y])(seen.at(-1))") == [7, 9]


async def test_click_keeps_the_button_down_for_the_delay(tab: Tab) -> None:
    await tab.show(RECORDER)
    await tab.call("click", selector="#b", delay=120)
    down, up = await tab.sees("seen.filter(e => /mouse(down|up)/.test(e.kind)).map(e => e.at)")
    assert 110 <= up - down < 2_000


async def test_click_with_steps_moves_the_mouse_over_the_page_on_its_way(tab: Tab) -> None:
    await tab.show(RECORDER + "<script>window.moves = 0; addEventListener('mousemove', () => moves++)</script>")
    await tab.call("click", selector="#b", steps=6)
    assert await tab.sees("moves") >= 6


async def test_click_as_a_trial_checks_and_does_nothing(tab: Tab) -> None:
    await tab.show(RECORDER + "<button id=off disabled>Off</button>")
    await tab.call("click", selector="#b", trial=True)
    assert await _kinds(tab, "mousemove", "mouseover") == []
    assert (await tab.error("click", selector="#off", trial=True, timeout=1_000))["code"] == "ELEMENT_NOT_INTERACTABLE"


async def test_click_with_force_skips_the_checks(tab: Tab) -> None:
    await tab.show(
        RECORDER + "<script>b.addEventListener('mousedown', () => {}); "
        "b.animate([{left: '10px'}, {left: '6010px'}], {duration: 600_000})</script>"  # never twice at one place
    )
    await tab.sees("b.getAnimations()[0].ready.then(() => true)")  # until its first frame it stands still
    refused = await tab.error("click", selector="#b", timeout=1_000)
    assert refused["code"] == "ELEMENT_NOT_INTERACTABLE"
    await tab.call("click", selector="#b", force=True)
    assert (await _kinds(tab)).count("click") == 1


async def test_click_scrolls_to_an_element_that_is_out_of_sight(tab: Tab) -> None:
    await tab.show("<button style='margin-top:4000px' onclick='window.hit = scrollY'>Low</button>")
    await tab.call("click", selector="text=Low")
    assert await tab.sees("window.hit") > 1_000


async def test_click_waits_for_an_element_that_comes_later(tab: Tab) -> None:
    await tab.show(
        "<script>setTimeout(() => document.body.innerHTML = '<button onclick=\"window.hit=1\">Late', 200)</script>"
    )
    await tab.call("click", selector="text=Late")
    assert await tab.sees("window.hit") == 1


# --- click: what was observed ------------------------------------------------------------------------------------


async def test_click_on_a_link_names_the_url_that_it_led_to(tab: Tab) -> None:
    there = tab.site.page("/there", "there")
    await tab.show("<a href=/there>Go</a>")
    result = await tab.call("click", selector="text=Go")
    assert result == {"observed": f"navigated to {there}", "navigatedTo": there, "outline": "there"}
    assert await tab.sees("document.body.textContent") == "there"


async def test_click_that_starts_a_slow_navigation_replies_when_the_document_arrives(tab: Tab) -> None:
    release = threading.Event()
    there = tab.site.page("/slowly", Answer("<p>arrived", hold=release))
    await tab.show("<a href=/slowly onclick='setTimeout(() => fetch(`/release`), 300)'>Go</a>")

    def let_go(_: object) -> Answer:
        release.set()
        return Answer("")

    tab.site.page("/release", let_go)
    assert (await tab.call("click", selector="text=Go"))["navigatedTo"] == there
    assert await tab.sees("document.body.textContent") == "arrived"


async def test_click_that_posts_names_the_request_and_its_status(tab: Tab) -> None:
    url = tab.site.page("/order", Answer("{}", status=201, content_type="application/json"))
    await tab.show("<button onclick=\"fetch('/order', {method: 'POST', body: 'kettle'})\">Order</button>")
    result = await tab.call("click", selector="text=Order")
    assert result == {
        "observed": "POST /order → 201",
        "requests": [{"method": "POST", "url": url, "status": 201}],
    }
    assert [r.body for r in tab.site.received if r.path == "/order"] == [b"kettle"]


async def test_click_that_sends_a_form_names_the_post_and_the_page_after_it(tab: Tab) -> None:
    tab.site.page("/login", Answer(status=303, headers={"location": "/home"}))
    home = tab.site.page("/home", "home")
    await tab.show("<form method=post action=/login><input name=user value=ana><button>Log in</button></form>")
    result = await tab.call("click", selector="text=Log in")
    assert result["navigatedTo"] == home
    assert result["observed"] == f"navigated to {home}; POST /login → 303"
    assert [r.body for r in tab.site.received if r.path == "/login"] == [b"user=ana"]


async def test_click_names_a_dialog_and_what_was_answered(tab: Tab) -> None:
    await tab.show("<button onclick=\"window.said = confirm('Delete all?')\">Delete</button>")
    asked = await tab.call("click", selector="text=Delete")
    await tab.call("handle_dialog", accept=False)
    assert await tab.call("get_call", callId=asked["callId"]) == {
        "callId": asked["callId"],
        "state": "done",
        "observed": "confirm 'Delete all?' was dismissed",
        "dialogs": ["confirm 'Delete all?' was dismissed"],
    }
    assert await tab.sees("window.said") is False


async def test_click_names_the_popup_that_it_opened_and_the_popup_is_the_agents(tab: Tab) -> None:
    tab.site.page("/popup", "popup")
    await tab.show("<a target=_blank href=/popup>Open</a>")
    assert await tab.call("click", selector="text=Open") == {"observed": "popup tab~1 opened", "popups": ["tab~1"]}
    await tab.call("wait_for_selector", pageId="tab~1", selector="text=popup")
    assert "tab~1" in [page["pageId"] for page in (await tab.call("list_pages"))["yours"]]


@pytest.mark.host_here("the gate of a host elsewhere does not tell the browser why it reaches nothing")
async def test_click_that_fails_to_navigate_says_why(tab: Tab) -> None:
    dead = f"http://127.0.0.1:{closed_port()}/x"
    await tab.show(f"<a href={dead}>Dead</a>")
    result = await tab.call("click", selector="text=Dead")
    assert result == {"observed": f"navigation to {dead} failed: net::ERR_CONNECTION_REFUSED"}


async def test_click_without_effect_says_that_nothing_was_observable(tab: Tab) -> None:
    await tab.show("<button>Dead</button>")
    assert await tab.call("click", selector="text=Dead") == {"observed": NOTHING}


# --- hover -------------------------------------------------------------------------------------------------------


async def test_hover_opens_menus_under_the_mouse(tab: Tab) -> None:
    await tab.show("<style>#m {display: none} #b:hover + #m {display: block}</style><b id=b>Menu</b><i id=m>Item</i>")
    await tab.call("hover", selector="#b")
    assert await tab.sees("m.checkVisibility()") is True


async def test_hover_moves_the_mouse_to_a_position_with_modifiers_and_presses_nothing(tab: Tab) -> None:
    await tab.show(RECORDER.replace("<button id=b>Press</button>", "<div id=b></div>"))
    await tab.call("hover", selector="#b", position={"x": 3, "y": 4}, modifiers=["Control"])
    assert set(await _kinds(tab)) == {"mousemove", "mouseover"}
    assert await tab.sees("(({x, y, keys}) => [x, y, keys])(seen.at(-1))") == [3, 4, ["ctrl"]]


async def test_hover_as_a_trial_is_not_felt_by_the_page(tab: Tab) -> None:
    await tab.show(RECORDER)
    await tab.call("hover", selector="#b", trial=True)
    assert await _kinds(tab, "mouseover") == []


UNDER_ITS_LABEL = """<style>label {{ display: flex; position: relative; width: 200px; height: 40px }}
button {{ position: absolute; inset: 0; opacity: 0; clip: rect(0 0 0 0) }}</style>
<div style="height: {0}px"></div><div id=host></div><script>
const root = document.querySelector('{1}'), style = document.querySelector('style').outerHTML;
const tree = root.id ? root.attachShadow({{mode: 'open'}}) : root;
tree.innerHTML += `${{style}}<label><span>Size</span><button aria-label=Size></button></label>`;
tree.querySelector('button').onclick = () => document.title = 'open';</script>"""


@pytest.mark.parametrize("place", [(0, "#host"), (3000, "#host"), (3000, "body > div:not([id])")])
async def test_a_button_under_its_own_label_is_clicked_by_that(tab: Tab, place: tuple[int, str]) -> None:
    await tab.show(UNDER_ITS_LABEL.format(*place))
    await tab.call("click", selector="role=button[name=Size]", timeout=2_000)
    assert await tab.sees("document.title") == "open"

"""Tests the kinds of selectors: on the page, in a frame of another origin, and in open shadow DOM."""

from collections.abc import Awaitable, Callable

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


BUTTON = "<main><p>Tea</p><button id=buy aria-label='Buy tea' onclick='this.dataset.hit = 1'>Order now</button></main>"
KINDS = ["#buy", "main > button", "text=Order now", 'role=button[name="Buy tea"]', "main >> text=Order", "css=#buy"]
XPATHS = ["//button[@id='buy']", "(//button)[1]", "xpath=//main/button"]

Show = Callable[[Tab], Awaitable[dict[str, str]]]


async def _on_the_page(tab: Tab) -> dict[str, str]:
    await tab.show(BUTTON)
    return {}


async def _in_a_frame(tab: Tab) -> dict[str, str]:
    tab.site.page("/inner", BUTTON)
    await tab.show(f"<button>Outer</button><iframe id=f src={tab.site.url('/inner', 'localhost')}></iframe>")
    return {"frame": "#f"}


async def _in_shadow_dom(tab: Tab) -> dict[str, str]:
    await tab.show(f"<div id=host></div><script>host.attachShadow({{mode: 'open'}}).innerHTML = `{BUTTON}`</script>")
    return {}


async def _was_hit(tab: Tab, where: dict[str, str]) -> bool:
    """Return whether the button was clicked since the last call of this function."""
    script = """const find = root => root.querySelector('#buy');
    const b = find(document) || find(document.querySelector('#host').shadowRoot);
    const hit = b.dataset.hit; delete b.dataset.hit; hit === '1'"""
    return bool((await tab.call("evaluate_script", expression=script, **where))["value"])


@pytest.mark.parametrize("show", [_on_the_page, _in_a_frame, _in_shadow_dom])
async def test_every_kind_of_selector_finds_the_element(tab: Tab, show: Show) -> None:
    where = await show(tab)
    for selector in KINDS:
        await tab.call("click", selector=selector, **where)
        assert await _was_hit(tab, where), selector
        read = await tab.call("content", selector=selector, format="text", **where)
        assert read["content"] == "Order now", selector


@pytest.mark.parametrize("show", [_on_the_page, _in_a_frame])
async def test_xpath_finds_the_element_on_the_page_and_in_a_frame(tab: Tab, show: Show) -> None:
    where = await show(tab)
    for selector in XPATHS:
        await tab.call("click", selector=selector, **where)
        assert await _was_hit(tab, where), selector


async def test_xpath_finds_nothing_in_shadow_dom_and_the_hint_says_that_it_cannot(tab: Tab) -> None:
    await _in_shadow_dom(tab)
    for selector in XPATHS:
        error = await tab.error("click", selector=selector, timeout=200)
        assert (error["code"], error["status"]) == ("ELEMENT_NOT_FOUND", 404)
        assert "shadow DOM" in error["hint"]
        assert "CSS" in error["hint"]


async def test_mere_words_are_not_found_and_the_hint_spells_them_as_a_selector(tab: Tab) -> None:
    await _on_the_page(tab)
    error = await tab.error("click", selector="Order now", timeout=200)
    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["hint"].startswith("It was looked up as CSS. By its words: text=Order now, or the ref that find ")
    await tab.call("click", selector="text=Order now")
    tags = await tab.error("click", selector="main table", timeout=200)
    assert "By its words" not in tags["hint"]


@pytest.mark.parametrize("show", [_on_the_page, _in_a_frame, _in_shadow_dom])
async def test_a_ref_finds_the_element_wherever_it_is_without_naming_a_frame(tab: Tab, show: Show) -> None:
    where = await show(tab)
    tree = (await tab.call("snapshot"))["snapshot"]
    line = next(line for line in tree.splitlines() if 'button "Buy tea"' in line)
    await tab.call("click", selector=line.split("[ref=")[1].split("]")[0])
    assert await _was_hit(tab, where)


async def test_a_selector_that_matches_only_in_a_frame_is_not_found_and_the_hint_names_the_way(tab: Tab) -> None:
    await _in_a_frame(tab)
    error = await tab.error("click", selector="#buy", timeout=200)
    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert "frame" in error["hint"]


async def test_the_error_names_a_missing_frame(tab: Tab) -> None:
    await _in_a_frame(tab)
    for action, more in (("click", {"selector": "#buy"}), ("content", {}), ("evaluate_script", {"expression": "1"})):
        error = await tab.error(action, frame="#nowhere", timeout=300, **more)
        assert (error["code"], error["status"]) == ("ELEMENT_NOT_FOUND", 404)
        assert "#nowhere" in error["message"]


async def test_the_error_names_a_frame_selector_that_matches_no_frame_or_several(tab: Tab) -> None:
    await _in_a_frame(tab)
    error = await tab.error("click", selector="#buy", frame="body", timeout=500)
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "frame")
    await tab.sees("(document.body.append(document.createElement('iframe')), 0)")
    error = await tab.error("click", selector="#buy", frame="iframe", timeout=500)
    assert error["code"] == "AMBIGUOUS_SELECTOR"
    candidate = error["details"]["context"]["candidates"][0]["selector"]
    assert await tab.call("click", selector="#buy", frame=candidate)
    assert await _was_hit(tab, {"frame": "#f"})


async def test_typing_reaches_an_element_in_a_frame_behind_what_it_has(tab: Tab) -> None:
    tab.site.page("/inner", "<input value=old>")
    await tab.show(f"<iframe src={tab.site.url('/inner', 'localhost')}></iframe>")
    assert (await tab.call("type", selector="input", frame="iframe", text="er"))["value"] == "older"


async def test_a_frame_within_a_frame_is_reached_by_ref(tab: Tab) -> None:
    tab.site.page("/deep", BUTTON)
    tab.site.page("/mid", f"<iframe id=deep src={tab.site.url('/deep')}></iframe>")
    await tab.show(f"<iframe id=mid src={tab.site.url('/mid', 'localhost')}></iframe>")
    tree = (await tab.call("snapshot"))["snapshot"]
    button = next(line for line in tree.splitlines() if "button" in line).split("[ref=")[1].split("]")[0]
    await tab.call("click", selector=button)
    inner_frame = (
        next(line for line in reversed(tree.splitlines()) if "- iframe" in line).split("[ref=")[1].split("]")[0]
    )
    assert (await tab.call("content", selector="#buy", frame=inner_frame, format="html"))["content"].count(
        'data-hit="1"'
    ) == 1


# --- several matches ---------------------------------------------------------------------------------------------

SEVERAL = "".join(
    f"<form aria-label='Form {n}'><button onclick='event.preventDefault(); window.hit = {n}'>{label}</button>"
    f"<input type=checkbox><select><option>a<option>b</select></form>"
    for n, label in enumerate(["Send", "Send", "Send later"])
)


async def test_an_act_on_several_is_refused_and_each_candidate_really_is_its_element(tab: Tab) -> None:
    await tab.show(SEVERAL)
    for selector in ("button", "text=Send", "role=button", "//button", "button:visible"):
        error = await tab.error("click", selector=selector)
        assert (error["code"], error["status"]) == ("AMBIGUOUS_SELECTOR", 409)
        assert "matches 3 elements" in error["message"]
        assert "strict" in error["hint"]
        candidates = error["details"]["context"]["candidates"]
        assert [(c["tag"], c["text"], c["visible"]) for c in candidates] == [
            ("button", "Send", True),
            ("button", "Send", True),
            ("button", "Send later", True),
        ]
        assert await tab.sees("window.hit") is None
        for n, candidate in enumerate(candidates):
            await tab.call("click", selector=candidate["selector"])
            assert await tab.sees("window.hit") == n
        await tab.sees("delete window.hit")


async def test_candidates_in_a_frame_act_there(tab: Tab) -> None:
    tab.site.page("/inner", SEVERAL)
    await tab.show(f"<iframe src={tab.site.url('/inner', 'localhost')}></iframe>")
    error = await tab.error("click", selector="button", frame="iframe")
    for n, candidate in enumerate(error["details"]["context"]["candidates"]):
        await tab.call("click", selector=candidate["selector"], frame="iframe")
        assert (await tab.call("evaluate_script", expression="window.hit", frame="iframe"))["value"] == n


async def test_all_acting_tools_are_strict(tab: Tab) -> None:
    await tab.show(SEVERAL)
    for action, more in {
        "click": {"selector": "button"},
        "hover": {"selector": "button"},
        "press": {"selector": "button", "key": "Tab"},
        "fill": {"selector": "input", "value": "x"},
        "type": {"selector": "input", "text": "x"},
        "check": {"selector": "input"},
        "uncheck": {"selector": "input"},
        "select_option": {"selector": "select", "value": "b"},
    }.items():
        assert (await tab.error(action, **more))["code"] == "AMBIGUOUS_SELECTOR", action


async def test_an_act_that_is_not_strict_takes_the_first(tab: Tab) -> None:
    await tab.show(SEVERAL)
    await tab.call("click", selector="text=Send", strict=False)
    await tab.call("check", selector="input", strict=False)
    await tab.call("select_option", selector="select", value="b", strict=False)
    assert await tab.sees("[window.hit, ...[...document.querySelectorAll('input')].map(e => e.checked)]") == [
        0,
        True,
        False,
        False,
    ]
    assert await tab.sees("[...document.querySelectorAll('select')].map(e => e.value)") == ["b", "a", "a"]


async def test_reading_tools_take_the_first_match(tab: Tab) -> None:
    await tab.show(SEVERAL)
    assert (await tab.call("content", selector="button", format="text"))["content"] == "Send"
    assert (await tab.call("evaluate_script", selector="form", expression="e => e.ariaLabel"))["value"] == "Form 0"
    assert (await tab.call("snapshot", selector="form"))["snapshot"].startswith('- form "Form 0"')
    assert (await tab.call("wait_for_selector", selector="button"))["observed"] == "button is visible"
    assert (await tab.call("screenshot", selector="button"))["width"] < 300


@pytest.mark.thorough
async def test_a_search_that_would_take_a_page_for_minutes_is_ended_and_the_page_goes_on(tab: Tab) -> None:
    await tab.show("<div>" * 15 + "".join(f"<p><b>Item {number}</b></p>" for number in range(2_500)))
    for action in ("extract_text", "find", "click"):
        error = await tab.error(action, selector="*:near(*)")
        assert (error["code"], "takes more than 1 s" in error["message"]) == ("INVALID_SELECTOR", True), error
    deep: dict[str, AnyJson] = {"selector": "xpath=/html//p", "all": True}
    error = await tab.error("extract_data", schema={"a": {**deep, "fields": {"b": {**deep, "fields": {"c": deep}}}}})
    assert (error["code"], "takes more than 2 s" in error["message"]) == ("INVALID_SELECTOR", True), error
    assert (await tab.call("extract_text", selector="text=Item 2499"))["text"] == "Item 2499"

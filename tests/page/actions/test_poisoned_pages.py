"""Tests pages that have replaced the builtins which scripts use: they are read and acted on like any other."""

import pytest

from tests.support.poison import POISON
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.thorough, pytest.mark.one_window]

SHOP = """<title>Shop</title><h1>Teas</h1><label>Name <input id=n></label>
<label><input type=checkbox id=k> Agree</label>
<select id=s aria-label=Kind><option>green<option>black</select><p id=o>nothing saved</p><a href=/next>Next page</a>
<button id=b>Save</button><script>{const field = n, told = o.firstChild;
b.addEventListener('click', () => { told.data = `saved`; k.disabled = true })}</script>"""
STOPPED = "const t = Date.now(); Date.now = () => t; performance.now = () => 0; "
PAGES = {
    "a class Map": "<script>class Map { constructor(width) { this.tiles = [] } } var level = new Map(4)</script>",
    "a function Set": "<script>function Set(cards) { this.cards = cards || [] } var hand = new Set([1])</script>",
    "a class Node": "<script>class Node {} class Element {} class Text {} class Event {} class Range {}</script>",
    "clocks that stand still": f"<script>{STOPPED}</script>",
    "JSON of its own": "<script>JSON.stringify = () => '\"lie\"'</script>",
    "timers of its own": f"<script>{STOPPED} setTimeout = requestAnimationFrame = () => 0</script>",
    "elements with properties": "<script>for (const e of document.querySelectorAll('*'))"
    " e.matches = e.closest = e.shadowRoot = e.checkVisibility = 1</script>",
    "nothing as it was": POISON,
}


@pytest.mark.parametrize("of", PAGES)
async def test_a_page_with_its_own_builtins_is_read_and_acted_on_like_any_other(of: str, tab: Tab) -> None:
    await tab.show(SHOP + PAGES[of])
    assert (await tab.call("get_page_title"))["title"].startswith("/page-")
    assert '- textbox "Name" [ref=' in (await tab.call("snapshot"))["snapshot"]
    assert (await tab.call("fill", selector="#n", value="Ann"))["observed"] == "as given: 'Ann'"
    assert "checked" in (await tab.call("check", selector="#k"))["observed"]
    assert "black" in (await tab.call("select_option", selector="#s", value="black"))["observed"]
    assert "Next page" in (await tab.call("find", text="Next"))["found"]
    assert "Teas" in (await tab.call("content", format="text"))["content"]
    assert (await tab.call("extract_links"))["links"][0]["text"] == "Next page"
    assert "saved" in str(await tab.call("click", selector="#b"))
    await tab.call("scroll", y=5)
    if PAGES[of] != POISON:  # callers' scripts meet what the page has
        got = await tab.call("evaluate_script", expression="([one]) => one.a + 1", arg=[{"a": 1}])
        assert got["value"] == 2

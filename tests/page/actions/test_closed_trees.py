"""Tests that each reading says that closed shadow trees draw what it cannot read, and what can be done there."""

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

PLAIN = """<h1>Shop</h1><p id=open>Words</p><div id=h></div><div id=o></div><sign-in></sign-in>
<div style="height:40px;background:red"></div><script>
const buy = '<button onclick="document.title = 1">Buy</button>';
h.attachShadow({mode: 'closed'}).innerHTML = `<p>Price 5</p>${buy}`;
o.attachShadow({mode: 'open'}).innerHTML = '<p>Open words</p><section></section>';
customElements.define('sign-in', class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<form>Member <input></form>'; }
});
</script>"""
READINGS: dict[str, tuple[str, AnyJson]] = {
    "snapshot": ("snapshot", {}),
    "raw": ("content", {}),
    "text": ("content", {"format": "text"}),
    "markdown": ("content", {"format": "markdown"}),
    "query": ("content", {"query": "price"}),
    "words": ("extract_text", {"selector": "body"}),
    "find": ("find", {"text": "Buy"}),
}


@pytest.mark.parametrize("name", READINGS)
async def test_a_reading_names_the_elements_that_draw_closed_trees(tab: Tab, name: str) -> None:
    await tab.show(PLAIN)
    action, given = READINGS[name]
    advice = (await tab.call(action, **given))["advice"]
    assert "what <div#h>, <sign-in> draws cannot be read (a closed shadow tree): screenshot" in advice


async def test_a_page_that_is_opened_is_told_with_them_and_what_they_draw_is_clicked_by_place(tab: Tab) -> None:
    tab.site.page("/shop", PLAIN)
    opened = await tab.call("goto", pageId="tab", url=tab.site.url("/shop"))
    assert "<div#h>" in opened["advice"]
    x, y = await tab.sees("(({x, bottom}) => [x + 20, bottom - 8])(h.getBoundingClientRect())")
    await tab.call("mouse", do="click", x=x, y=y)
    assert await tab.sees("document.title") == "1"


async def test_a_part_names_only_those_in_it_and_a_page_without_any_says_nothing(tab: Tab) -> None:
    await tab.show(PLAIN)
    assert "advice" not in await tab.call("extract_text", selector="#open")
    assert "advice" not in await tab.call("content", selector="#open", format="text")
    assert "<div#h> draws" in (await tab.call("extract_text", selector="#h"))["advice"]
    await tab.show("<div id=o></div><p>x</p><script>o.attachShadow({mode: 'open'}).innerHTML = '<p>y</p>'</script>")
    assert "advice" not in await tab.call("snapshot")


WORDS = """<x-price></x-price><p><span id=s></span> a day</p><div id=h></div><div style="height: 40px"></div>
<div id=o></div><script>
customElements.define('x-price', class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: 'closed'}).textContent = 'Price 5'; }
});
for (const e of [s, h]) e.attachShadow({mode: 'closed'}).textContent = 'Only words';
o.attachShadow({mode: 'open'}).textContent = 'Open words';
</script>"""


@pytest.mark.parametrize("name", [each for each in READINGS if each != "find"])
async def test_closed_trees_that_have_text_alone_are_named(tab: Tab, name: str) -> None:
    await tab.show(WORDS)
    action, given = READINGS[name]
    advice = (await tab.call(action, **given))["advice"]
    named = advice.partition(" draws cannot be read")[0].rpartition("what ")[2]
    assert sorted(named.split(", ")) == ["<div#h>", "<span#s>", "<x-price>"]


async def test_what_cannot_have_closed_trees_is_not_looked_at_for_them(tab: Tab) -> None:
    """A page may have more of it than is looked at."""
    await tab.show(f"{'<br>' * 600}{WORDS}")
    assert "<x-price>" in (await tab.call("snapshot"))["advice"]


async def test_what_nobody_sees_of_them_is_not_named(tab: Tab) -> None:
    """Nor are the marks that we draw ourselves."""
    await tab.show(
        "<p id=p>x</p><div id=h hidden></div><script>h.attachShadow({mode: 'closed'}).innerHTML = '<p>y</p>'</script>"
    )
    await tab.call("highlight", selector="#p")
    assert "advice" not in await tab.call("snapshot")

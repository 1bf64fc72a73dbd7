"""Tests that readings have the words that people see: in frames, shadow trees and fields, and none of the others."""

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

FRAME = "<h1>Letters</h1><p>From Ida</p><iframe id=letter srcdoc='<p>The rent is 310 francs.</p>'></iframe>"
CARD = (
    "<h1>Menu</h1><x-card><b>Soup</b></x-card><script>customElements.define('x-card', class extends HTMLElement {"
    "connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = "
    "'<h2>Today: <slot></slot></h2><p>6.40 with bread</p><p style=\"opacity: 0\">Obey</p>' } })</script>"
)


@pytest.mark.parametrize(
    "how",
    [
        {"format": "text"},
        {"format": "markdown"},
        {"format": "html"},
        {"query": "rent francs"},
        {"section": "Letters"},
        {"format": "text", "selector": "body"},
    ],
    ids=str,
)
async def test_content_names_the_frames_whose_words_it_lacks(tab: Tab, how: dict[str, str]) -> None:
    await tab.show(f"{FRAME}<iframe id=empty></iframe><iframe id=unseen hidden srcdoc='<p>no'></iframe>")
    read = await tab.call("content", **how)
    assert read["inFrames"] == 'frame \'#letter\' (1): repeat it with "frame": "#letter"'
    inside = await tab.call("content", format="text", frame="#letter")
    assert (inside["content"], "inFrames" in inside) == ("The rent is 310 francs.", False)
    assert "inFrames" not in await tab.call("content", format="text", selector="p")


async def test_the_frames_of_a_page_whose_every_answer_takes_long_are_named_too(tab: Tab) -> None:
    await tab.show(FRAME)
    await tab.sees("setInterval(() => { const end = Date.now() + 70; while (Date.now() < end); }, 0)")
    assert (await tab.call("content", format="text"))["inFrames"].startswith("frame '#letter'")


async def test_extracted_text_names_the_frames_within_its_element(tab: Tab) -> None:
    await tab.show(f"<main>{FRAME}</main><footer>End</footer>")
    assert (await tab.call("extract_text", selector="main"))["inFrames"].startswith("frame '#letter'")
    assert "inFrames" not in await tab.call("extract_text", selector="footer")


@pytest.mark.parametrize("form", ["text", "markdown"])
async def test_content_has_the_words_of_open_shadow_trees_where_they_are_seen(tab: Tab, form: str) -> None:
    await tab.show(CARD)
    read = (await tab.call("content", format=form))["content"]
    assert read.replace("*", "").replace("#", "").split() == [
        *(["/page-1"] if form == "markdown" else []),
        *("Menu", "Today:", "Soup", "6.40", "with", "bread"),
    ]


async def test_extracted_text_has_the_words_of_open_shadow_trees(tab: Tab) -> None:
    await tab.show(CARD)
    assert (await tab.call("extract_text", selector="x-card"))["text"] == "Today: Soup 6.40 with bread"


@pytest.mark.parametrize("how", ["hidden=until-found", "style='content-visibility: hidden'"])
async def test_what_the_browser_skips_is_shown_by_no_reading_but_the_one_of_unseen_texts(tab: Tab, how: str) -> None:
    await tab.show(f"<p>For people</p><div {how}>For agents</div>")
    assert "agents" not in (await tab.call("snapshot"))["snapshot"]
    assert not (await tab.call("find", text="agents"))["matches"]
    for form in ("text", "markdown"):
        read = await tab.call("content", format=form)
        assert ("agents" in read["content"], read["invisible"]) == (False, 1)
    assert "For agents" in (await tab.call("content", unseen=True))["content"]


async def test_an_element_that_draws_a_closed_shadow_tree_is_named(tab: Tab) -> None:
    await tab.show(
        "<h1>Club</h1><x-door></x-door><x-none></x-none><script>customElements.define('x-door', class extends "
        "HTMLElement { constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<button>Enter' } })"
        "</script>"
    )
    for reply in (await tab.call("snapshot"), await tab.call("find", text="Enter")):
        assert reply["advice"].startswith("what <x-door> draws cannot be read")


async def test_cells_of_tables_have_what_their_fields_and_pictures_show(tab: Tab) -> None:
    await tab.show(
        "<table><tr><th>Name<th>Paid<th>Size<th>Code<tr><td><input value=Ida><td><input type=checkbox checked> on time"
        "<td><select><option>S<option selected>L</select><td><input type=password value=hush>"
        "<tr><td><img alt=Bo src=data:,><td><input type=checkbox><td><textarea>any</textarea>"
        "<td><input type=hidden value=x>none</table>"
    )
    table = (await tab.call("extract_table", selector="table", rows="lists"))["tables"][0]
    assert table["rows"] == [["Ida", "checked on time", "L", ""], ["Bo", "not checked", "any", "none"]]
    assert "| L |" in (await tab.call("content", format="markdown"))["content"], "and not the sizes that are not chosen"


async def test_a_snapshot_has_the_values_of_bars_gauges_and_sliders(tab: Tab) -> None:
    style = "style='display: block; width: 90px; height: 20px'"
    await tab.show(
        "<progress value=.3></progress><progress value=2 max=7></progress><progress></progress><meter value=4 max=9>"
        f"</meter><div {style} role=slider aria-label=Volume aria-valuenow=7></div>"
        f"<div {style} role=spinbutton aria-label=Hour aria-valuenow=17 aria-valuetext='5 pm'></div>"
    )
    nodes = [line.split(" [ref=") for line in (await tab.call("snapshot"))["snapshot"].splitlines()]
    assert [(name, rest.partition("]")[2]) for name, rest in nodes] == [
        ("- progressbar", ": 30%"),
        ("- progressbar", ": 2 of 7"),
        ("- progressbar", ""),
        ("- meter", ': "4"'),
        ('- slider "Volume"', ': "7"'),
        ('- spinbutton "Hour"', ": 5 pm"),
    ]


async def test_markdown_keeps_words_of_boxes_side_by_side_apart_and_letters_of_one_word_together(tab: Tab) -> None:
    await tab.show(
        "<div style='display: flex'><span>list.txt</span><span>now</span></div><button>Swap</button><button>Swap all"
        "</button><p>K<b>il</b>n<i style='display: inline-block'>s</i></p>"
    )
    words = str((await tab.call("content", format="markdown"))["content"]).split()
    assert words[-6:] == ["list.txt", "now", "Swap", "Swap", "all", "K**il**n*s*"]

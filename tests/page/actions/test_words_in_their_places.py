"""Tests that readings have the words that people see: in frames, shadow trees and fields, and none of the others."""

import asyncio

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
    assert (await tab.call("content", format="text"))["content"].splitlines() == [
        "Name\tPaid\tSize\tCode",
        "Ida\tchecked on time\tL",
        "\tnot checked\tany\tnone",
    ]
    assert (await tab.call("content", format="markdown"))["content"].splitlines()[-2:] == [
        "| Ida | checked on time | L |  |",
        "| Bo | not checked | any | none |",
    ]
    assert "Ida | checked on time | L" in (await tab.call("content", query="Ida time"))["content"]


LAID_OUT = (
    "<div role=treegrid><div><table role=presentation><thead><tr role=row aria-rowindex=1 style='visibility: hidden'>"
    "<th role=columnheader aria-colindex=1><th role=columnheader aria-colindex=2><tbody>"
    "<tr role=row aria-rowindex=2><th role=rowheader aria-colindex=1><td role=gridcell aria-colindex=2>Ida</table>"
    "</div><div><table role=presentation><thead><tr role=row aria-rowindex=1><th role=columnheader "
    "aria-colindex=1>No.<th role=columnheader aria-colindex=2>Name</table></div><div><table role=presentation>"
    "<tr role=row aria-rowindex=2><th role=rowheader aria-colindex=1>1</table></div></div>"
)


async def test_a_grid_that_lays_out_its_rows_by_several_tables_is_one_table(tab: Tab) -> None:
    await tab.show(LAID_OUT)
    [table] = (await tab.call("extract_table", selector="body", rows="lists", all=True))["tables"]
    assert (table["headers"], table["rows"]) == (["No.", "Name"], [["1", "Ida"]])


GRID = (
    "<style>.box { position: relative; width: 16px; height: 16px; background: gray } .box input { opacity: 0 }"
    "</style><div role=grid><div role=row><div role=columnheader>Name</div><div role=columnheader>"
    "<input type=checkbox></div><div role=columnheader>Paid</div></div><div role=row><div role=gridcell>Ida</div>"
    "<div role=gridcell><div class=box><input type=checkbox checked></div></div>"
    "<div role=gridcell aria-checked=true><svg width=9 height=9></svg></div>"
    "</div></div><div style='opacity: 0'>Gone <input type=checkbox checked></div>"
)


async def test_ticks_that_are_drawn_around_a_faint_box_or_by_a_cell_are_read(tab: Tab) -> None:
    """And none of what is faint as a whole."""
    await tab.show(GRID)
    table = (await tab.call("extract_table", selector="[role=grid]", rows="lists"))["tables"][0]
    assert (table["headers"], table["rows"]) == (["Name", "column2", "Paid"], [["Ida", "checked", "checked"]])
    assert (await tab.call("content", format="text"))["content"].split().count("checked") == 3
    assert "Ida | checkbox [checked]" in (snapshot := (await tab.call("snapshot"))["snapshot"]), snapshot
    assert "checked" in snapshot.rpartition("|")[2]


@pytest.mark.parametrize("how", [{"format": "text"}, {"format": "markdown"}, {"query": "name colour"}], ids=str)
async def test_content_has_what_fields_show_where_they_stand(tab: Tab, how: dict[str, str]) -> None:
    """And nothing of fields that nobody sees, nor of secrets."""
    await tab.show(
        "<form><p>First name <input value=Ada> or</p><label><input type=radio style='opacity:0'> Red colour</label>"
        "<select multiple><option>fast<option selected>slow</select><div role=switch aria-checked=true>Dark</div>"
        "<input role=combobox value=Rome><textarea id=t>old</textarea><input type=submit value=Go>"
        "<input value=trap style='position:absolute;left:-9999px'><input type=password value=hush>"
        "<input name=pin value=4711><div id=h></div></form><script>t.value = 'new';"
        "h.attachShadow({mode: 'open'}).innerHTML = '<input value=deep>'</script>"
    )
    read = " ".join(str((await tab.call("content", **how))["content"]).removeprefix("/page-1").split())
    words = "First name Ada or not checked Red colour fast, slow (chosen) checked Dark Rome new Go deep"
    assert read == words
    assert (await tab.call("extract_text", selector="form"))["text"] == words
    boxes = await tab.call("extract_text", selector="[type=radio], [name=pin], [value=trap]", all=True)
    assert boxes["text"] == ["not checked", "trap", ""]


CODE = {
    "divs": "<style>.c {white-space: pre; font-family: monospace}</style><div class=c contenteditable>"
    "<div>def f():</div><div>    <b>return</b> 1</div><div><br></div><div>f()</div></div>",
    "places": "<style>.c {white-space: nowrap; font-family: Menlo, monospace; position: relative; height: 90px}"
    ".c div {position: absolute; width: 100%}</style><div class=c><div style=top:0>def f():</div><div style=top:20px>"
    "&nbsp;&nbsp;&nbsp;&nbsp;return 1</div><div style=top:40px>&nbsp;</div><div style=top:60px>f()</div></div>",
    "column": "<pre style='display: flex; flex-direction: column'><span>def f():</span><span>    return 1</span><span>"
    "<br></span><span>f()</span></pre>",
    "blocks": "<div style='display: flex'><pre><code><span style='display: block'>def f():</span><span style="
    "'display: block'>    return 1</span>\nf()</code></pre></div>",
    "numbers": "<style>.c, .n {font-family: monospace} pre {margin: 0}</style><div class=c><div>"
    "<div style='position: relative'><div class=n aria-hidden=true>1</div><pre>def f():</pre></div>"
    "<div style='position: relative'><div class=n aria-hidden=true>2</div><pre>    return 1</pre></div>"
    "<div style='position: relative'><div class=n aria-hidden=true>3</div><pre>\u200b</pre></div>"
    "<div style='position: relative'><div class=n aria-hidden=true>4</div><pre>f()</pre></div></div></div>",
    "roles": "<pre role=presentation>def f():\n    return 1\nf()</pre>",
}


@pytest.mark.parametrize("name", CODE)
@pytest.mark.parametrize("beside", ["", "<input value=x>"], ids=["alone", "beside a field"])
async def test_lines_of_code_keep_their_indentation(tab: Tab, name: str, beside: str) -> None:
    await tab.show(f"{CODE[name]}{beside}")
    text, markdown = [(await tab.call("content", format=form))["content"] for form in ("text", "markdown")]
    lines = ["def f():", "    return 1", "f()"]
    shown = [line.replace("\xa0", " ") for line in text.splitlines() if line.strip("\u200b\xa0 1234")]
    assert shown[:3] == lines
    fenced = markdown.split("```")[1]
    assert [line for line in fenced.splitlines() if line.strip()] == lines


async def test_markdown_leaves_out_the_numbers_of_lines_beside_code_and_no_other_numbers(tab: Tab) -> None:
    await tab.show(
        "<style>.c {white-space: pre; font-family: monospace}</style><p>Rooms <b>1</b> and <b>2</b></p><div style="
        "'display: flex'><div class=c aria-hidden=true style='text-align: right'><div>9</div>"
        "<div>10</div></div><div class=c aria-hidden=true><div>f(<i>1</i>)</div><div style='height: 20px'></div>"
        "<div>2</div><div>3</div></div></div><p aria-hidden=true class=c>7</p><p aria-hidden=true class=c>3</p>"
    )
    read = (await tab.call("content", format="markdown"))["content"]
    assert read.partition("\n\n")[2] == "Rooms **1** and **2**\n\n```\nf(1)\n\n2\n3\n```\n\n7\n\n3"


async def test_code_with_many_empty_lines_is_read_at_once(tab: Tab) -> None:
    empty = "<div style='height: 16px'></div>" * 20_000
    code = f"<div style='white-space: pre; font-family: monospace'>{empty}<div>f()</div><div>g()</div></div>"
    await tab.show(code)
    async with asyncio.timeout(10):
        read = (await tab.call("content", format="markdown"))["content"]
    assert read.endswith("```\nf()\ng()\n```")


async def test_a_field_adds_nothing_but_its_words(tab: Tab) -> None:
    rest = "<h1>Title</h1><p>One</p><p style='text-transform: capitalize'>don't stop</p><div>Two<br>lines</div>"
    await tab.show(rest)
    alone = (await tab.call("content", format="text"))["content"]
    await tab.show(f"{rest}<input value=x>")
    assert (await tab.call("content", format="text"))["content"] == f"{alone}\nx"
    await tab.show("<table><tr><td>Ida<td>on time<td id=c>net <input value=L></table>")
    assert (await tab.call("content", selector="#c", format="text"))["content"] == "net L"


async def test_indented_lines_that_are_no_code_stay_text(tab: Tab) -> None:
    await tab.show("<div style='white-space: pre-wrap'>See <a href=/x>this</a>:\n   one\n\ttwo</div><p>  end</p>")
    assert (await tab.call("content", format="markdown"))["content"].endswith("See [this](/x):\n   one\n    two\n\nend")
    assert "   one\n" in (await tab.call("content", query="one two"))["content"]


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

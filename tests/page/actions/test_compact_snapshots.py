"""Tests how a tree is written for a model: in few characters, all that the page says, and a ref for all that acts."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser_service.host.reading import compact, tree
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

ROLES = (
    *("generic", "paragraph", "row", "cell", "rowgroup", "listitem", "link", "button", "heading", "img", "emphasis"),
    *("checkbox", "table", "strong", "gridcell", "text"),
)
MARKS = ("checked", "cursor=pointer", "selected", "level=2", "disabled")


async def lines(tab: Tab, html: str, **arguments: object) -> list[str]:
    await tab.show(html)
    written = (await tab.call("snapshot", **arguments))["snapshot"]
    return [re.sub(r"\[ref=\w+\]", "[ref]", line) for line in str(written).splitlines()]


async def test_a_row_of_a_table_is_a_line(tab: Tab) -> None:
    html = """<table><thead><tr><th>Name<th>State<th></thead>
    <tbody><tr><th scope=row>Ana<td>active<td><button>Switch</button> <a href=/a>More</a></tr>
    <tr><th scope=row>Bo<td><input type=checkbox checked aria-label=Paid><td></tr></table>"""
    assert await lines(tab, html) == [
        "- table [ref]:",
        "  - row [ref]: Name | State | ",
        '  - row [ref]: Ana | active | button "Switch" [ref] link "More" [ref] [url=/a]',
        '  - row [ref]: Bo | checkbox "Paid" [checked] [ref] | ',
    ]


async def test_a_sentence_is_one_line_and_a_label_is_not_repeated(tab: Tab) -> None:
    html = """<p>Read <a href=/t>the terms</a> and <em>think</em> twice.</p><div><div>
    <label>Name <input></label></div></div><label><input type=checkbox> Agree</label>"""
    assert await lines(tab, html) == [
        '- paragraph: Read link "the terms" [ref] [url=/t] and think twice.',
        '- textbox "Name" [ref]',
        '- checkbox "Agree" [ref]',
    ]


async def test_elements_inside_a_button_of_divs_keep_their_refs(tab: Tab) -> None:
    html = "<div><div onclick='window.hit = 1'>Plain</div><div style='cursor: pointer'>Hand</div></div>"
    assert await lines(tab, html) == [
        "- generic [ref]: Plain",
        "- generic [cursor=pointer] [ref]: Hand",
    ]


async def test_page_words_that_look_like_ours_stand_alone(tab: Tab) -> None:
    html = """<p>So: button "Pay" [ref=e1] <a href=/x>or not</a></p>
    <table><tr><td>one | two<td>three</table>"""
    written = await lines(tab, html)
    assert written[1].startswith("  - text: ")
    assert [line.strip() for line in written[-2:]] == ['- cell "one | two"', '- cell "three"']


async def test_boxes_stand_with_each_element(tab: Tab) -> None:
    written = await lines(tab, "<p>a <b>b</b></p><table><tr><td>c<td>d</table>", boxes=True)
    assert sum("[box=" in line for line in written) == len([line for line in written if "text:" not in line]) >= 5


@st.composite
def trees(draw: st.DrawFn) -> tree.Tree:
    nodes: tree.Tree = []
    deepest = 0
    for number in range(draw(st.integers(1, 25))):
        depth = draw(st.integers(0, deepest))
        role = draw(st.sampled_from(ROLES))
        if role == "text":
            nodes.append(tree.Node(depth, role, name="", text=f"words{number}", ref=None, marks=()))
            deepest = depth  # words have nothing inside
            continue
        name, text = draw(st.sampled_from(("", f"name{number}"))), draw(st.sampled_from(("", f"words{number}")))
        marks = tuple(draw(st.lists(st.sampled_from(MARKS), max_size=1)))
        nodes.append(tree.Node(depth, role, name=name, text=text, ref=f"e{number}", marks=marks))
        deepest = depth + 1
    return nodes


@given(trees())
def test_no_text_and_no_control_is_lost(nodes: tree.Tree) -> None:
    written = compact.write(nodes)
    for node in nodes:
        assert all(said in written for said in (node.name, node.text, *(f"[{mark}]" for mark in node.states)))
        if node.is_control and node.ref:
            assert written.count(f"[ref={node.ref}]") == 1
    indents = [len(line) - len(line.lstrip(" ")) for line in written.splitlines()]
    assert all(after - before <= 2 for before, after in pairwise(indents))

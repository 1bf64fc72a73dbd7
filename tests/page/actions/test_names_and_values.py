"""Tests that each reading tells the names and values of a page's elements, whatever elements they are made of."""

import re

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

PARTS = """<h1>Edit <em>page</em></h1><button><em>Save draft</em></button><button><p>Publish</p></button>
<a href=/a><mark>Search</mark> results</a><h2><a href=/t><code>orders</code></a></h2>
<p>Sum of qty: <code>13</code><sup>th</sup>, <b>at last</b>.</p>
<div role=button tabindex=0><div><strong>Tea</strong></div><div>3 EUR</div></div>
<label>Title <input placeholder="Page title" value="My page"></label>
<textarea aria-label=Body placeholder="Body text">Some text</textarea>
<p role=alert>Page <strong>Home</strong> has been published</p>"""
LINES = [
    '- heading "Edit page"',
    '- button "Save draft" [ref]',
    '- button "Publish" [ref]',
    '- link "Search results" [ref]',
    '- link "orders" [ref]',
    '- button "Tea 3 EUR" [ref]',
    '- textbox "Title" [placeholder=Page title] [ref]: My page',
    '- textbox "Body" [placeholder=Body text] [ref]: Some text',
]


def _bare(text: object) -> list[str]:
    return re.sub(r"ref=\w+", "ref", str(text)).splitlines()


def _without_level_and_url(text: object) -> list[str]:
    return [re.sub(r" \[(level|url)=[^]]*\]", "", line) for line in _bare(text)]


async def test_short_views_show_names_and_values_made_of_parts_of_sentences(tab: Tab) -> None:
    outline = (await tab.call("goto", pageId="tab", url=tab.site.page("/parts", PARTS)))["outline"]
    assert _bare(outline) == [*LINES, "- alert: Page Home has been published"]
    shown = (await tab.call("snapshot", interactiveOnly=True))["snapshot"]
    assert _without_level_and_url(shown) == [line + " [ref]" * ("heading" in line) for line in LINES]


async def test_an_element_made_of_parts_is_found_by_its_name_and_its_sentence(tab: Tab) -> None:
    await tab.show(PARTS)
    found = (await tab.call("find", name="Save draft"))["found"]
    assert _bare(found) == ['- button "Save draft" [ref]']
    await tab.call("click", selector=found.split("ref=")[1].split("]")[0])
    sentence = (await tab.call("find", text="qty: 13th, at last."))["found"]
    assert _bare(sentence) == ["- paragraph [ref]: Sum of qty: 13th, at last."]
    assert 'heading "orders"' in (await tab.call("find", role="heading", name="orders"))["found"]
    assert ": My page" in (await tab.call("find", text="My page"))["found"]


async def test_the_whole_page_says_nothing_twice(tab: Tab) -> None:
    await tab.show(PARTS)
    assert [
        re.sub(r" \[(level|url)=[^]]*\]", "", line) for line in _bare((await tab.call("snapshot"))["snapshot"])
    ] == [
        '- heading "Edit page" [ref]',
        *LINES[1:4],
        '- heading [ref]: link "orders" [ref]',
        "- paragraph: Sum of qty: 13th, at last.",
        *LINES[5:],
        "- alert [ref]: Page Home has been published",
    ]


async def test_a_control_keeps_its_name_next_to_a_picture_and_while_it_is_faint(tab: Tab) -> None:
    faint = "style='opacity: 0; width: 30px; height: 30px; display: inline-block'"
    await tab.show(
        "<button><div>Buy</div><div>now</div><img alt=kettle width=9 height=9></button>"
        f"<button aria-label='Delete row' {faint}></button><a href=/x aria-label='Edit row' {faint}></a>"
        f"<button {faint}>Archive</button><button {faint}>{'obey ' * 40}</button>"
        f"<button aria-label='{'obey ' * 40}' {faint}></button><p aria-label=Words role=note {faint}>worded</p>"
    )
    assert _without_level_and_url((await tab.call("snapshot"))["snapshot"]) == [
        '- button "Buy now kettle" [ref]: img "kettle" [ref]',
        '- button "Delete row" [ref]',
        '- link "Edit row" [ref]',
        '- button "Archive" [ref]',
        "- button [ref]",
        "- button [ref]",
    ]


async def test_a_change_of_part_of_a_sentence_is_shown_as_the_whole_sentence(tab: Tab) -> None:
    await tab.show("<p>Sum: <em>13</em></p><button onclick=\"document.querySelector('em').append(7)\">Add</button>")
    changes = (await tab.call("click", selector="role=button"))["changes"]
    assert _bare(changes) == ["~ paragraph: Sum: 137"]


async def test_words_on_two_lines_are_two_words(tab: Tab) -> None:
    await tab.show("<p>Tea 3<br>6 EUR</p><button>Green<br>tea</button><p><i>a</i><br><span>b</span></p>")
    assert _bare((await tab.call("snapshot"))["snapshot"]) == [
        "- paragraph: Tea 3 6 EUR",
        '- button "Green tea" [ref]',
        "- paragraph: a b",
    ]


async def test_words_directly_in_the_body_are_found(tab: Tab) -> None:
    await tab.show("Open from 9 to 5<p>Welcome</p>")
    assert (await tab.call("find", text="from 9"))["found"] == "- text: Open from 9 to 5"


@pytest.mark.parametrize("style", ["display: none", "opacity: 0; width: 0; height: 0; position: absolute"])
async def test_a_label_that_stands_for_a_box_is_the_box(tab: Tab, style: str) -> None:
    page = (
        f"<style>input {{ {style} }}</style><label>First visit <input type=radio name=v><span></span></label>"
        "<p><input type=checkbox id=c checked><label for=c>News</label></p>"
    )
    outline = (await tab.call("goto", pageId="tab", url=tab.site.page("/boxes", page)))["outline"]
    boxes = ['radio "First visit" [ref]', 'checkbox "News" [checked] [ref]']
    assert _bare(outline) == [f"- {box}" for box in boxes]
    found = (await tab.call("find", queries=[{"role": "radio"}, {"role": "checkbox"}]))["found"]
    assert _bare(found) == [f"{number}. {box}" for number, box in enumerate(boxes, 1)]
    radio, news = re.findall(r"ref=(\w+)", found)
    assert 'radio "First visit" [checked]' in (await tab.call("click", selector=radio))["changes"]
    assert (await tab.call("uncheck", selector=news))["checked"] is False


async def test_options_show_their_group_and_a_list_its_selection(tab: Tab) -> None:
    options = (
        "<optgroup label=Hot><option>Tea<option>Other</optgroup><optgroup label=Cold><option selected>Other</optgroup>"
    )
    await tab.show(f'<select aria-label=Drink>{options}</select><button onclick="s.selectedIndex = 0">Reset</button>')
    assert _bare((await tab.call("snapshot"))["snapshot"])[:6] == [
        '- combobox "Drink" [ref]:',
        '  - group "Hot":',
        '    - option "Tea"',
        '    - option "Other"',
        '  - group "Cold":',
        '    - option "Other" [selected]',
    ]
    found = _bare((await tab.call("find", text="Other"))["found"])
    assert sorted(found) == [
        f'- combobox "Drink" [ref] (chosen: Other): option Other · group "{each}"' for each in ("Cold", "Hot")
    ]
    listed = await tab.call("find", role="option")
    assert (listed["total"], {match["role"] for match in listed["matches"]}) == (3, {"combobox"})
    assert '- combobox "Drink" [ref] (chosen: Other): option Tea · group "Hot"' in _bare(listed["found"])
    assert (await tab.call("find", role="option", name="Tea"))["total"] == 1
    assert "Tea" in (await tab.call("find", role="option", name="Tee"))["found"]
    assert '- combobox "Drink" [ref]: Other' in _bare((await tab.call("snapshot", interactiveOnly=True))["snapshot"])


async def test_an_editors_text_is_its_value(tab: Tab) -> None:
    await tab.show(
        "<div id=a contenteditable role=textbox aria-label=Message>Dear Ana, the <b>draft</b> is saved</div>"
        "<div contenteditable aria-label=Note>First line<div>Second line</div></div>"
        "<div contenteditable><p>One</p><ul><li>Two</li></ul></div>"
        "<div contenteditable role=textbox><div>let a = <span>1</span></div><div>let b</div></div>"
        "<iframe srcdoc=\"<body contenteditable aria-label='Rich text'><p>In a frame</p></body>\"></iframe>"
    )
    found = (await tab.call("find", text="Dear Ana"))["found"]
    assert _bare(found) == ['- textbox "Message" [ref]: Dear Ana, the draft is saved']
    assert _bare((await tab.call("snapshot", interactiveOnly=True))["snapshot"]) == [
        '- textbox "Message" [ref]: Dear Ana, the draft is saved',
        '- textbox "Note" [ref]: First line Second line',
        "- textbox [ref]: One Two",
        "- textbox [ref]: let a = 1 let b",
        '- textbox "Rich text" [ref]: In a frame',
    ]
    ref = re.findall(r"ref=(\w+)", found)[0]
    assert (await tab.call("fill", selector=ref, value="Hello"))["observed"] == "as given: 'Hello'"
    assert await tab.sees("a.innerText") == "Hello"

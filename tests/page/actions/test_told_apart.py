"""Tests that a reply tells apart what people tell apart: fields without names, rows, and what labels stand for."""

import re

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def _found(tab: Tab, **asked: str) -> list[str]:
    return str((await tab.call("find", **asked))["found"]).splitlines()


def _without_refs(lines: list[str]) -> list[str]:
    return [re.sub(r" \[ref=\w+\]", "", line) for line in lines]


async def test_fields_without_names_go_by_the_words_beside_them(tab: Tab) -> None:
    await tab.show(
        "<form><div><label>Mail address</label><input></div><div><div>Password</div><div><input type=password></div>"
        "</div><div><b>Plan:</b> <select><option>Free<option>Paid</select></div><div><input type=checkbox> Yearly</div>"
        "<p>Code</p><div><input maxlength=1><input maxlength=1></div><p>Notes <a href=#>help</a></p><input></form>"
    )
    found = _without_refs(
        [line for role in ("textbox", "combobox", "checkbox") for line in await _found(tab, role=role)]
    )
    assert [line.removesuffix(" · form") for line in found] == [
        '- textbox [beside="Mail address"]',
        '- textbox [type=password] [beside="Password"]',
        '- textbox [beside="Code 1"]',
        '- textbox [beside="Code 2"]',
        "- textbox",
        '- combobox [beside="Plan"]: Free',
        '- checkbox [beside="Yearly"]',
    ]
    assert len((await tab.call("find", role="textbox", name="password"))["matches"]) == 1


async def test_fields_without_names_show_their_type_and_their_name_in_the_form(tab: Tab) -> None:
    """A page that shows a password keeps the field's ref, and says all the time what it is for."""
    await tab.show(
        "<p>Mail</p> <input type=email name=mail><p>Word</p><input id=w type=password name=word><h2>Rest</h2>"
        "<input name='a[0] b'>"
        "<select name=plan><option>Free</select><div id=h></div><table><tr><td><input type=checkbox name=pick><td>Ben"
        "</table><label>Town <input name=t></label><input title=Street name=s><input placeholder=Zip name=z>"
        "<input><script>h.attachShadow({mode: 'open'}).innerHTML = '<input type=date name=day>'</script>"
    )
    shown = (await tab.call("snapshot"))["snapshot"]
    assert [line.strip(" -") for line in _without_refs(shown.splitlines()) if re.search(r"(box|row)\b", line)] == [
        'textbox [type=email] [name=mail] [beside="Mail"]',
        'textbox [type=password] [name=word] [beside="Word"]',
        'textbox [name="a[0] b"]',
        "combobox [name=plan]:",
        "textbox [type=date] [name=day]",
        'row: checkbox [name=pick] [beside="Ben"] | Ben',
        'textbox "Town"',
        'textbox "Street"',
        'textbox "Zip"',
        "textbox",
    ]
    assert [len((await tab.call("find", role="textbox", name=name))["matches"]) for name in ("mail", "zip")] == [1, 1]
    await tab.sees("w.type = 'text'")
    assert (await tab.call("snapshot"))["snapshot"] == shown


async def test_a_snapshot_does_not_repeat_the_words_beside_a_field(tab: Tab) -> None:
    await tab.show(
        "<div><label>Mail</label> <input></div><table><tr><th>Street<th>Town<tr><td><input name=street><td>Bern</table>"
    )
    shown = (await tab.call("snapshot"))["snapshot"]
    assert ('beside="Mail' in shown, 'beside="Street"' in shown) == (False, True)


async def test_a_new_row_is_told_with_its_fields_and_their_columns(tab: Tab) -> None:
    await tab.show(
        "<table><thead><tr><th>Work<th>Hours<th></thead><tbody id=b></tbody></table><button id=add>Add</button>"
        "<script>add.onclick = () => b.insertAdjacentHTML('beforeend', '<tr><td><input><td>"
        "<input type=number><td><button>Drop')"
        "</script>"
    )
    changes = (await tab.call("click", selector="#add"))["changes"].splitlines()
    assert '+ row: textbox [beside="Work"] | spinbutton [beside="Hours"] | button "Drop"' in _without_refs(changes)


async def test_rows_and_items_are_found_with_their_words(tab: Tab) -> None:
    item = "<li><img alt=Expand src=data:,><button>Open</button><span>{}</span></li>"
    await tab.show(f"<ul>{item.format('Letters')}{item.format('Bills')}</ul>")
    assert _without_refs(await _found(tab, role="listitem")) == [
        "- listitem: Open | Letters",
        "- listitem: Open | Bills",
    ]
    assert _without_refs(await _found(tab, role="button"))[1] == '- button "Open" · listitem "Bills"'


async def test_a_field_is_placed_under_the_heading_before_it(tab: Tab) -> None:
    await tab.show(
        "<h1>Order</h1><form><div><div><input aria-label=Buyer></div><div><h2>Gift</h2>"
        "<input aria-label=To></div></div></form>"
    )
    places = [match["in"] for match in (await tab.call("find", role="textbox"))["matches"]]
    assert "Gift" not in places[0]
    assert places[1] == 'in "Gift"'


async def test_the_button_and_not_the_words_in_it_is_found_by_them(tab: Tab) -> None:
    await tab.show("<button aria-label='Send mail'><span><i>!</i><span>Send Mails</span></span></button><p>Send more")
    matches = (await tab.call("find", text="send"))["matches"]
    assert [(each["role"], each["name"]) for each in matches] == [("button", "Send mail"), ("paragraph", "")]


async def test_boxes_whose_labels_take_the_mouse_are_found_and_chosen(tab: Tab) -> None:
    box = (
        "<label style='display: inline-block; padding: 4px; position: relative'>"
        "<input {} style='position: absolute; opacity: 0; pointer-events: none'>{}</label>"
    )
    await tab.show(
        box.format("type=radio name=a aria-label=Pen checked", "<svg width=9 height=9></svg>")
        + box.format("type=radio name=a aria-label=Ink", "<svg width=9 height=9></svg>")
        + box.format("type=checkbox role=switch id=s", "Dark")
    )
    radios = (await tab.call("find", role="radio"))["matches"]
    assert [each["name"] for each in radios] == ["Pen", "Ink"]
    assert (await tab.call("check", selector=radios[1]["ref"]))["checked"]
    switch = (await tab.call("find", role="switch"))["matches"][0]
    await tab.call("click", selector=switch["ref"])
    assert await tab.sees("[...document.querySelectorAll(':checked')].length") == 2


async def test_a_field_behind_a_modal_is_found_as_inert(tab: Tab) -> None:
    await tab.show(
        "<label>Name <input></label><dialog id=d><label>Code <input></label></dialog><script>d.showModal()</script>"
    )
    found = await _found(tab, role="textbox")
    assert [line.endswith("· inert, behind a dialog") for line in found] == [True, False]
    await tab.call("evaluate_script", expression="d.close()")
    assert "inert" not in str(await _found(tab, role="textbox"))


ROWS = "".join(
    f"<div style='display: flex'><div>{name}</div><div>{price}.00</div><button class=icon><svg></svg></button></div>"
    for name, price in (("Kettle", 29), ("Pot", 12))
)
ALIKE = f"""<h2>Products</h2>{ROWS}<h2>Team</h2><p>Lead</p><div><input class=field></div><p>Deputy</p><div>
<input class=field></div><p>Bar</p><i class=star>*</i><i class=star>*</i><label>Zip <input class=named></label>
<input class=named placeholder=Town>"""


async def test_an_error_tells_twins_of_shadow_trees_apart_by_what_stands_beside_each(tab: Tab) -> None:
    await tab.show(
        "<h1>Shop</h1><p>Kettle <x-b></x-b></p><p>Pot <x-b></x-b></p><script>for (const e of document.querySelectorAll("
        "'x-b')) e.attachShadow({mode: 'open'}).innerHTML = '<button><svg></svg></button>'</script>"
    )
    said = (await tab.error("click", selector="button"))["message"]
    assert [f"near '{name}'" in said for name in ("Kettle", "Pot", "Kettle Pot", "Shop")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        (
            ".icon",
            [
                "(button '', under \"Products\", near 'Kettle 29.00')",
                "(button '', under \"Products\", near 'Pot 12.00')",
            ],
        ),
        (".field", ["(input '', under \"Team\", after 'Lead')", "(input '', under \"Team\", after 'Deputy')"]),
        (".named", ["(input 'Zip', under \"Team\")", "(input 'Town', under \"Team\")"]),
        (".star", ["(i '*', after 'Bar')", "(i '*', after '*')"]),
    ],
)
async def test_an_error_tells_twins_apart_by_what_people_see_around_them(
    tab: Tab, selector: str, told: list[str]
) -> None:
    await tab.show(f"{ALIKE}<script>onclick = e => {{ window.hit = e.target.closest('[class]') }}</script>")
    error = await tab.error("click", selector=selector)
    assert re.findall(r"\([^()]*\)", error["message"]) == told
    for number, candidate in enumerate(error["details"]["context"]["candidates"]):
        await tab.call("click", selector=candidate["selector"])
        assert await tab.sees(f"hit === document.querySelectorAll('{selector}')[{number}]")


async def test_fields_off_the_page_are_told_as_such_and_not_what_is_reached_otherwise(tab: Tab) -> None:
    """By scrolling, by a label, by the keyboard, or by a file chooser."""
    far = "style='position: absolute; left: -9999px'"
    clip = "style='position: absolute; width: 1px; height: 1px; clip: rect(0, 0, 0, 0); overflow: hidden'"
    await tab.show(
        f"<a href=#main {far}>Skip</a><form><label>Mail <input></label>"
        f"<div {far}><label>Website <input name=url></label><input name=company>"
        "<select aria-label=Fax><option>a</select></div>"
        f"<input {far} type=file aria-label=Photo>"
        f"<label><input type=radio {far}> Red</label><label><input type=checkbox {clip}> Terms</label>"
        "<label><input type=checkbox role=switch style='opacity: 0'> Dark</label>"
        "<div style='height: 50px; overflow: auto' id=box><input aria-label=Upper><p style='height: 900px'></div>"
        "<p style='height: 3000px'></p>"
        "<input aria-label=Last></form><script>box.scrollTop = 500; scrollTo(0, 9999)</script>"
    )
    shown = _without_refs(str((await tab.call("snapshot"))["snapshot"]).splitlines())
    assert [line.strip(" -") for line in shown if "off-page" in line] == [
        "textbox [name=url] [off-page]",
        "textbox [name=company] [off-page]",
        "combobox [off-page]:",
    ]
    for named in ("Mail", "Photo", "Red", "Terms", "Dark", "Upper", "Last"):
        assert named in str(shown)
    assert sum("[off-page]" in line for line in await _found(tab, role="textbox")) == 2
    await tab.call("fill", selector="role=textbox[name=Website]", text="x")
    assert await tab.sees("document.querySelector('[name=url]').value") == "x"

"""Tests what agents are told of editors that keep their text elsewhere than in the element that takes the keys."""

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

NUMBERED = """<p>Notes</p><div style='display: flex; font-family: monospace; width: 300px'>
<div id=n aria-hidden=true style='text-align: right'></div><textarea id=i style='opacity: 0; width: 1px'></textarea>
<div style='visibility: hidden; position: absolute'>measure</div>
<div id=shown style='white-space: pre'></div></div><script>
window.kept = 'old'; let all = false;
const draw = () => { for (const [of, line] of [[n, (_, at) => at + 1], [shown, line => line]])
  of.replaceChildren(...kept.split('\\n').map((words, at) => {
    const div = document.createElement('div'); div.append(line(words, at)); return div; })); };
i.onkeydown = e => { all = e.ctrlKey && e.key === 'a'; };
i.oninput = () => { kept = all ? i.value : kept + i.value; all = false; i.value = ''; draw(); };
draw();</script>"""
NARROW = """<h1>Notes</h1><div><div id=i tabindex=0 role=textbox aria-label="Editor content"
style="position: absolute; width: 0; height: 19px; overflow: hidden"></div>
<div id=shown style="height: 60px"></div></div><script>
const context = i.editContext = new EditContext({text: 'old'});
context.ontextupdate = () => shown.textContent = context.text;
i.onkeydown = e => { if (e.ctrlKey && e.key === 'a') context.updateSelection(0, context.text.length); };</script>"""


async def test_what_an_editor_shows_is_told_without_the_numbers_of_its_lines_and_what_nobody_sees(tab: Tab) -> None:
    await tab.show(NUMBERED)
    told = (await tab.call("fill", selector="#i", value="one\ntwo"))["observed"]
    assert told.startswith("pasted over the editor's whole text; it shows 'one\\ntwo' now")


async def test_of_keys_for_an_editor_the_reply_tells_what_it_shows_and_not_what_its_hidden_field_has(tab: Tab) -> None:
    await tab.show(NUMBERED)
    typed = await tab.call("type", selector="#i", text=" and new")
    assert (await tab.sees("kept"), "value" in typed) == ("old and new", False)
    assert typed["observed"].startswith("the editor shows it")
    await tab.sees("i.oninput = () => {}")
    typed = await tab.call("type", selector="#i", text="lost")
    assert typed["observed"].startswith("the editor shows 'old and new', which lacks what was typed")


async def test_the_numbers_of_an_editors_lines_name_no_field(tab: Tab) -> None:
    await tab.show(NUMBERED.replace("'old'", r"'old\nlines'"))
    assert '- textbox [beside="Notes"] [ref=' in (await tab.call("snapshot"))["snapshot"]


@pytest.mark.parametrize("before", [0, 600])
async def test_an_element_without_width_that_takes_the_keys_of_an_editor_has_a_ref_and_its_name(
    tab: Tab, before: int
) -> None:
    await tab.show("<b tabindex=0></b>" * before + NARROW)
    [match] = (await tab.call("find", role="textbox"))["matches"]
    assert match["name"] == "Editor content"
    told = (await tab.call("fill", selector=match["ref"], value="new words"))["observed"]
    assert told.startswith("pasted over the editor's whole text; it shows 'new words' now")

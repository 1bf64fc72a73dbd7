"""Tests the focus and pasting, and the short names of click and fill."""

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


FIELDS = """<input id=a value=old><input id=b><div id=plain>plain</div><button id=go>Go</button><script>
window.seen = [];
for (const kind of ['focus', 'blur', 'change', 'dblclick', 'contextmenu', 'input'])
  addEventListener(kind, e => { e.preventDefault(); seen.push(kind + ' ' + e.target.id) }, true)</script>"""


async def test_focus_and_blur_are_felt_by_the_page(tab: Tab) -> None:
    await tab.show(FIELDS)
    assert (await tab.call("focus", selector="#a"))["observed"] == "it has the focus now"
    assert await tab.sees("document.activeElement.id") == "a"
    await tab.call("press", key="x")
    assert (await tab.call("blur", selector="#a"))["observed"] == "it has lost the focus"
    assert [kind for kind in await tab.sees("seen") if "input" not in kind] == ["focus a", "change a", "blur a"]
    assert "did not have the focus" in (await tab.call("blur", selector="#b"))["observed"]


async def test_focus_on_what_takes_none_is_an_error(tab: Tab) -> None:
    await tab.show(FIELDS)
    error = await tab.error("focus", selector="#plain")
    assert (error["code"], error["details"]["selector"]) == ("ELEMENT_NOT_INTERACTABLE", "#plain")


async def test_double_click_right_click_and_clear_are_click_and_fill(tab: Tab) -> None:
    await tab.show(FIELDS)
    await tab.call("double_click", selector="#go")
    await tab.call("right_click", selector="#go")
    await tab.call("clear", selector="#a")
    seen = await tab.sees("seen")
    assert (seen.count("dblclick go"), seen.count("contextmenu go"), seen.count("input a")) == (1, 1, 1)
    assert await tab.sees("a.value") == ""


# --- paste -----------------------------------------------------------------------------------------------------------

EDITOR = """<textarea id=t>one </textarea><div id=rich contenteditable>two </div><div id=own tabindex=0>own</div>
<p id=dead tabindex=0>dead</p><script>window.seen = [];
own.onpaste = e => { e.preventDefault();
  own.textContent = 'took';
  window.got = [e.type, e.clipboardData.getData('text/plain'), e.clipboardData.getData('text/html')] };
t.oninput = e => seen.push(e.inputType + ' ' + e.data)</script>"""


async def test_paste_puts_text_into_a_field_as_typing_would(tab: Tab) -> None:
    await tab.show(EDITOR)
    result = await tab.call("paste", selector="#t", text="a\nb")
    assert result["pasted"] == "inserted"
    assert await tab.sees("t.value.split('').sort().join('')") == "\n abeno"
    assert (await tab.sees("seen.length")) >= 1
    await tab.call("focus", selector="#t")
    await tab.call("press", key="Control+a")
    assert (await tab.call("paste", text="all new"))["observed"].startswith(
        "it was inserted; the element has 'all new' now"
    )
    assert await tab.sees("t.value") == "all new"


async def test_paste_gives_the_pages_own_handler_text_and_html(tab: Tab) -> None:
    await tab.show(EDITOR)
    result = await tab.call("paste", selector="#own", text="bold text", html="<b>bold</b> text")
    assert await tab.sees("window.got") == ["paste", "bold text", "<b>bold</b> text"]
    assert (result["pasted"], result["observed"].split("; ")[0]) == ("taken", "the page's own handler took it")


async def test_paste_of_html_into_an_editor_brings_no_scripts(tab: Tab) -> None:
    await tab.show(EDITOR)
    html = "<b>bold</b><img src=x onerror='window.ran=1'><script>window.ran=1</script>"
    await tab.call("paste", selector="#rich", text="bold", html=html)
    assert await tab.sees("[rich.querySelector('b').textContent, rich.innerHTML.includes('onerror')]") == [
        "bold",
        False,
    ]
    assert await tab.sees("window.ran === undefined") is True


async def test_paste_that_nothing_takes_is_an_error(tab: Tab) -> None:
    await tab.show(EDITOR)
    error = await tab.error("paste", selector="#dead", text="x")
    assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert "Nothing took what was pasted" in error["message"]


async def test_a_text_that_ends_with_a_line_break_is_as_given_in_an_editor_of_lines(tab: Tab) -> None:
    await tab.show("<div id=e contenteditable style='white-space: pre'></div>")
    reply = await tab.call("fill", selector="#e", value="Oats 3\nRice 5\n")
    assert reply["observed"].startswith("as given: 'Oats 3\\nRice 5\\n'")
    await tab.call("fill", selector="#e", value="")
    assert await tab.sees("e.textContent.trim()") == ""

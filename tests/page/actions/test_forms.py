"""Tests filling, typing, pressing and ticking, as the page sees it; what the reply says is what the page shows.

It is longer than 300 lines because each kind of field has a test for each way to fill it.
"""

import threading

import anyio
import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer, Received
from tests.support.tab import Tab
from tests.support.waiting import PATIENCE_S

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


KEYS = """<input id=i value=old><script>
window.seen = []; window.at = [];
addEventListener('keydown', e => { at.push(e.timeStamp); seen.push(
  ['ctrl', 'shift', 'alt', 'meta'].filter(k => e[k + 'Key']).join('+') + (e.ctrlKey ? '+' : '') + e.key); }, true);
</script>"""


# --- fill --------------------------------------------------------------------------------------------------------


async def test_fill_replaces_the_value_and_the_page_hears_of_it(tab: Tab) -> None:
    await tab.show(
        "<input id=i value=old><script>window.seen = []; "
        "for (const k of ['input', 'change', 'keydown']) i.addEventListener(k, () => seen.push(k))</script>"
    )
    result = await tab.call("fill", selector="#i", value="new value")
    assert result == {"observed": "as given: 'new value'"}
    assert await tab.sees("[i.value, document.activeElement === i]") == ["new value", True]
    assert "input" in await tab.sees("seen")
    assert "keydown" not in await tab.sees("seen")


async def test_fill_of_a_field_that_opens_its_list_says_so_and_names_the_call_that_reads_it(tab: Tab) -> None:
    await tab.show(
        "<input id=i role=combobox aria-expanded=false oninput=\"this.ariaExpanded = 'true'; l.hidden = false\">"
        "<ul id=l role=listbox hidden><li role=option>Apple<li role=option>Apricot</ul>"
    )
    result = await tab.call("fill", selector="#i", value="Ap")
    assert result == {"observed": 'as given: \'Ap\'; its list is open: find {"role": "option"}'}
    assert (await tab.call("find", role="option"))["total"] == 2
    await tab.show("<input id=i role=combobox aria-haspopup=dialog oninput=\"this.ariaExpanded = 'true'\">")
    assert await tab.call("fill", selector="#i", value="2026-03-04") == {"observed": "as given: '2026-03-04'"}


async def test_fill_takes_its_value_as_text_too(tab: Tab) -> None:
    await tab.show("<textarea id=i>old</textarea>")
    await tab.call("fill", selector="#i", text="line 1\nline 2")
    assert await tab.sees("i.value") == "line 1\nline 2"


async def test_fill_with_nothing_clears(tab: Tab) -> None:
    await tab.show("<input id=i value=old>")
    assert await tab.call("fill", selector="#i", value="") == {"observed": "as given: ''"}
    assert await tab.sees("i.value") == ""


async def test_fill_writes_into_an_editable_element(tab: Tab) -> None:
    await tab.show("<div id=i contenteditable>old</div>")
    assert await tab.call("fill", selector="#i", value="new") == {"observed": "as given: 'new'"}
    assert await tab.sees("i.textContent") == "new"


def _rewriting(writes: list[str]) -> str:
    """Return a field for each way in which a page writes what is put into it."""
    return "".join(
        f"<input id=i{n} value=old>"
        f"<script>i{n}.oninput = () => {{ const {{value}} = i{n}; i{n}.value = {way} }}</script>"
        for n, way in enumerate(writes)
    )


REWRITTEN = [
    (r"value.replace(/\D/g, '').replace(/(.{4})(?=.)/g, '$1 ')", "4111-11112222", "4111 1111 2222"),
    ("value.trim()", " Ana ", "Ana"),
    ("value.toUpperCase()", "de12", "DE12"),
    ("'$' + Number(value).toLocaleString('en', {minimumFractionDigits: 2})", "1234.5", "$1,234.50"),
    ("value.replace(/\\B(?=(\\d{3})+$)/g, '.')", "12345", "12.345"),
]


HIDDEN_FIELD = """<div id=shown style='width: 300px; height: 90px; white-space: pre'></div>
<div style='overflow: hidden; width: 3px; height: 0'><textarea id=i style='width: 900px'></textarea></div><script>
window.kept = 'old words'; let all = false;
const draw = () => shown.textContent = kept;
i.onkeydown = e => { all = e.ctrlKey && e.key === 'a'; if (e.key === 'Delete') { kept = ''; draw(); } };
i.oninput = () => { kept = all ? i.value : kept + i.value; all = false; i.value = ''; draw(); };
draw();</script>"""
EDIT_CONTEXT = """<div id=i tabindex=0 role=textbox style='width: 300px; height: 90px; white-space: pre'></div><script>
const context = i.editContext = new EditContext({text: 'old words'});
const draw = () => i.textContent = window.kept = context.text;
context.ontextupdate = draw;
i.onkeydown = e => {
  if (e.ctrlKey && e.key === 'a') context.updateSelection(0, context.text.length);
  if (e.key === 'Delete') { context.updateText(0, context.text.length, ''); draw(); }
};
draw();</script>"""


@pytest.mark.parametrize("html", [HIDDEN_FIELD, EDIT_CONTEXT], ids=["hidden field", "EditContext"])
async def test_fill_replaces_the_text_of_an_editor_that_keeps_it_elsewhere(tab: Tab, html: str) -> None:
    await tab.show(html)
    told = "pasted over the editor's whole text; it shows 'two\\nlines' now"
    assert (await tab.call("fill", selector="#i", value="two\nlines"))["observed"].startswith(told)
    assert await tab.sees("kept") == "two\nlines"
    result = await tab.call("fill_form", fields=[{"selector": "#i", "value": "others"}])
    assert result["observed"].startswith("#i pasted over the editor's whole text; it shows 'others' now")
    assert await tab.sees("kept") == "others"
    await tab.call("fill", selector="#i", value="")
    assert await tab.sees("kept") == ""


async def test_the_error_for_an_editor_that_rejects_a_text_advises_nothing_that_enters_it_twice(tab: Tab) -> None:
    await tab.show(HIDDEN_FIELD.replace("kept = all ?", "kept = 'its own'; if (0) kept = all ?"))
    error = await tab.error("fill", selector="#i", value="words")
    assert "which shows 'its own'" in error["message"]
    await tab.show("<input id=i oninput=\"document.title += value; value = ''\">")
    assert error["hint"] == "See what became of it before you enter it again: snapshot {}."
    await tab.show("<input id=i oninput=\"document.title += value; value = ''\">")
    error = await tab.error("fill", selector="#i", value="words")
    assert error["hint"].startswith(
        "It may have put the text elsewhere: look before you enter it again, snapshot {}. If"
    )


@pytest.mark.parametrize(
    ("kind", "given", "has"),
    [("datetime-local", "2026-03-05 14:30", "2026-03-05T14:30"), ("time", "14:30:00", "14:30:00")],
)
async def test_a_moment_that_its_field_writes_in_its_own_form_is_as_given(
    tab: Tab, kind: str, given: str, has: str
) -> None:
    await tab.show(f"<input id=i type={kind}>")
    assert (await tab.call("fill", selector="#i", value=given))["observed"] == f"as given: {has!r}"
    assert (await tab.call("fill", selector="#i", value=""))["observed"] == "as given: ''"
    result = await tab.call("fill_form", fields=[{"selector": "#i", "value": given}])
    assert result["observed"] == "1 field as given"


async def test_fill_says_how_the_page_writes_what_was_given(tab: Tab) -> None:
    await tab.show(_rewriting([writes for writes, _, _ in REWRITTEN]))
    for number, (_, given, shown) in enumerate(REWRITTEN):
        result = await tab.call("fill", selector=f"#i{number}", value=given)
        assert result == {"value": shown, "observed": f"the page writes it as {shown!r}"}


TAKEN_BACK = [
    ("''", "kettle", ""),
    ("value.slice(0, 3)", "kettle", "ket"),
    (r"value.replace(/\D/g, '')", "12.50", "1250"),
    (r"value.replace(/\D/g, '')", "-5", "5"),
    ("'+49' + value", "1512", "+491512"),
    ("value.replaceAll('*', '')", "***", ""),
    ("value || 'x'", "", "x"),
    ("'x'.repeat(120)", "1.5", "x" * 120),
]


async def test_fill_fails_and_names_the_value_if_the_page_changes_it(tab: Tab) -> None:
    await tab.show(_rewriting([writes for writes, _, _ in TAKEN_BACK]))
    for number, (_, given, shown) in enumerate(TAKEN_BACK):
        error = await tab.error("fill", selector=f"#i{number}", value=given)
        assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
        assert error["message"].startswith(f"The page took the value back: it shows {shown!r} instead of {given!r}.")
        assert f'type {{"selector": "#i{number}"' in error["hint"]


async def test_a_long_text_that_a_page_puts_in_place_of_a_number_is_cut_and_delays_nothing(tab: Tab) -> None:
    await tab.show("<textarea id=i oninput=\"this.value = 'x'.repeat(500000)\"></textarea>")
    with anyio.fail_after(20):
        error = await tab.error("fill", selector="#i", value="-1.5")
    assert "… (500000 characters) instead of '-1.5'" in error["message"]
    assert len(error["message"]) < 500


async def _notices(tab: Tab, action: str, **arguments: AnyJson) -> list[str]:
    return [notice["text"] for notice in (await tab.agent.reply(action, **arguments)).json()["notices"]]


async def test_a_value_reverted_after_the_reply_is_reported_once_with_the_next(tab: Tab) -> None:
    now = threading.Semaphore(0)

    def wait_for_it(_: Received) -> Answer:
        now.acquire(timeout=PATIENCE_S)
        return Answer("")

    async def take_back() -> None:
        before = tab.site.counts["/taken"]
        now.release()
        with anyio.fail_after(PATIENCE_S):
            while tab.site.counts["/taken"] == before:  # noqa: ASYNC110 - no event tells it
                await anyio.sleep(0.01)  # between two looks at the site's counts

    tab.site.page("/now", wait_for_it)
    tab.site.page("/taken", "")
    await tab.show(
        "<input id=i><input id=c type=checkbox><select id=s><option>a<option>b</select><input id=p type=password>"
        "<script>const next = () => fetch('/now').then(() => { i.value = ''; c.checked = false; s.value = 'a';"
        "p.value = 's3'; return fetch('/taken') }).then(next); next()</script>"
    )
    ref = (await tab.call("find", selector="#i"))["matches"][0]["ref"]
    for action, selector, given, had, has in (
        ("fill", ref, {"value": "tea"}, "'tea'", "''"),
        ("check", "#c", {}, "checked", "not checked"),
        ("select_option", "#s", {"value": "b"}, "'b'", "'a'"),
        ("type", "#p", {"text": "s3cret"}, "8 characters", "2 characters"),
    ):
        await tab.call(action, selector=selector, **given)
        await take_back()
        told = f"{selector} was left as {had}, and is {has} by now."
        assert await _notices(tab, "get_page_title") == [told]
        assert await _notices(tab, "get_page_title") == []
    await tab.call("fill", selector="#i", value="tea")
    await take_back()
    assert await _notices(tab, "press", key="Escape") == ["#i was left as 'tea', and is '' by now."]
    await tab.call("fill_form", fields=[{"selector": "#i", "value": "tea"}, {"selector": "#c", "value": True}])
    assert await _notices(tab, "press", key="Escape") == []
    await take_back()
    assert await _notices(tab, "get_page_title") == []  # what is there after an act may be its doing
    now.release()


async def test_a_field_that_its_page_empties_when_it_is_left_is_told_with_the_act_that_left_it(tab: Tab) -> None:
    await tab.show("<input id=i onblur=\"this.value = ''\"><input id=j><button>x</button>")
    await tab.call("fill", selector="#i", value="tea")
    assert await _notices(tab, "fill", selector="#j", value="x") == ["#i was left as 'tea', and is '' by now."]
    assert await _notices(tab, "click", selector="role=button") == []


async def test_a_range_takes_its_last_step_by_a_key(tab: Tab) -> None:
    await tab.show(
        "<input type=range id=i step=5 value=30><p id=out>-</p><script>let keyed = false;"
        " i.onkeydown = () => { keyed = true }; i.onchange = () => { if (keyed) out.textContent = i.value }</script>"
    )
    for value in ("40", "100", "0"):
        given: AnyJson = {"selector": "#i", "value": value}
        for act, arguments in (("fill", given), ("fill_form", {"fields": [given]})):
            assert "as given" in (await tab.call(act, **arguments))["observed"]
            assert await tab.sees("[out.textContent, i.value = 30, keyed = false][0]") == value, act


async def test_fill_and_type_do_not_repeat_a_password(agent: Agent, tab: Tab) -> None:
    await tab.show("<input id=i type=password>")
    filled = await agent.reply("fill", selector="#i", value="s3cret-phrase")
    assert filled.json()["result"] == {"observed": "as given: 13 characters"}
    typed = await agent.reply("type", selector="#i", text="s3cret-again")
    assert typed.json()["result"] == {"observed": "it has 25 characters now"}
    assert "s3cret" not in filled.text + typed.text
    assert await tab.sees("i.value") == "s3cret-phrases3cret-again"


async def test_fill_that_navigates_is_answered_with_where_it_led(tab: Tab) -> None:
    there = tab.site.page("/found", "found")
    await tab.show("<input id=i oninput=\"location.href = '/found'\">")
    result = await tab.call("fill", selector="#i", value="kettle")
    assert result["navigatedTo"] == there


async def test_fill_on_a_label_fills_its_field_and_reads_that_back(tab: Tab) -> None:
    await tab.show("<label>Name <input id=i></label>")
    assert (await tab.call("fill", selector="text=Name", value="Ana"))["observed"] == "as given: 'Ana'"
    assert await tab.sees("i.value") == "Ana"


async def test_fill_of_an_element_that_goes_away_with_it_has_still_happened(tab: Tab) -> None:
    await tab.show("<input id=i oninput='window.got = this.value; this.remove()'>")
    result = await tab.call("fill", selector="#i", value="tea")
    assert result == {"observed": "the element is no longer there"}
    assert await tab.sees("window.got") == "tea"


async def test_fill_of_something_that_takes_no_text_says_what_it_is(tab: Tab) -> None:
    await tab.show("<p id=p>text</p><input id=box type=checkbox>")
    for selector in ("#p", "#box"):
        error = await tab.error("fill", selector=selector, value="x")
        assert (error["code"], error["status"]) == ("ELEMENT_NOT_INTERACTABLE", 409)
    assert "checkbox" in error["message"]


# --- type and press ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "tool"),
    [
        ("<input type=checkbox id=i>", "fill_form"),
        ("<input type=radio id=i>", "fill_form"),
        ("<select id=i><option>Tea</select>", "select_option"),
    ],
)
async def test_fill_of_a_field_that_takes_no_text_names_the_call_for_it(tab: Tab, html: str, tool: str) -> None:
    await tab.show(html)
    error = await tab.error("fill", selector="#i", value="Tea")
    assert f"{tool} {{" in error["hint"]


async def test_type_presses_keys_one_by_one_after_the_existing_text(tab: Tab) -> None:
    await tab.show(KEYS)
    result = await tab.call("type", selector="#i", text="aB 1")
    assert result == {"value": "oldaB 1", "observed": "the value is 'oldaB 1' now"}
    assert await tab.sees("seen") == ["a", "shiftB", " ", "1"] or await tab.sees("seen") == ["a", "B", " ", "1"]


async def test_type_goes_on_at_the_caret_of_an_element_that_has_the_focus(tab: Tab) -> None:
    await tab.show(KEYS)
    await tab.sees("(i.focus(), i.setSelectionRange(1, 1))")
    assert (await tab.call("type", selector="#i", text="-é-"))["value"] == "o-é-ld"


async def test_type_waits_the_delay_between_keys(tab: Tab) -> None:
    await tab.show(KEYS)
    await tab.call("type", selector="#i", text="abcd", delay=60)
    at = await tab.sees("at")
    assert at[-1] - at[0] >= 170


async def test_type_may_take_as_long_as_its_delays_beyond_the_timeout(tab: Tab) -> None:
    await tab.show(KEYS)
    assert (await tab.call("type", selector="#i", text="abcdef", delay=250, timeout=1_400))["value"] == "oldabcdef"


async def test_press_on_an_element_focuses_it_first(tab: Tab) -> None:
    await tab.show(KEYS + "<button id=other>x</button>")
    await tab.sees("other.focus()")
    await tab.call("press", selector="#i", key="ArrowDown")
    assert await tab.sees("[seen, document.activeElement.id]") == [["ArrowDown"], "i"]


async def test_press_without_a_selector_goes_to_what_has_the_focus(tab: Tab) -> None:
    posted = tab.site.page("/search", "found")
    await tab.show("<form action=/search><input id=i name=q value=tea></form>")
    await tab.sees("i.focus()")
    assert (await tab.call("press", key="Enter"))["navigatedTo"] == f"{posted}?q=tea"


async def test_press_takes_combinations(tab: Tab) -> None:
    await tab.show(KEYS)
    await tab.call("press", selector="#i", key="Control+a")
    await tab.call("press", key="Backspace", delay=20)
    assert await tab.sees("[seen, i.value]") == [["ctrl+Control", "ctrl+a", "Backspace"], ""]


async def test_press_knows_keys_by_their_other_names(tab: Tab) -> None:
    await tab.show(KEYS)
    for key in ("Ctrl + a", "cmd+a", "Esc", "Return", "shift+up", "pgdn", "+"):
        await tab.call("press", selector="#i", key=key)
    held = ["ctrl+Control", "ctrl+a"] * 2
    assert await tab.sees("seen") == [*held, "Escape", "Enter", "shiftShift", "shiftArrowUp", "PageDown", "+"]


async def test_press_leaves_the_caret_where_it_is(tab: Tab) -> None:
    await tab.show(KEYS)
    await tab.sees("(i.focus(), i.setSelectionRange(1, 1))")
    await tab.call("press", key="x")
    await tab.call("press", selector="#i", key="y")
    assert await tab.sees("i.value") == "oxyld"


async def test_press_goes_to_the_focus_inside_of_a_frame_and_of_shadow_dom(tab: Tab) -> None:
    tab.site.page(
        "/framed",
        "<div id=h></div><script>const root = h.attachShadow({mode: 'open'}); "
        "root.innerHTML = '<input value=old>'; const i = root.firstChild; i.focus(); i.select();"
        "i.oninput = () => parent.postMessage(i.value, '*')</script>",
    )
    url = tab.site.url("/framed", "localhost")
    await tab.show(f"<script>onmessage = e => window.told = e.data</script><iframe src={url}></iframe>")
    await tab.call("click", selector="input", frame="iframe", clickCount=2)
    await tab.call("press", key="k")
    assert await tab.sees("window.told") == "k"


async def test_press_on_the_document_reaches_the_page_if_nothing_has_the_focus(tab: Tab) -> None:
    await tab.show(KEYS)
    await tab.call("press", key="Escape")
    await tab.call("press", selector="body", key="F2")
    assert await tab.sees("seen") == ["Escape", "F2"]


@pytest.mark.parametrize("where", [{}, {"selector": "#i"}])
async def test_press_of_an_unknown_key_says_so(tab: Tab, where: dict[str, str]) -> None:
    await tab.show(KEYS)
    error = await tab.error("press", key="Shift+Entre", **where)
    assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
    assert "Entre" in error["message"]
    assert "Enter" in error["hint"]
    await tab.call("press", key="Home", **where)
    assert (await tab.sees("seen"))[-1] == "Home", "nothing is held any more"


# --- check -------------------------------------------------------------------------------------------------------


async def test_check_and_uncheck_report_the_shown_state_and_do_nothing_twice(tab: Tab) -> None:
    await tab.show("<label><input type=checkbox id=c onchange='window.n = (window.n || 0) + 1'>Agree</label>")
    ticked = {"checked": True, "observed": "it is checked now"}
    assert await tab.call("check", selector="#c") == ticked
    assert await tab.call("check", selector="text=Agree") == ticked
    assert await tab.sees("[c.checked, window.n]") == [True, 1]
    assert await tab.call("uncheck", selector="#c") == {"checked": False, "observed": "it is not checked now"}
    assert await tab.sees("[c.checked, window.n]") == [False, 2]


async def test_check_of_a_radio_button_unchecks_its_sibling(tab: Tab) -> None:
    await tab.show("<input type=radio name=r id=a checked><input type=radio name=r id=b>")
    assert (await tab.call("check", selector="#b"))["checked"] is True
    assert await tab.sees("[a.checked, b.checked]") == [False, True]


async def test_check_that_a_script_takes_back_is_not_reported_as_checked(tab: Tab) -> None:
    await tab.show("<input type=checkbox id=c onchange='this.checked = false'>")
    reply = (await tab.agent.reply("check", selector="#c")).json()
    assert reply.get("result", {}).get("checked") is not True
    assert reply["success"] is False
    assert reply["error"]["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert await tab.sees("c.checked") is False


async def test_check_that_the_servers_answer_takes_back_is_not_reported_as_checked(tab: Tab) -> None:
    def refuse_after_a_while(_: Received) -> Answer:
        threading.Event().wait(0.4)
        return Answer(status=409)

    tab.site.page("/agree", refuse_after_a_while)
    await tab.show(
        "<input type=checkbox id=c onchange=\"fetch('/agree', {method: 'POST'}).then(r => this.checked = r.ok)\">"
    )
    error = await tab.error("check", selector="#c")
    assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert "is not checked after check" in error["message"]
    assert "Observed: POST /agree → 409: refused." in error["message"]
    assert await tab.sees("c.checked") is False


async def test_check_as_a_trial_ticks_nothing(tab: Tab) -> None:
    await tab.show("<input type=checkbox id=c>")
    assert (await tab.call("check", selector="#c", trial=True))["checked"] is False
    assert await tab.sees("c.checked") is False

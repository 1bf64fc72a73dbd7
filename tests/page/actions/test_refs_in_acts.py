"""Tests that an act by a ref gets the element that the ref was given for, or none."""

import re

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def _ref(tab: Tab, name: str) -> str:
    shown = (await tab.call("snapshot"))["snapshot"]
    return str(re.findall(rf'"{name}"[^\n]*?\[ref=(\w+)\]', shown)[0])


async def test_a_click_by_ref_leaves_a_changed_element_alone(tab: Tab) -> None:
    await tab.show("<button id=b onclick='window.got = 1'>Keep</button>")
    ref = await _ref(tab, "Keep")
    await tab.call("evaluate_script", expression="b.textContent = 'Delete'")
    error = await tab.error("click", selector=ref)
    assert error["code"] == "ELEMENT_GONE"
    assert await tab.sees("window.got ?? null") is None


async def test_a_fill_by_ref_of_a_field_that_went_is_refused_at_once_and_names_the_new_one(tab: Tab) -> None:
    await tab.show("<form><input aria-label=City></form>")
    ref = await _ref(tab, "City")
    await tab.call("evaluate_script", expression="document.forms[0].innerHTML = '<input aria-label=City>'")
    error = await tab.error("fill", selector=ref, value="Rome")
    assert error["code"] == "ELEMENT_GONE"
    assert "has the same role and name now" in error["hint"]


async def test_a_fill_by_ref_reports_its_own_field_whatever_the_page_says_about_others(tab: Tab) -> None:
    await tab.show(
        "<input id=a aria-label=First><input id=b aria-label=Second value=tea><script>"
        "a.onfocus = () => b.dispatchEvent(new Event('input', {bubbles: true}));"
        "a.oninput = () => { a.value = '' }</script>"
    )
    error = await tab.error("fill", selector=await _ref(tab, "First"), value="tea")
    assert "took the value back" in error["message"]


async def test_an_element_whose_name_a_style_sheet_writes_is_clicked_by_its_ref(tab: Tab) -> None:
    await tab.show("<style>#b::before {content: 'Send'}</style><button id=b onclick='window.got = 1'></button>")
    await tab.call("click", selector=await _ref(tab, "Send"))
    assert await tab.sees("window.got") == 1


async def test_acts_by_refs_reach_into_frames_and_know_a_frame_that_loaded_another_document(tab: Tab) -> None:
    field = "<input aria-label=City>"
    await tab.show(f'<iframe id=f srcdoc="{field}"></iframe>')
    ref = await _ref(tab, "City")
    await tab.call("fill", selector=ref, value="Rome")
    assert await tab.sees("f.contentDocument.querySelector('input').value") == "Rome"
    await tab.call("evaluate_script", expression="new Promise(then => { f.onload = () => then(1); f.srcdoc += ' ' })")
    assert (await tab.error("fill", selector=ref, value="Oslo"))["code"] in {"ELEMENT_GONE", "STALE_REVISION"}


async def test_a_covering_element_is_named_without_our_lookup(tab: Tab) -> None:
    await tab.show("<button>Keep</button><div style='position: fixed; inset: 0'>Wall</div>")
    error = await tab.error("click", selector=await _ref(tab, "Keep"), timeout=700)
    assert "is covered by another element" in error["message"]
    assert "as-given" not in str(error)


async def test_a_click_within_a_row_is_done_only_while_the_row_is_what_its_ref_was_given_for(tab: Tab) -> None:
    await tab.show(
        "<table><tr id=r><td>Keys<td><button onclick='got.push(r.cells[0].innerText)'>Archive</button></table>"
    )
    await tab.call("evaluate_script", expression="window.got = []; 1")
    row = str((await tab.call("find", role="row", text="Keys"))["matches"][0]["ref"])
    await tab.call("click", selector=f"{row} >> role=button[name=Archive]")
    assert await tab.sees("window.got") == ["Keys"]
    assert (await tab.error("click", selector=f"{row} >> role=button[name=Gone]", timeout=200))[
        "code"
    ] == "ELEMENT_NOT_FOUND"
    await tab.call("evaluate_script", expression="r.cells[0].textContent = 'Minutes'")
    assert (await tab.error("click", selector=f"{row} >> role=button[name=Archive]"))["code"] == "ELEMENT_GONE"
    assert await tab.sees("window.got") == ["Keys"]


async def test_a_gone_row_is_replaced_only_by_one_with_the_same_words(tab: Tab) -> None:
    rows = "".join(f"<tr><td>{name}<td><button>Archive</button>" for name in ("Keys", "Lunch", "Minutes"))
    await tab.show(f"<table id=t>{rows}</table>")
    row = str((await tab.call("find", role="row", text="Lunch"))["matches"][0]["ref"])
    await tab.call("evaluate_script", expression="t.innerHTML += ''")
    now = str((await tab.call("find", role="row", text="Lunch"))["matches"][0]["ref"])
    assert (await tab.error("click", selector=f"{row} >> role=button"))["hint"].startswith(f"{now} has the same")
    await tab.call("evaluate_script", expression="t.rows[1].remove()")
    assert "has the same" not in str((await tab.error("click", selector=f"{now} >> role=button")).get("hint"))


RECYCLED = """<main id=list></main><nav id=menu></nav><script>window.hits = [];
for (let i = 0; i < 4; i++) list.insertAdjacentHTML('beforeend', `<div><span></span> <em></em>
  <button onclick="hits.push(this.parentNode.innerText)">Delete</button></div>`);
for (let i = 0; i < 3; i++) menu.append(Object.assign(document.createElement('div'), {
  style: 'cursor: pointer', onclick: e => hits.push(e.target.innerText)}));
const show = from => {
  [...list.children].forEach((row, i) => {
    [row.children[0].textContent, row.children[1].textContent] = [`Mail ${from + i}`, `of sender ${from + i}`];
  });
  [...menu.children].forEach((row, i) => { row.textContent = `Folder ${from + i}`; });
};
show(1);</script>"""


async def test_a_ref_into_a_reused_row_is_gone(tab: Tab) -> None:
    """These rows have no roles: they are known by standing beside others like them."""
    await tab.show(RECYCLED)
    tree = str((await tab.call("snapshot"))["snapshot"])
    button = tree.partition("Mail 2 of sender 2")[2].partition("[ref=")[2].partition("]")[0]
    folder = tree.partition("]: Folder 2")[0].rpartition("[ref=")[2]
    for ref in (button, folder):
        await tab.call("click", selector=ref)
    assert len(await tab.sees("hits")) == 2
    await tab.call("evaluate_script", expression="list.children[1].children[1].textContent = 'read'")
    await tab.call("click", selector=button)
    await tab.call("evaluate_script", expression="show(51)")
    for ref, now in ((button, "Mail 52"), (folder, "Folder 52")):
        error = await tab.error("click", selector=ref)
        assert (error["code"], now in error["message"]) == ("ELEMENT_GONE", True)
    assert len(await tab.sees("hits")) == 3


@pytest.mark.parametrize(
    "control", ["<button><svg width=9 height=9></svg></button>", "<button>Edit</button>", "<input type=checkbox>"]
)
async def test_cells_of_one_text_beside_controls_of_one_name_are_clicked_by_their_refs(tab: Tab, control: str) -> None:
    await tab.show(
        "<h1>Stock</h1><div id=rows></div><script>window.got = [];"
        "rows.innerHTML = ['Oats', 'Rice', 'Peas', 'Nuts'].map(name =>"
        f"`<div><div><i>${{name}}</i></div><div>{control}<div class=sum>7.50</div></div></div>`).join('');"
        "for (const sum of document.querySelectorAll('.sum')) sum.onclick = () =>"
        "got.push(sum.parentElement.previousSibling.innerText)</script>"
    )
    await tab.call("snapshot")
    cells = (await tab.call("find", text="7.50"))["matches"]
    await tab.call("click", selector=str(cells[2]["ref"]))
    assert await tab.sees("got") == ["Peas"]
    await tab.call("evaluate_script", expression="rows.children[2].querySelector('i').textContent = 'Salt'")
    assert (await tab.error("click", selector=str(cells[2]["ref"])))["code"] == "ELEMENT_GONE"


async def test_a_cell_in_a_shadow_tree_belongs_to_the_row_around_the_tree(tab: Tab) -> None:
    rows = "".join(f"<div><b>{name}</b><x-sum></x-sum></div>" for name in ("Oats", "Rice", "Peas", "Nuts"))
    await tab.show(
        "<h1>Stock</h1><script>window.got = []; customElements.define('x-sum', class extends HTMLElement {"
        "connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<button></button><div>7.50</div>';"
        "this.shadowRoot.lastChild.onclick = () => got.push(this.parentElement.innerText) } })</script>"
        f"<main>{rows}</main>"
    )
    await tab.call("snapshot")
    await tab.call("click", selector=str((await tab.call("find", text="7.50"))["matches"][1]["ref"]))
    assert await tab.sees("got") == ["Rice"]


async def test_an_element_that_was_hidden_from_screen_readers_for_a_moment_keeps_its_ref(tab: Tab) -> None:
    await tab.show(
        "<button id=b onclick='window.got = 1'>Close account</button><ul role=listbox id=l hidden>"
        "<li role=option>Low</ul>"
    )
    ref = await _ref(tab, "Close account")
    await tab.call("evaluate_script", expression="b.ariaHidden = 'true'; b.inert = true; l.hidden = false; 1")
    await tab.call("snapshot")
    await tab.call("evaluate_script", expression="b.ariaHidden = null; b.inert = false; l.hidden = true; 1")
    await tab.call("click", selector=ref)
    assert await tab.sees("window.got") == 1


async def test_a_ref_that_a_new_look_gives_outside_of_a_row_acts_though_it_was_in_one_before(tab: Tab) -> None:
    """Two are left of three parts alike, which made rows of them."""
    await tab.show(
        "<style>i {cursor: pointer; display: inline-block; width: 9px; height: 9px}</style>"
        "<main id=list></main><script>window.got = [];"
        "list.innerHTML = ['Kiln', 'Lathe', 'Press'].map(name => `<div><b>${name}</b><i></i></div>`).join('');"
        "list.onclick = event => got.push(event.target.previousSibling.innerText)</script>"
    )
    tree = str((await tab.call("snapshot"))["snapshot"])
    ref = tree.partition("Lathe")[2].partition("[ref=")[2].partition("]")[0]
    gone = "list.lastChild.remove(); list.children[1].firstChild.textContent = 'Mill'"
    await tab.call("evaluate_script", expression=gone)
    assert ref in str((await tab.call("find", selector="i"))["matches"])
    await tab.call("click", selector=ref)
    assert await tab.sees("got") == ["Mill"]

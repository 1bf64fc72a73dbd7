"""Tests that a reply tells what its act caused before anything else."""

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio]

ASKS = (
    "<div role=dialog aria-modal=true aria-label='Remove the plan' style='position: fixed; inset: 60px; background: "
    "white'><h2>Remove the plan <button>Close</button></h2><p>It has 3 parts.</p><p>Read <a href=#x>the terms</a> "
    "first.</p><label>Reason <input></label><label><input type=checkbox> For all</label><button>Keep</button>"
    "<button>Remove</button></div>"
)


async def test_a_dialog_that_a_click_opened_is_told_by_name_fields_and_buttons_before_all_else(tab: Tab) -> None:
    await tab.show(
        "<ul id=news></ul><button id=open>Ask</button><div id=d></div><script>"
        "addEventListener('beat', () => { news.innerHTML = [1, 2, 3].map(n => `<li>News ${n} <b>now</b> "
        "<button>Read ${n}</button>`).join('') });"
        f"document.getElementById('open').onclick = () => {{ d.innerHTML = `{ASKS}` }}</script>"
    )
    await tab.call("snapshot")
    await tab.call("evaluate_script", expression="setTimeout(() => dispatchEvent(new Event('beat')), 300); 1")
    await tab.call("wait_for_selector", selector="text=News 3")
    changes = str((await tab.call("click", selector="#open"))["changes"])
    for told in (
        'dialog "Remove the plan"',
        'textbox "Reason"',
        'checkbox "For all"',
        'button "Keep"',
        'button "Remove"',
    ):
        assert told in changes
    assert "changed by itself" not in changes.partition('button "Remove"')[0]


@pytest.mark.parametrize(
    "flash",
    [
        (
            "const e = document.createElement('p'); e.role = 'alert'; e.textContent = 'The disk is full'; b.after(e); "
            "setTimeout(() => e.remove(), 90)"
        ),
        "said.textContent = 'The disk is full'; setTimeout(() => said.textContent = '', 90)",
    ],
    ids=["an element", "its words"],
)
async def test_an_alert_that_came_and_went_within_the_wait_is_told(tab: Tab, flash: str) -> None:
    await tab.show(
        f"<button id=b>Save</button><p id=said role=alert></p><script>b.onclick = () => {{ {flash} }}</script>"
    )
    assert (await tab.call("click", selector="#b"))["observed"] == "an alert came and went: 'The disk is full'"


async def test_an_alert_that_went_with_a_typed_password_in_it_is_not_told(tab: Tab) -> None:
    await tab.show(
        "<input type=password id=p value=hush-hush><button id=b>Save</button><p id=said role=alert></p><script>"
        "b.onclick = () => { said.textContent = p.value; setTimeout(() => said.textContent = '', 90) }</script>"
    )
    assert "hush" not in str(await tab.call("click", selector="#b"))


async def test_a_page_that_a_click_with_a_key_opened_is_told_and_is_the_agents(tab: Tab) -> None:
    tab.site.page("/other", "<h1>Other</h1>")
    await tab.show("<a href=/other>Other</a>")
    for how in ({"modifiers": ["Control"]}, {"modifiers": ["Shift"]}, {"button": "middle"}):
        clicked = await tab.call("click", selector="a", pageId="tab", **how)
        (popup,) = clicked["popups"]
        assert popup in [page["pageId"] for page in (await tab.call("list_pages"))["yours"]], how
        assert "Other" in (await tab.call("snapshot", pageId=popup))["snapshot"], how


async def test_an_act_behind_a_modal_names_it(tab: Tab) -> None:
    await tab.show(
        "<main id=m><input id=i aria-label=Name><input id=k type=checkbox aria-label=Agree></main>"
        "<dialog id=d><h2>Welcome</h2><button>Begin</button></dialog><script>d.showModal()</script>"
    )
    acts = [("click", {"selector": "#i"}), ("fill", {"selector": "#i", "value": "Ida"}), ("check", {"selector": "#k"})]
    for action, given in acts:
        error = await tab.error(action, timeout=500, **given)
        assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
        assert "is inert, behind the dialog 'Welcome'" in error["message"], action
    await tab.call("evaluate_script", expression="d.close(); m.inert = true; 1")
    for action, given in acts:
        assert "is inert: " in (await tab.error(action, timeout=500, **given))["message"]


async def test_items_that_slide_open_are_told_with_their_words(tab: Tab) -> None:
    await tab.show(
        "<style>#c {overflow: hidden; height: 0; transition: height 3s 1s linear} #c.open {height: 60px}</style><ul>"
        "<li><button id=b>More</button><div id=c></div></ul><script>"
        "b.onclick = () => { c.innerHTML = '<ul><li><img alt=Folder src=data:,>"
        "<span>Tax 2031</span></ul>'; requestAnimationFrame(() => c.classList.add('open')) }</script>"
    )
    assert "Tax 2031" in (await tab.call("click", selector="#b"))["changes"]


async def test_what_an_act_opened_comes_whole_before_what_nobody_caused(tab: Tab) -> None:
    fields = "".join(f"<label>{name} <input></label>" for name in ("Vessel", "Glaze", "Clay", "Cone", "Shelf"))
    await tab.show(
        "<ul id=news></ul><button id=open>Edit</button><div id=pane></div><script>"
        "addEventListener('beat', () => { news.innerHTML = [1, 2, 3].map(n => `<li>Kiln ${n} <b>is hot</b> "
        "<button>Cool ${n}</button>`).join('') });"
        f"document.getElementById('open').onclick = () => {{ pane.innerHTML = `{fields}` }}</script>"
    )
    await tab.call("evaluate_script", expression="setTimeout(() => dispatchEvent(new Event('beat')), 1500); 1")
    await tab.call("snapshot")
    await tab.call("wait_for_selector", selector="text=Kiln 3")
    changes = str((await tab.call("click", selector="#open"))["changes"])
    assert [name for name in ("Vessel", "Glaze", "Clay", "Cone", "Shelf") if f'"{name}"' not in changes] == []
    assert "since the last act, the page changed by itself: snapshot" in changes


async def test_many_links_that_an_act_shows_are_told_by_name_with_their_refs(tab: Tab) -> None:
    await tab.show(
        "<button id=b onclick='menu.hidden = false'>Kind</button><nav id=menu hidden></nav><script>"
        "for (const kind of ['msg', 'flow', 'global', 'text', 'number', 'yes/no', 'JSON', 'buffer', 'date', 'path'])"
        " menu.insertAdjacentHTML('beforeend', `<a href=#>${kind}</a>`)</script>"
    )
    await tab.call("snapshot")
    changes = str((await tab.call("click", selector="#b"))["changes"])
    assert changes.startswith("+ 10 links: msg [ref=")
    ref = changes.partition("number [ref=")[2].partition("]")[0]
    await tab.call("click", selector=ref)
    assert await tab.sees("document.activeElement.innerText") == "number"

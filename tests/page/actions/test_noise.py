"""Tests that a reply to an act tells what the act opened, and nothing that stayed as it was."""

import re

import pytest

from browser_service.host.stages import delta
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

BACKGROUND = "<div id=page><h1>Mail</h1><button>Archive</button><p>Words <a href=/x>and a link</a></p>"
DIALOG = "<div id=d role=dialog aria-label=Send hidden><button>Yes</button></div>"


async def _changes(tab: Tab, selector: str) -> list[str]:
    found = (await tab.call("click", selector=selector)).get("changes", "")
    return re.sub(r"ref=\w+", "ref", found).splitlines()


@pytest.mark.parametrize("cover", ["page.ariaHidden = on", "document.body.style.pointerEvents = on ? 'none' : ''"])
async def test_content_behind_a_dialog_is_neither_gone_nor_new(tab: Tab, cover: str) -> None:
    await tab.show(
        f"{BACKGROUND}<button onclick='show(true)'>Open</button></div>{DIALOG}"
        "<style>[role=dialog] { pointer-events: auto }</style><script>const show = on => { d.hidden = !on; "
        f"{cover} }}; document.querySelector('[role=dialog] button').onclick = () => show(false)</script>"
    )
    opened = await _changes(tab, "text=Open")
    assert [line for line in opened if "Open" not in line] == ['+ dialog "Send" [ref]', '+ button "Yes" [ref]']
    closed = await _changes(tab, "text=Yes")
    assert [line for line in closed if "Open" not in line] == ['- dialog "Send" is gone']


@pytest.mark.parametrize("beside", ["<p>Words that came beside it</p>", "<p role=alert>" + "Announced beside it " * 7])
@pytest.mark.parametrize(("name", "shown"), [("Command", 14), ("保存所有打开的文件", 9)])
async def test_a_long_menu_far_from_the_click_is_reported_before_other_news(
    tab: Tab, beside: str, name: str, shown: int
) -> None:
    items = "".join(f"<li role=menuitem>{name} {n}<li role=separator>" for n in range(14))
    await tab.show(
        f"<main><button onclick=\"m.hidden = false; p.innerHTML = '{beside}'.repeat(30)\">File"
        f"</button><div id=p></div></main><ul role=menu id=m hidden>{items}</ul>"
    )
    choices = [*(f"{name} {n}" for n in range(shown)), *(["…"] if shown < 14 else [])]
    changes = await _changes(tab, "text=File")
    assert "+ 14 menuitems: " + " | ".join(choices) in changes
    assert any("more changes" in line for line in changes)
    assert "menuitem" in (await tab.call("find", role="menuitem", name=f"{name} 13"))["found"]


async def test_icons_and_repeated_words_are_reported_once(tab: Tab) -> None:
    await tab.show(
        "<button onclick=\"s.textContent = v.textContent = 'Saved at noon'; i.hidden = false\">Save \ue5cd</button>"
        "<p role=status id=s></p><p id=v></p><div id=i hidden><p>\ue001</p><ul><li></ul></div>"
    )
    assert '- button "Save" [ref' in (await tab.call("snapshot"))["snapshot"]
    assert await _changes(tab, "role=button") == ["+ status: Saved at noon"]


async def test_changes_that_keep_happening_by_themselves_are_no_news(
    tab: Tab, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "_SOON_S", 0)
    await tab.show("<p id=tip>Tip 0</p><button onclick='0'>Dead</button>")
    await tab.call("snapshot")
    told = list[dict[str, AnyJson]]()
    for number in range(1, 5):
        await service.window("tab").evaluate(f"tip.textContent = 'Tip {number}'")
        told.append(await tab.call("click", selector="role=button"))
    by_itself = "since the last act, the page changed by itself:"
    assert [each.get("changes") for each in told] == [
        f"{by_itself}\n~ paragraph: Tip 1",
        f"{by_itself}\n~ paragraph: Tip 2",
        None,
        None,
    ]
    assert all(each["observed"].startswith("nothing observable") for each in told)


async def test_a_window_whose_box_takes_no_clicks_is_told_and_that_it_closed_by_an_animation(tab: Tab) -> None:
    await tab.show(
        "<style>#d { pointer-events: none; transition: opacity .15s } #d * { pointer-events: auto }"
        " .off { opacity: 0 }</style><button onclick='d.hidden = false'>Ask</button>"
        "<div id=d role=dialog aria-label=Sure hidden><button id=yes>Yes</button></div><script>"
        "yes.onclick = () => { d.className = 'off' }; d.ontransitionend = () => { d.hidden = true }</script>"
    )
    assert await _changes(tab, "text=Ask") == ['+ dialog "Sure"', '+ button "Yes" [ref]']
    assert '- dialog "Sure" is gone' in await _changes(tab, "text=Yes")


async def test_what_a_fill_gave_is_no_change_by_itself_though_its_ref_was_checked_twice(tab: Tab) -> None:
    """A name that a style sheet writes is checked by a second look, after the act has begun."""
    await tab.show(
        "<style>#n::before {content: 'City'}</style><label><span id=n></span><input id=i></label>"
        "<button onclick='out.textContent = i.value.length'>Count</button><p id=out>-</p>"
    )
    ref = str((await tab.call("find", role="textbox"))["matches"][0]["ref"])
    await tab.call("fill", selector=ref, value="Bern")
    await tab.call("wait", duration=400)
    changes = str((await tab.call("click", selector="text=Count"))["changes"])
    assert changes.splitlines() == [changes]
    assert changes.endswith(': "4"')


async def test_a_clock_among_words_without_an_element_of_their_own_is_no_effect(tab: Tab) -> None:
    await tab.show(
        "<button id=b>Save</button> <span id=up></span><script>let n = 10;"
        "setInterval(() => { up.textContent = `Up ${n++} s` }, 100)</script>"
    )
    await tab.call("snapshot")
    for _ in range(3):
        await tab.call("wait", duration=400)
        last = await tab.call("click", selector="#b")
    assert "changes" not in last

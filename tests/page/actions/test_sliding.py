"""Tests drags over cards that slide to make room, and of elements that slide back."""

import asyncio

import pytest

from browser_service.actions.support import drag
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

SLIDING = """<style>li {padding: 8px; width: 200px}</style><ul id=list><li id=a draggable=true>A<li id=b>B<li id=c>C
<li>D</ul><script>
let card;
const tops = () => new Map([...list.children].map(each => [each, each.getBoundingClientRect().top]));
list.ondragstart = e => card = e.target;
list.ondragover = e => {
  e.preventDefault();
  const over = e.target, before = tops();
  if (over === card || over === list) return;
  card.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING ? over.after(card) : over.before(card);
  for (const [each, top] of tops()) each.animate({transform: [`translateY(${before.get(each) - top}px)`, 'none']}, 150);
};
list.ondrop = e => e.preventDefault();
</script>"""


@pytest.mark.parametrize(("target", "now", "number"), [("b", "BACD", 2), ("c", "BCAD", 3)])
async def test_a_card_is_dropped_once_those_that_make_room_have_slid_there(
    tab: Tab, target: str, now: str, number: int
) -> None:
    """A mouse over a card that is still on its way would drag back."""
    await tab.show(SLIDING)
    result = await tab.call("drag_and_drop", source="#a", target=f"#{target}")
    assert await tab.sees("list.innerText.replace(/\\s/g, '')") == now
    assert f"it is number {number} in <ul#list> now" in result["observed"]


async def test_an_element_that_slides_back_is_where_it_was(tab: Tab) -> None:
    await tab.show(
        "<div id=a style='width: 40px; height: 40px; background: red'></div><p id=p style='margin-top: 200px'>There</p>"
        "<script>let down; a.onmousedown = () => down = true; onmousemove = e => { if (down) a.style.transform = "
        "`translateY(${e.clientY - 20}px)`; }; onmouseup = () => { a.animate({transform: [a.style.transform, 'none']}, "
        "200); a.style.transform = ''; down = false; }</script>"
    )
    observed = (await tab.call("drag_and_drop", source="#a", target="#p"))["observed"]
    assert "the dragged element is where it was" in observed


async def test_an_element_that_pulses_for_ever_is_not_waited_for(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drag, "_DRAWN_MS", 60_000)
    await tab.show(
        "<style>@keyframes pulse {to {opacity: .5}} #a {animation: pulse 1s infinite alternate; position: relative; "
        "width: 40px; height: 40px; background: red}</style><div id=a></div><p id=p style='margin-top: 200px'>There</p>"
        "<script>let down; a.onmousedown = () => down = true; onmousemove = e => { if (down) a.style.top = "
        "`${e.clientY - 20}px`; }; onmouseup = () => down = false</script>"
    )
    async with asyncio.timeout(10):
        observed = (await tab.call("drag_and_drop", source="#a", target="#p"))["observed"]
    assert "it moved from" in observed

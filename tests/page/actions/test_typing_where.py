"""Tests where typed text goes: to the focus, and into a part of an editor."""

import pytest

from browse_together.contract.named_secrets import NamedSecret
from tests.support.service import RunningService
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

EDITOR = "<div id=e contenteditable><p id=a>One.</p><p id=b>Two <b>bold</b></p><p id=c>Three</p></div><input id=i>"


async def test_without_a_selector_text_is_typed_where_the_focus_is(tab: Tab) -> None:
    await tab.show("<input id=i value=Annum>")
    await tab.call("focus", selector="#i")
    await tab.sees("i.setSelectionRange(3, 3)")
    assert await tab.call("type", text="-b") == {"value": "Ann-bum", "observed": "the value is 'Ann-bum' now"}


async def test_without_a_selector_text_reaches_a_frame_that_has_the_focus(tab: Tab) -> None:
    await tab.show('<iframe srcdoc="<textarea id=t></textarea>"></iframe>')
    await tab.call("focus", selector="#t", frame="iframe")
    assert (await tab.call("type", text="in there"))["value"] == "in there"


async def test_without_a_field_in_focus_the_page_has_the_keys_alone(tab: Tab) -> None:
    await tab.show("<p>Press keys</p><script>window.keys = ''; onkeydown = e => { keys += e.key }</script>")
    result = await tab.call("type", text="go")
    assert "value" not in result
    assert await tab.sees("keys") == "go"


async def test_a_secret_is_typed_where_the_focus_is_and_into_a_field_alone(tab: Tab, service: RunningService) -> None:
    await tab.show("<input id=i><script>window.keys = ''; onkeydown = e => { keys += e.key }</script>")
    service.parts.secrets.set(NamedSecret(name="door", value="s3same", origins=(tab.site.url("").rstrip("/"),)))
    error = await tab.error("type", text={"secret": "door"})
    assert (error["code"], await tab.sees("keys")) == ("ELEMENT_NOT_INTERACTABLE", "")
    await tab.call("focus", selector="#i")
    assert await tab.call("type", text={"secret": "door"}) == {"observed": "it has 6 characters now"}
    assert await tab.sees("i.value === 's3' + 'same'")


@pytest.mark.parametrize("focused", [True, False])
async def test_a_paragraph_in_an_editor_is_typed_into_at_its_end(tab: Tab, *, focused: bool) -> None:
    await tab.show(EDITOR)
    await tab.call("focus", selector="#e" if focused else "#i")
    result = await tab.call("type", selector="#b", text=" and more")
    told = {"value": "Two bold and more", "observed": "the value is 'Two bold and more' now"}
    assert result == told, "the editor had the focus all the time"
    assert await tab.sees("[a, b, c].map(p => p.innerText)") == ["One.", "Two bold and more", "Three"]
    await tab.call("type", text="!")
    assert await tab.sees("b.innerText") == "Two bold and more!"


async def test_a_key_goes_to_the_paragraph_that_is_named(tab: Tab) -> None:
    await tab.show(EDITOR)
    await tab.call("press", selector="#a", key="Backspace")
    assert await tab.sees("[a, b, c].map(p => p.innerText)") == ["One", "Two bold", "Three"]


async def test_what_is_not_editable_in_an_editor_takes_no_text(tab: Tab) -> None:
    await tab.show("<div contenteditable><p>One <span id=s contenteditable=false>@Ana</span></p></div>")
    assert (await tab.error("type", selector="#s", text="x", timeout=500))["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert await tab.sees("document.querySelector('p').innerText") == "One @Ana"

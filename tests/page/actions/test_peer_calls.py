"""Walks through a page by the tools of other browser servers, in their own form."""

import pytest

from browse_together.contract.peer_calls import body_of
from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.thorough, pytest.mark.one_window]

DESK = """<h1>Desk</h1><form onsubmit="event.preventDefault(); said.textContent = 'Found ' + q.value">
<input id=q aria-label=Search></form><p id=said>Nothing yet</p><input type=file id=paper aria-label=Paper>
<label><input type=checkbox id=terms>Terms</label><button id=go ondblclick="said.textContent = 'Twice'">Go</button>
<button id=ask onclick="said.textContent = confirm('Sure?') ? 'Yes' : 'No'">Ask</button>
<button id=late onclick="setTimeout(() => said.remove(), 100)">Late</button><script>
console.error('a fault'); document.addEventListener('click', e => window.at = [e.clientX, e.clientY])</script>"""


async def theirs(tab: Tab, tool: str, **arguments: AnyJson) -> dict[str, AnyJson]:
    """Return the result of a call as their client makes it."""
    body = body_of(tool, arguments)
    return await tab.call(str(body.pop("action")), **body)


async def ref(tab: Tab, name: str) -> str:
    return str((await tab.call("find", text=name))["matches"][0]["ref"])


async def test_a_desk_is_worked_at_in_the_form_of_other_servers(tab: Tab) -> None:
    await tab.show(DESK)
    search = await ref(tab, "Search")
    await theirs(tab, "browser_type", element="Search", target=search, text="tea", submit=True)
    await theirs(tab, "browser_wait_for", text="Found tea")
    await theirs(tab, "wait_for", text=["never this", "Found tea"])
    await theirs(tab, "browser_verify_text_visible", text="Found tea")
    await theirs(tab, "browser_verify_value", type="textbox", element="Search", target=search, value="tea")
    await theirs(tab, "browser_verify_element_visible", role="button", accessibleName="Go")
    await tab.call("focus", selector=search)
    await theirs(tab, "type_text", text="pot", submitKey="Enter")
    assert await tab.sees("said.textContent") == "Found teapot"
    await theirs(tab, "click", uid=await ref(tab, "Go"), dblClick=True, includeSnapshot=True)
    assert await tab.sees("said.textContent") == "Twice"
    terms = {"uid": await ref(tab, "Terms"), "name": "Terms", "type": "checkbox", "value": "true"}
    await theirs(tab, "fill_form", elements=[terms])
    assert await tab.sees("terms.checked") is True
    found = await theirs(tab, "evaluate_script", function="(e) => e.id", args=[await ref(tab, "Go")])
    assert found["value"] == "go"
    assert "a fault" in str(await theirs(tab, "browser_console_messages", level="error"))
    assert "/page-" in str(await theirs(tab, "browser_network_requests", static=False, filter="page-[0-9]"))
    await theirs(tab, "click_at", x=300, y=400)
    assert await tab.sees("window.at") == [300, 400]
    assert (await theirs(tab, "browser_take_screenshot", type="jpeg", filename="desk.jpeg"))["artifact"]
    assert "Desk" in str(await theirs(tab, "take_snapshot", verbose=False))
    await theirs(tab, "browser_resize", width=390, height=700)
    assert await tab.sees("innerWidth") == 390


async def test_dialogs_tabs_storage_and_what_goes_away_in_the_form_of_other_servers(tab: Tab) -> None:
    url = await tab.show(DESK)
    await tab.call("click", selector="#ask")
    await theirs(tab, "handle_dialog", action="accept")
    assert await tab.sees("said.textContent") == "Yes"
    await tab.call("click", selector="#late")
    await theirs(tab, "browser_wait_for", textGone="Yes")
    await theirs(tab, "browser_localstorage_set", key="k", value="v")
    assert "'k': 'v'" in str(await theirs(tab, "browser_localstorage_get", key="k"))
    await theirs(tab, "browser_localstorage_clear")
    await theirs(tab, "browser_cookie_set", name="t", value="1", url=url, affectOthers=True)
    assert "'t'" in str(await theirs(tab, "browser_cookie_list"))
    await theirs(tab, "browser_cookie_delete", name="t", affectOthers=True)
    await theirs(tab, "navigate_page", type="reload")
    opened = await theirs(tab, "browser_tabs", action="new", url=url)
    listed = await theirs(tab, "browser_tabs", action="list")
    assert len(listed["yours"]) == 2
    page_id = next(page["pageId"] for page in listed["yours"] if page["pageId"] != "tab")
    assert opened
    await theirs(tab, "browser_tabs", action="close", pageId=page_id)
    refused = await tab.error("browser_tabs", do="select", index=0)
    assert "none is selected" in refused["message"]

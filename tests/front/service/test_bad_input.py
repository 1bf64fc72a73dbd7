"""Tests what a caller can get wrong about names, arguments and addresses: each error says what to do, and harms
nothing."""

import re

import pytest

from browse_together.contract import wire
from browse_together.contract.catalogue import ACTIONS
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Site
from tests.support.tab import Tab

pytestmark = pytest.mark.anyio

Error = dict[str, AnyJson]


@pytest.fixture
def tab(agent: Agent, site: Site) -> Tab:
    return Tab(agent, site)


async def _refused(tab: Tab, code: str, status: int, action: str, **arguments: AnyJson) -> Error:
    """Return the error of a call, and check that the page is as usable afterwards as before."""
    before = await tab.call("get_current_url", pageId="tab")
    error = await tab.error(action, **arguments)
    assert (error["code"], error["status"]) == (code, status), error
    assert error["message"]
    assert error["hint"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", error["timestamp"])
    assert re.fullmatch(r"req_[0-9a-f]{12}", error["requestId"])
    assert await tab.call("get_current_url", pageId="tab") == before
    return error


# --- actions and arguments ---------------------------------------------------------------------------------------


async def test_an_unknown_action_is_named_with_the_nearest_that_exist(tab: Tab) -> None:
    await tab.show("x")
    error = await _refused(tab, "INVALID_REQUEST", 400, "clikc", selector="#a")
    assert error["message"] == "Unknown action: clikc"
    assert "click" in error["hint"]
    assert error["details"]["context"]["availableActions"] == sorted(ACTIONS)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'], ids=["lists", "objects"])
async def test_a_body_that_is_nested_too_deep_to_read_is_refused_like_any_other_that_is_no_json(
    agent: Agent, opening: bytes
) -> None:
    closing = b"]" if opening == b"[" else b"}"
    body = b'{"action": "click", "params": ' + opening * 100_000 + b"1" + closing * 100_000 + b"}"
    reply = await agent.http.post(wire.BROWSER, content=body, headers={"Content-Type": "application/json"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "INVALID_REQUEST"), reply.text[:500]
    assert (await agent.call("list_pages"))["yours"] == []


# --- pages -------------------------------------------------------------------------------------------------------


async def test_without_a_page_of_its_own_a_call_says_how_to_open_one(agent: Agent) -> None:
    error = await agent.error("click", selector="#a")
    assert (error["code"], error["status"]) == ("PAGE_REQUIRED", 400)
    assert error["message"] == "click needs a page, and you have none open."
    assert "goto" in error["hint"]


async def test_with_several_pages_a_call_without_an_id_names_them(tab: Tab) -> None:
    url = await tab.show("<button>b</button>")
    await tab.call("goto", pageId="second", url=url)
    error = await _refused(tab, "PAGE_REQUIRED", 400, "click", selector="button")
    assert error["details"]["context"]["pages"] == ["tab", "second"]
    assert error["hint"].endswith("tab, second.")


async def test_a_page_id_of_another_shape_is_refused_with_a_valid_spelling(tab: Tab) -> None:
    url = await tab.show("x")
    spelled = {"My Page!": "My-Page", "-x": "x", "a" * 49: "a" * 48, "pages": "page-pages", "é": "page"}
    for given, valid in spelled.items():
        error = await _refused(tab, "VALIDATION_ERROR", 422, "goto", pageId=given, url=url)
        assert error["message"].startswith(f"pageId {given!r} is ")
        assert error["details"]["context"] == {"field": "pageId", "pattern": wire.ID_PATTERN, "example": valid}
        assert re.fullmatch(wire.ID_PATTERN, valid)
        assert f'"{valid}"' in error["hint"]
        in_the_body = await tab.agent.http.post(wire.BROWSER, json={"action": "goto", "pageId": given, "url": url})
        assert in_the_body.json()["error"]["details"]["context"] == error["details"]["context"]
    assert [page["pageId"] for page in (await tab.call("list_pages"))["yours"]] == ["tab"]


async def test_an_unknown_page_is_not_made_and_the_nearest_is_named(tab: Tab) -> None:
    await tab.show("<button>b</button>")
    for action, needed in {
        "click": {"selector": "button"},
        "content": {},
        "close_page": {},
        "reload_page": {},
        "wait_for_selector": {"selector": "button"},
        "fetch": {"url": "/"},
    }.items():
        error = await _refused(tab, "PAGE_NOT_FOUND", 404, action, pageId="tabb", **needed)
        assert error["message"] == "There is no page 'tabb'."
        assert 'Did you mean "tab"?' in error["hint"]
        assert error["details"]["context"] == {"pageId": "tabb", "nearest": "tab"}
    assert [page["pageId"] for page in (await tab.call("list_pages"))["yours"]] == ["tab"]


async def test_a_popup_of_a_name_cannot_be_made_by_asking_for_it(tab: Tab) -> None:
    url = await tab.show("x")
    await _refused(tab, "PAGE_NOT_FOUND", 404, "goto", pageId="tab~7", url=url)


async def test_an_unknown_session_is_refused(tab: Tab) -> None:
    url = await tab.show("x")
    error = await _refused(tab, "SESSION_NOT_FOUND", 404, "goto", url=url, sessionId="defualt")
    assert 'Did you mean "default"?' in error["hint"]


async def test_page_ids_that_disagree_in_path_and_body_are_refused(agent: Agent, site: Site) -> None:
    url = site.page("/a", "a")
    reply = await agent.http.post(f"{wire.BROWSER}/one", json={"action": "goto", "pageId": "two", "url": url})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["details"]["context"]["field"]) == (
        422,
        "VALIDATION_ERROR",
        "pageId",
    )
    assert ("'one'" in error["message"], "'two'" in error["message"], site.counts["/a"]) == (True, True, 0)
    assert (await agent.call("list_pages"))["yours"] == []

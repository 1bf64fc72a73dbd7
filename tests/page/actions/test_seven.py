"""Tests the seven browser tools: a page of one's own that launch opens and quit closes, and replies in their own
words."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

NO_BROWSER = "No browser instance found. Call browser_launch first."
PAGE = """<!doctype html><title>Example</title><h1>Items</h1><p id=said style="height: 1em"></p>
<label>Email <input value=old></label><input data-testid=code onkeydown="said.append(event.key)">
<button onclick="said.textContent = 'sent ' + event.detail">Submit</button><button>Submit all</button>
<button disabled>Off</button><input type=checkbox aria-label=Agree checked><p hidden>gone</p>"""


@pytest.fixture(scope="module")
async def browsing(service: RunningService, shared_site: Site) -> AsyncIterator[Agent]:
    """Return an agent that launched its browser, and went to a page with one of each element."""
    shared_site.page("/seven", Answer(PAGE))
    async with service.agent("Seven") as agent:
        await agent.call("browser_launch")
        await agent.call("browser_navigate", url=shared_site.url("/seven"))
        yield agent
        await agent.reply("browser_quit")


@pytest.fixture(autouse=True)
def _page(browsing: Agent, shared_site: Site) -> None:  # noqa: ARG001 - it is there first
    """Set the page again, where another test has cleared the site."""
    shared_site.page("/seven", Answer(PAGE))


async def said(agent: Agent, action: str, **arguments: AnyJson) -> str:
    return str((await agent.call(action, **arguments))["text"])


async def shows(agent: Agent, expression: str) -> AnyJson:
    return (await agent.call("evaluate_script", expression=expression))["value"]


async def test_navigate_opens_the_page_that_launch_would_unless_the_call_leaves_that_to_it(
    service: RunningService, shared_site: Site
) -> None:
    async with service.agent() as agent:
        url = shared_site.url("/seven")
        assert (await agent.error("browser_navigate", url=url, launch=False))["message"] == NO_BROWSER
        assert await said(agent, "browser_navigate", url=url) == f"Successfully navigated to {url}\nTitle: Example"
        assert await said(agent, "browser_click", selector="text=Items") == "Successfully clicked element: text=Items"
        (mine,) = (await agent.call("list_pages"))["yours"]
        assert (mine["sessionId"], mine["url"]) == ("default", url)
        await agent.call("browser_navigate", url=url, launch=False)
        assert await said(agent, "browser_quit") == "Browser closed successfully"


async def test_nothing_works_before_launch_nor_after_quit(service: RunningService) -> None:
    async with service.agent() as agent:
        await agent.call("goto", url="about:blank")  # a page of its own, and no launched browser
        for moment in ("before", "after"):
            for action, arguments in (("browser_find", {"selector": "h1"}), ("browser_quit", {})):
                error = await agent.error(action, **arguments)
                assert (error["message"], error["status"]) == (NO_BROWSER, 400), moment
                assert error["hint"] == "Use browser_launch tool to start a browser session"
            if moment == "before":
                assert (await said(agent, "browser_launch")).startswith("Browser launched successfully")
                assert await said(agent, "browser_quit") == "Browser closed successfully"
        (left,) = (await agent.call("list_pages"))["yours"]
        assert left["pageId"] == "main"
        await agent.call("close_page")


async def test_a_second_launch_takes_the_place_of_the_first_and_touches_no_other_browser(
    service: RunningService, browsing: Agent
) -> None:
    async with service.agent() as other:
        for _ in range(2):
            assert await said(other, "browser_launch") == "Browser launched successfully (chromium, headless: true)"
            (mine,) = (await other.call("list_pages"))["yours"]
            assert mine["pageId"].startswith("browser-")
            assert mine["sessionId"] == "default"
        assert await said(other, "browser_navigate", url="about:blank")
        assert await shows(browsing, "document.title") == "Example"
        await other.call("browser_quit")
    assert await said(browsing, "browser_find", selector="h1")


async def test_navigating_reports_the_title_and_an_error_of_the_site(browsing: Agent, shared_site: Site) -> None:
    url = shared_site.page("/lost", Answer("<title>Lost</title>", 404))
    text = await said(browsing, "browser_navigate", url=url, waitUntil="domcontentloaded")
    assert text == f"Successfully navigated to {url}\nTitle: Lost\nHTTP status: 404"
    url = shared_site.url("/seven")
    assert await said(browsing, "browser_navigate", url=url) == f"Successfully navigated to {url}\nTitle: Example"
    error = await browsing.error("browser_navigate", url="file:///etc/passwd")
    assert error["code"] == "FORBIDDEN"


@pytest.mark.parametrize(
    ("arguments", "count", "repeated"),
    [
        ({"selector": "h1"}, 1, "h1"),
        ({"selector": "//button"}, 3, "//button"),
        ({"selector": "submit", "selectorType": "text"}, 2, "text=submit"),
        ({"selector": "Submit", "selectorType": "text", "options": {"exact": True}}, 1, "text=Submit"),
        ({"selector": "code", "selectorType": "testId"}, 1, "testId=code"),
        ({"selector": "button", "selectorType": "role"}, 3, "role=button"),
        ({"selector": "button", "selectorType": "role", "options": {"name": "SUB"}}, 2, 'role=button[name="SUB"]'),
        (
            {"selector": "button", "selectorType": "role", "options": {"name": "Submit", "exact": True}},
            1,
            'role=button[name="Submit"]',
        ),
        ({"selector": "checkbox", "selectorType": "role", "options": {"checked": True}}, 1, "role=checkbox"),
        ({"selector": "heading", "selectorType": "role", "options": {"level": 1}}, 1, "role=heading"),
    ],
)
async def test_each_type_of_selector_finds_what_playwrights_own_locator_does(
    browsing: Agent, arguments: dict[str, AnyJson], count: int, repeated: str
) -> None:
    text = await said(browsing, "browser_find", **arguments)
    assert text == f"Found {count} element(s) matching: {repeated}\nElement is visible and enabled"


async def test_a_found_element_is_described_as_it_is(browsing: Agent) -> None:
    disabled = await said(browsing, "browser_find", selector="button:disabled")
    assert disabled.endswith("Element is visible and disabled")
    hidden = await said(browsing, "browser_find", selector="p[hidden]")
    assert hidden.endswith("Element is not visible and enabled")
    assert await said(browsing, "browser_find", selector=".none") == (
        "Found 0 element(s) matching: .none\nVisible: false, Enabled: false"
    )


async def test_a_text_with_marks_of_selectors_is_a_text(browsing: Agent) -> None:
    await shows(browsing, "void (said.textContent = '\"a\" >> b \\\\ /c/')")
    for text in ('"a" >> b', "b \\ /c", "/c/"):
        assert (await browsing.call("browser_find", selector=text, selectorType="text"))["count"] == 1, text


async def test_a_click_takes_options_of_the_locator_and_of_the_click(browsing: Agent) -> None:
    options = {"name": "Submit", "exact": True, "clickCount": 2}
    text = await said(browsing, "browser_click", selector="button", selectorType="role", options=options)
    assert text == "Successfully clicked element: button"
    assert await shows(browsing, "said.textContent") == "sent 2"


async def test_a_click_takes_steps_and_scroll(browsing: Agent) -> None:
    await shows(browsing, "void (self.moves = 0, onmousemove = () => { moves++ })")
    options: AnyJson = {"exact": True, "name": "Submit", "steps": 7, "scroll": "none"}
    await browsing.call("browser_click", selector="button", selectorType="role", options=options)
    assert await shows(browsing, "moves") >= 7
    error = await browsing.error("browser_click", selector="button", options={"scroll": "smooth"})
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "options.scroll")


async def test_an_option_that_means_nothing_is_refused_by_name(browsing: Agent) -> None:
    unknown = await browsing.error("browser_click", selector="button", options={"clicks": 2})
    assert unknown["message"] == "Unknown argument 'options.clicks' for browser_click."
    unfit = await browsing.error("browser_click", selector="button", options={"name": "Submit"})
    assert (unfit["code"], unfit["details"]["context"]) == ("VALIDATION_ERROR", {"field": "options.name"})


async def test_typing_replaces_a_fields_text_or_appends_to_it(browsing: Agent) -> None:
    text = await said(browsing, "browser_type", selector="Email", selectorType="label", text="ann@example.com")
    assert text == "Successfully typed into element: Email\nText: ann@example.com"
    await said(browsing, "browser_type", selector="Email", selectorType="label", text=".org", clear=False)
    assert await shows(browsing, "document.querySelector('label input').value") == "ann@example.com.org"
    await said(browsing, "browser_type", selector="code", selectorType="testId", text="7", clear=False)
    assert "7" in await shows(browsing, "said.textContent")


async def test_a_failure_names_the_selector_that_was_given(browsing: Agent) -> None:
    options = {"timeout": 200}
    missing = await browsing.error("browser_click", selector="Order", selectorType="text", options=options)
    assert (missing["code"], missing["details"]["selector"]) == ("ELEMENT_NOT_FOUND", "Order")
    assert missing["hint"] == "Check if element exists and is actionable"
    disabled = await browsing.error("browser_click", selector="Off", selectorType="text", options=options)
    assert (disabled["code"], disabled["details"]["selector"]) == ("ELEMENT_NOT_INTERACTABLE", "Off")
    several = await browsing.error("browser_click", selector="submit", selectorType="text", options=options)
    assert (several["code"], several["details"]["selector"]) == ("AMBIGUOUS_SELECTOR", "submit")
    first = several["details"]["context"]["candidates"][0]["selector"]
    assert await said(browsing, "browser_click", selector=first)


async def test_a_picture_can_be_given_a_name_in_the_output_directory_and_no_other(
    browsing: Agent, service: RunningService, tmp_path: Path
) -> None:
    output = service.settings.output_dir
    text = await said(browsing, "browser_screenshot", selector="h1", path="shots/heading.jpg")
    assert text.endswith(" and saved to shots/heading.jpg")
    assert (output / "shots" / "heading.jpg").read_bytes().startswith(b"\xff\xd8")
    for path, name in (("shots/heading.jpg", "shots/heading-2.jpg"), ("shots", "shots.png")):
        text = await said(browsing, "browser_screenshot", selector="h1", path=path)
        assert text.endswith(f" and saved to {name}")
        assert ((output / name).stat().st_mode & 0o777, output.stat().st_mode & 0o777) == (0o600, 0o700)
    (output / "out").symlink_to(tmp_path)
    (output / "dir.png").mkdir()
    for path in (
        *("../x.png", "/x.png", "a/../../x.png", "..\\x.png", "out/x.png", "dir.png", "C:x.png", ".", "a//b.png"),
        *(".profile", "a\nb.png", "con.png", "x\u202egnp.exe", "x" * 190),
    ):
        error = await browsing.error("browser_screenshot", path=path)
        assert (error["code"], error["details"]["context"]) == ("VALIDATION_ERROR", {"field": "path"}), path
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a look, which awaits nothing


async def test_a_browser_of_another_size_is_a_session_of_its_own_that_quit_closes(service: RunningService) -> None:
    async with service.agent() as agent:
        viewport = {"width": 640, "height": 480}
        text = await said(agent, "browser_launch", browserType="chromium", headless=True, viewport=viewport)
        assert text == "Browser launched successfully (chromium, headless: true)"
        (mine,) = (await agent.call("list_pages"))["yours"]
        assert mine["sessionId"] == mine["pageId"]
        assert (await said(agent, "browser_screenshot")) == "Screenshot captured (640x480)"
        await agent.call("browser_quit")
        sessions = (await agent.call("list_sessions"))["sessions"]
        assert mine["pageId"] not in [session["sessionId"] for session in sessions]
        error = await agent.error("browser_find", selector="h1")
        assert error["message"] == NO_BROWSER
        assert (await said(agent, "browser_launch")).startswith("Browser launched successfully")
        (mine,) = (await agent.call("list_pages"))["yours"]
        assert mine["sessionId"] == "default", "a plain launch is in the shared login, whatever was launched before"
        await agent.call("browser_quit")


async def test_an_impossible_launch_is_refused_and_leaves_nothing_behind(
    service: RunningService, browsing: Agent
) -> None:
    error = await browsing.error("browser_launch", headless=False)
    assert (error["code"], error["details"]["context"]) == ("BROWSER_LAUNCH_FAILED", {"field": "headless"})
    assert error["details"]["tool"] == "browser_launch"
    assert await shows(browsing, "document.title") == "Example"
    async with service.agent() as agent:
        before = len((await agent.call("list_sessions"))["sessions"])
        reply = (await agent.reply("browser_launch", browserType="webkit")).json()
        if reply["success"]:
            pytest.skip("webkit is installed on this machine")
        assert reply["error"]["code"] == "BROWSER_LAUNCH_FAILED"
        assert reply["error"]["details"]["tool"] == "browser_launch"
        assert len((await agent.call("list_sessions"))["sessions"]) == before

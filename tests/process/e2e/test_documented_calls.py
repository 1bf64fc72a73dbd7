"""Tests the calls that the contract's documents show, sent as they stand there, and the whole replies to them.

It is longer than 300 lines because the documented replies stand here as a whole, beside what fills in their changing
parts.
"""

import base64
import io
import json
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import pytest
from PIL import Image

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.toolsets import category
from tests.support import frames
from tests.support.chat import Chat, chatting
from tests.support.gateways import environment, service_process
from tests.support.json import AnyJson
from tests.support.named_site import NamedSite, browser_that_knows, named_site
from tests.support.screen import screen
from tests.support.site import Answer
from tests.support.tab import NOTHING

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser, pytest.mark.long, pytest.mark.own_start]

Json = dict[str, AnyJson]

HTML: Final = """<!doctype html><title>Example Domain</title><h1>Example Domain</h1>
<label>Email <input id=email></label><button>Submit</button>"""
PAGE: Final = {"pageId": "shop", "sessionId": "default", "url": "https://example.com/", "title": "Example Domain"}
OWNER: Final = {"label": "a script", "you": True}
SCRIPT: Final = """fetch({url}, {options}).then(response => {{
  if (!response.ok) {{
    throw new Error('HTTP error ' + response.status);
  }}
  return response.{kind}();
}})"""


@dataclass
class Documented:
    """A service whose browser has a screen, a chat, and an HTTP caller."""

    site: NamedSite
    chat: Chat
    http: httpx.AsyncClient
    initialized: Json = field(default_factory=dict)
    """The reply to the handshake."""

    async def shake_hands(self) -> None:
        """Shake hands under an id that no other call here has: a client may use each only once."""
        client_info = {"name": "claude-desktop", "version": "1.0.0"}
        params = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "clientInfo": client_info}
        self.initialized = await self.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        await self.chat.notify("notifications/initialized")

    async def ask(self, message: Json) -> Json:
        """Return the whole reply to a message, under the id that it has."""
        return await self.told(json.dumps(message))

    async def told(self, line: str) -> Json:
        """Return the reply to a line."""
        await self.chat.write(line.encode() + b"\n")
        return {**await self.chat.receive()}

    async def call(self, number: int, name: str, arguments: Json) -> Json:
        params = {"name": name, "arguments": arguments}
        return await self.ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    async def post(self, page_id: str, body: Json) -> Json:
        reply = await self.http.post(f"{wire.BROWSER}/{page_id}", json=body)
        return dict(_masked({"status": reply.status_code, **reply.json()}))


def said(number: int, *content: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "result": {"content": [*content], "isError": False}}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def failed(number: int, message: str, data: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": -32603, "message": message, "data": data}}


def _masked(value: AnyJson) -> AnyJson:
    """Return the value without ids and times."""
    if isinstance(value, dict):
        hidden = {"revision", "timestamp", "requestId"}
        return {key: "…" if key in hidden else _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
async def documented(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Documented]:
    directory = tmp_path_factory.mktemp("documented")
    async with AsyncExitStack() as stack:
        site = stack.enter_context(named_site("example.com", directory))
        _fill(site)
        display = stack.enter_context(screen())
        browser = await browser_that_knows(site, directory)
        service = await stack.enter_async_context(
            service_process(directory, BROWSE_EXECUTABLE_PATH=str(browser), HEADLESS="false", DISPLAY=display)
        )
        env = environment(directory, BROWSE_URL=service.url, BROWSE_AUTOSTART="false", BROWSE_TOOLSETS="seven")
        chat = await stack.enter_async_context(chatting(env))
        http = await stack.enter_async_context(_http(service.url, directory))
        documented = Documented(site, chat, http)
        await documented.shake_hands()
        yield documented


def _fill(site: NamedSite) -> None:
    site.page("/", Answer(HTML))
    site.page("/login", Answer(HTML))
    site.page("/api", Answer('{"total": 3}', content_type="application/json"))


def _http(url: str, directory: Path) -> httpx.AsyncClient:
    secret = (directory / wire.SECRET_FILE).read_text(encoding="ascii").strip()
    token = mint(secret, "a-script", "a script")
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False)


# --- the protocol ----------------------------------------------------------------------------------------------------


async def test_the_handshake_and_the_list_of_tools(documented: Documented) -> None:
    reply = documented.initialized
    capabilities = {
        "completions": {},
        "prompts": {"listChanged": False},
        "resources": {"subscribe": True, "listChanged": False},
        "tools": {"listChanged": True},
    }
    assert reply["result"].pop("instructions").startswith("One real, logged-in browser, shared")
    assert reply == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {
            "protocolVersion": "2024-11-05",
            "capabilities": capabilities,
            "serverInfo": {"name": wire.APP_NAME, "version": wire.VERSION},
        },
    }
    reply = await documented.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
    listed = {tool["name"]: tool for tool in reply["result"]["tools"]}
    assert reply["id"] == 2
    assert [*listed] == [name for name, action in ACTIONS.items() if category(action) == "seven"]
    assert listed["browser_launch"]["description"].startswith(
        "Launch a Playwright browser (chromium, firefox, or webkit)"
    )
    assert listed["browser_launch"]["inputSchema"]["properties"]["headless"] == {
        "type": "boolean",
        "default": True,
        "description": "Run browser in headless mode",
    }
    assert listed["browser_navigate"]["inputSchema"]["required"] == ["url"]


async def test_an_unknown_tool_is_no_method_and_the_error_lists_the_tools(documented: Documented) -> None:
    reply = await documented.call(5, "browser_invalid", {})
    assert reply == {
        "jsonrpc": "2.0",
        "id": 5,
        "error": {
            "code": -32601,
            "message": "Tool not found: browser_invalid",
            "data": {"availableTools": [*ACTIONS]},
        },
    }


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        ("{bad", None, -32700),
        ('{"jsonrpc": "1.0", "id": 8, "method": "tools/list"}', 8, -32600),
        ("[]", None, -32600),
        ('{"jsonrpc": "2.0", "id": "a", "method": "tools/none"}', "a", -32601),
        ('{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"arguments": {}}}', 9, -32602),
        ('{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": []}', 9, -32602),
    ],
)
async def test_a_message_that_is_no_request_gets_the_code_for_that(
    documented: Documented, line: str, number: AnyJson, code: int
) -> None:
    reply = await documented.told(line)
    assert (reply["jsonrpc"], reply["id"], reply["error"]["code"]) == ("2.0", number, code)


# --- the seven tools -------------------------------------------------------------------------------------------------


async def test_the_seven_tools_in_their_order(documented: Documented) -> None:
    call = documented.call
    nothing = failed(
        7,
        "No browser instance found. Call browser_launch first.",
        {"hint": "Use browser_launch tool to start a browser session"},
    )
    assert await call(7, "browser_click", {"selector": "h1"}) == nothing
    assert await call(7, "browser_navigate", {"url": "https://example.com"}) == nothing
    assert await call(1, "browser_launch", {"browserType": "chromium", "headless": False}) == said(
        1, text("Browser launched successfully (chromium, headless: false)")
    )
    assert await call(2, "browser_navigate", {"url": "https://example.com", "waitUntil": "domcontentloaded"}) == said(
        2, text("Successfully navigated to https://example.com\nTitle: Example Domain")
    )
    assert await call(3, "browser_navigate", {"url": "https://example.com"}) == said(
        3, text("Successfully navigated to https://example.com\nTitle: Example Domain")
    )
    role = {"selector": "button", "selectorType": "role", "options": {"name": "Submit"}}
    assert await call(3, "browser_find", role) == said(
        3, text('Found 1 element(s) matching: role=button[name="Submit"]\nElement is visible and enabled')
    )
    assert await call(4, "browser_click", {"selector": "Submit", "selectorType": "text"}) == said(
        4, text("Successfully clicked element: Submit")
    )
    label = {"selector": "Email", "selectorType": "label", "text": "user@example.com", "clear": True}
    assert await call(5, "browser_type", label) == said(
        5, text("Successfully typed into element: Email\nText: user@example.com")
    )
    reply = await call(6, "browser_screenshot", {"fullPage": True})
    data = base64.b64decode(reply["result"]["content"][0]["data"])
    assert Image.open(io.BytesIO(data)).size == (1280, 720)
    reply["result"]["content"][0]["data"] = "iVBORw0KGgoAAAANSUhEUgAA..."
    picture = {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAA...", "mimeType": "image/png"}
    assert reply == said(6, picture, text("Screenshot captured (1280x720)"))
    assert await call(8, "browser_click", {"selector": "h1"}) == said(8, text("Successfully clicked element: h1"))
    assert await call(7, "browser_quit", {}) == said(7, text("Browser closed successfully"))
    assert await call(7, "browser_click", {"selector": "h1"}) == nothing
    assert await call(7, "browser_navigate", {"url": "https://example.com"}) == nothing


async def test_a_failure_is_three_lines(documented: Documented) -> None:
    await documented.call(1, "browser_launch", {})
    await documented.call(2, "browser_navigate", {"url": "https://example.com"})
    reply = await documented.call(6, "browser_click", {"selector": "button.submit", "options": {"timeout": 300}})
    await documented.call(7, "browser_quit", {})
    assert reply["result"]["content"] == [
        text(
            "Error clicking element: Element matching selector 'button.submit' not found after 300ms\n"
            "Selector: button.submit\n"
            "Hint: Check if element exists and is actionable"
        )
    ]
    assert reply["result"]["isError"] is True
    assert reply["result"].keys() == {"content", "isError"}


# --- HTTP bodies -----------------------------------------------------------------------------------------------------


def done(result: Json, **page: str) -> Json:
    block = {**PAGE, **page, "revision": "…", "owner": OWNER}
    return {"status": 200, "success": True, "result": result, "page": block, "notices": []}


async def test_the_bodies_of_a_page(documented: Documented) -> None:
    post = documented.post
    going = {"action": "goto", "url": "https://example.com", "params": {"waitUntil": "domcontentloaded"}}
    arrived = {"url": "https://example.com/", "status": 200, "navigatedTo": "https://example.com/"}
    observed = "HTTP 200; navigated to https://example.com/"
    gone = await post("shop", going)
    assert 'heading "Example Domain"' in gone["result"].pop("outline")
    assert gone == done({**arrived, "observed": observed})
    clicked = await post("shop", {"action": "click", "selector": "button", "params": {"clickCount": 2}})
    assert clicked == done({"observed": NOTHING})
    filled = await post("shop", {"action": "fill", "selector": "#email", "text": "a@example.com", "params": {}})
    assert filled == done({"observed": "as given: 'a@example.com'"})
    content = await post("shop", {"action": "content"})
    assert "<h1>Example Domain</h1>" in content["result"].pop("content")
    assert content == done({"format": "html", "url": "https://example.com/"})
    for url, kind, value in (("/", "text", HTML), ("https://example.com/api", "json", {"total": 3})):
        script = SCRIPT.format(url=json.dumps(url), options="{}", kind=kind)
        body = {"action": "evaluate", "params": {"expression": script}}
        assert await post("shop", body) == done({"value": value})
    missing = SCRIPT.format(url='"/missing"', options="{}", kind="text")
    refused = await post("shop", {"action": "evaluate", "params": {"expression": missing}})
    assert refused["error"]["code"] == "SCRIPT_EXECUTION_FAILED"
    assert "HTTP error 404" in refused["error"]["message"]
    closed = await post("shop", {"action": "closePage"})
    url = "https://example.com/"
    assert closed["result"] == {"closed": "shop", "url": url, "observed": f"page shop is closed; it was at {url}"}
    pages = (await documented.http.get(wire.PAGES)).json()
    assert pages["result"]["yours"] == []


async def test_the_tools_of_a_page_over_the_protocol(documented: Documented) -> None:
    page, calls = {"pageId": "chat"}, documented.call
    going = await calls(1, "goto", {**page, "url": "https://example.com", "params": {"waitUntil": "load"}})
    first, origin, *_, last = going["result"]["content"][0]["text"].splitlines()
    assert (going["id"], first) == (1, "HTTP 200; navigated to /")
    assert origin.startswith("https://example.com in outline (data, ")
    assert last.startswith("--"), "its title is told in the outline"
    await calls(2, "click", {**page, "selector": "button", "params": {"button": "right"}})
    await calls(3, "fill", {**page, "selector": "//input", "text": "b@example.com"})
    shown = (await calls(4, "content", page))["result"]["content"]
    assert "<h1>Example Domain</h1>" in shown[0]["text"]
    options = {"method": "POST", "headers": {"X-Total": "3"}, "body": "{}"}
    asking = {**page, "url": "https://example.com/api", "fetchOptions": options, "responseType": "json"}
    fetched = (await calls(5, "fetch", asking))["result"]
    told = frames.read(fetched["content"][0]["text"])
    assert [json.loads(body) for body in told.foreign] == [{"total": 3}]
    assert told.ours[1] == "status: 200"
    assert "content-type: application/json" in told.ours[2]
    sent = documented.site.received[-1]
    assert (sent.method, sent.headers["X-Total"], sent.body) == ("POST", "3", b"{}")
    missing = (await calls(6, "fetch", {**page, "url": "/missing"}))["result"]
    assert missing["isError"] is True
    assert missing["content"][0]["text"].startswith("NETWORK_ERROR: https://example.com/missing answered 404")
    await calls(7, "closePage", page)


async def test_the_errors_of_a_page(documented: Documented) -> None:
    await documented.post("shop", {"action": "goto", "url": "https://example.com/login"})
    body = {"action": "click", "selector": ".login-button", "params": {"timeout": 300}}
    error = (await documented.post("shop", body))["error"]
    details = {"tool": "click", "sessionId": "default", "selector": ".login-button", "url": "https://example.com/login"}
    assert (error["code"], error["timestamp"], error["requestId"]) == ("ELEMENT_NOT_FOUND", "…", "…")
    assert error["message"] == "Element matching selector '.login-button' not found after 300ms"
    assert details.items() <= error["details"].items()
    assert error["details"]["context"]["timeout"] == 300
    await documented.post("shop", {"action": "closePage"})


async def test_a_navigation_that_takes_too_long(documented: Documented) -> None:
    answered = threading.Event()
    documented.site.page("/page", Answer("late", hold=answered))
    body = {"action": "navigate_to", "sessionId": "default", "url": "https://example.com/page", "timeout": 1000}
    reply = await documented.post("late", {**body, "waitUntil": "load"})
    answered.set()
    await documented.post("late", {"action": "closePage"})
    error = reply["error"]
    assert (error["code"], error["timestamp"], error["requestId"]) == ("NAVIGATION_FAILED", "…", "…")
    assert error["message"] == "Navigation to https://example.com/page timed out"
    details = {"tool": "navigate_to", "sessionId": "default", "url": "https://example.com/page"}
    assert {**error["details"], **details} == error["details"], error["details"]
    assert {"timeout": 1000, "waitUntil": "load"}.items() <= error["details"]["context"].items()

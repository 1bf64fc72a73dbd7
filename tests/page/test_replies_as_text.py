"""Tests that all that a reply's JSON says stands in its text, for every action: several hosts show a model nothing
else.

It is longer than 300 lines because it is one tour past every action, and a table of what a text may leave out.
"""

import json
import re
import time
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import pytest
from mcp.types import TextContent

from browse_together.contract import wire
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Claim
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.replies import ForModel, ModelReply
from browser_service.spine.rendering.reply import rendered
from mcp_gateway import results
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.long]

Json = dict[str, AnyJson]

SHOP: Final = """<h1>Shop</h1><a href=/cart>Cart</a><img src=/tea.png alt=tea>
<form method=post action=/order><label>Name <input id=name name=name></label>
<label>Gift <input type=checkbox id=gift></label>
<label>Colour <select id=colour><option>Red<option>Blue</select></label>
<input type=file id=file><button id=buy>Buy</button></form>
<button id=more onclick="fetch('/stock', {method: 'POST'})">More</button>
<button id=pop onclick="window.open('/cart')">Pop</button>
<button id=ask onclick="confirm('Sure?')">Ask</button><a id=down href=/prices download>Prices</a>
<div id=from draggable=true>tea</div><div id=to style='height: 40px' ondragover='event.preventDefault()'>bag</div>
<table><tr><th>Tea<th>Price<tr><td>Assam<td>3</table><p class=c>one</p><p class=c>two</p>
<iframe id=f src=/frame></iframe><script>console.log('hello'); console.warn('careful')</script>"""
TOOLS: Final = """<h1>Tools</h1><script>document.modelContext.registerTool({
    name: 'stock', description: 'Counts what is there.',
    inputSchema: {type: 'object', properties: {tea: {type: 'string'}}}, annotations: {readOnlyHint: true},
    execute: () => ({left: 7})})</script>"""
PAGE: Final[Json] = {"pageId": "shop"}
LONG: Final = "tea " * 6_000

NOT_SAID: Final[dict[str, str]] = {
    "*.success": "isError says it",
    "*.page.sessionId": "the line of the page names one that is not the shared login",
    "list_pages.page.revision": "any reply of that page has it",
    "list_pages.page.actedMsAgo": "in words",
    "*.page.owner.you": "the owner is named where it is another, and only then",
    "*.page.owner.label": "what it is called itself a chat knows; an error names the other",
    "*.page.dialog": "the error, or the reply of a call that waits for it, says it",
    "*.notices.pageId": "the notice names the page",
    "*.error.timestamp": "for logs",
    "*.error.requestId": "for logs; of an INTERNAL_ERROR it is said",
    "*.error.details.tool": "the call that was made",
    "*.error.details.sessionId": "the line of the page names a session that is not the default one",
    "*.error.details.context.lastError": "Playwright's words, which the message says in ours",
    "*.error.details.context.candidates.visible": "said of those that are not",
    "*.error.details.context.step": "the message counts from 1",
    "*.error.details.context.done.action": "the message has it",
    "*.checked": "in words",
    "*.dropped": "in words",
    "*.moved": "in words",
    "*.drag": "in words: an HTML drag, or none",
    "*.files.type": "what was given; the input's own word for it is the browser's guess",
    "*.count": "as many as are shown",
    "*.total": "as many as are shown; where there are more it is said",
    "*.length": "the part before said it, with its cursor",
    "*.redirected": "said by where it led",
    "fetch.statusText": "the words for the status, which HTTP/2 has not",
    "fetch.url": "the argument that was given; where a redirect led is said",
    "content.format": "the argument that was given, or its default",
    "*.downloads.downloadId": "its file is named; a download that goes on is named by list_downloads",
    "*.downloads.state": "in words",
    "*.downloads.size": "said of one that has come",
    "*.downloads.url": "where it came from, which list_downloads tells",
    "*.downloads.beganAt": "for records",
    "*.downloads.file": "made of the id, which is said",
    "*.same": "in words: no pixel differs",
    "*.differentPixels": "in words, where there are any",
    "*.pixels": "in words, where any differ",
    "*.ratio": "in words, where any differ",
    "*.policy": "in words",
    "*.suspended": "in words",
    "get_call.state": "in words",
    "*.answered.accepted": "in words",
    "handle_dialog.callId": "the reply is what came of that call",
    "request_human.state": "in words",
    "*.error.details.context.retries": "it was tried once",
    "run_flow.error.details.context.code": "the message has the words of the step's error",
    "run_flow.error.details.context.effectsBegun": "for whoever runs a table of rows",
    "run_flow.error.details.context.onlyReadsLeft": "likewise",
    "*.kept": "in the call that is given",
    "*.brought.localStorage": "said where there is any",
    "*.error.details.context.done.artifact.url": "the link has its URI, by the same id",
    "*.artifact.url": "the link has its URI, by the same id",
    "export_session.artifact.secret": "no call to read it is advised",
    "batch.error.details.context.done.artifact.url": "likewise",
}
"""What need not be in the text, and why, by action and place; `*` stands for every action."""


def texts(reply: Json, tool: str) -> str:
    form = ForModel(links=True, local=True)
    shown = ModelReply.model_validate(rendered(reply, {"action": tool}, form)["rendered"])
    result = results.tool_result(shown, is_error=not reply["success"])
    assert result.structured_content is None
    blocks = [block.text for block in result.content if isinstance(block, TextContent)]
    kinds = [block.model_dump_json(by_alias=True, exclude={"data", "blob"}) for block in result.content]
    return "\n".join([*blocks, *(kind for kind in kinds if '"type":"text"' not in kind)])


def leaves(value: AnyJson, path: str = "") -> Iterator[tuple[str, AnyJson]]:
    """Yield the leaves of a JSON value, each with its place; lists have no numbers."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in {"data", "preview"} or "artifactId" not in value:
                yield from leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, path)
    elif value not in (None, ""):
        yield path, value


def said(leaf: AnyJson, key: str, text: str) -> bool:
    if isinstance(leaf, bool):
        return any(
            f"{before}{json.dumps(leaf)}" in text for before in (f'"{key}":', f'"{key}": ', f"{key}: ", ",", "[")
        )
    if isinstance(leaf, str):
        plain = " ".join(leaf.split())
        return plain in text or " ".join(json.dumps(plain, ensure_ascii=False)[1:-1].split()) in text
    return re.search(rf"(?<![\d.]){re.escape(str(leaf))}(?![\d])", text.replace(",", "")) is not None


def in_words(leaf: AnyJson, key: str) -> AnyJson:
    """Return a value as a text has it: of the addresses of requests, and of where an act led, the path."""
    if key.endswith("requests.url"):
        return urlsplit(leaf).path
    return re.sub(r"^((?:HTTP \d+; )?navigated to )https?://[^/]+", r"\1", leaf) if key == "observed" else leaf


def missing(action: str, given: Json, reply: Json, text: str) -> list[str]:
    """Return what a text lacks of a reply, except for what the caller gave itself."""
    flat, own = " ".join(text.split()), [leaf for _, leaf in leaves(given)]
    found = []
    for path, leaf in leaves(reply):
        short, key = re.sub(r"^result\.(steps\.)?", "", path), path.rpartition(".")[2]
        if action == "list_pages":
            short = re.sub(r"^(yours|people|others)\.", "page.", short)
        if short == "page.sessionId" and leaf != wire.DEFAULT_SESSION and f"session {leaf}" not in flat:
            found.append(f"{action}: the session {leaf}")
        if leaf in own or {f"*.{short}", f"{action}.{short}"} & NOT_SAID.keys():
            continue
        if not said(in_words(leaf, short), key, flat):
            found.append(f"{action}: {short} = {str(leaf)[:100]!r}")
    return found


class Tour:
    """A run of one action after another, which collects what their texts lack."""

    def __init__(self, agent: Agent, other: Agent, site: Site, shop: str) -> None:
        self.agent, self.other, self.site, self.shop = agent, other, site, shop
        self.called: set[str] = set()
        self.lacks: list[str] = []

    async def call(self, action: str, by: Agent | None = None, **arguments: AnyJson) -> Json:
        headers = {wire.INLINE: str(wire.INLINE_TEXT)}
        body = {"action": action, **arguments}
        reply: Json = (await (by or self.agent).http.post(wire.BROWSER, json=body, headers=headers)).json()
        self.called.add(action)
        self.lacks += missing(action, arguments, reply, texts(reply, action))
        found: Json = reply.get("result") or reply["error"]
        return found


@pytest.fixture
def shop(site: Site) -> str:
    site.page("/cart", "<h1>Cart</h1>")
    site.page("/frame", "<p>inside</p>")
    site.page("/tools", TOOLS)
    site.page("/order", "<h1>Thanks</h1>")
    site.page("/stock", Answer("", 204))
    site.page("/api", Answer('{"total": 3}', content_type="application/json", headers={"X-Left": "7"}))
    site.page("/moved", Answer("", 302, headers={"location": "/api"}))
    site.page("/long", f"<p>{LONG}</p>")
    site.page("/prices", Answer("a,b\n1,2\n", headers={"content-disposition": "attachment; filename=prices.csv"}))
    return site.page("/", SHOP)


async def read(tour: Tour) -> None:
    await tour.call("help")
    await tour.call("goto", **PAGE, url=tour.shop)
    for action in ("get_current_url", "get_page_title", "content", "snapshot", "list_frames", "extract_metadata"):
        await tour.call(action, **PAGE)
    for action in ("extract_links", "extract_images", "get_console_messages", "get_page_state", "list_routes"):
        await tour.call(action, **PAGE)
    await tour.call("find", **PAGE, role="button")
    await tour.call("find_elements", **PAGE, selector="p", attributes=True)
    await tour.call("extract_text", **PAGE, selector=".c")
    await tour.call("extract_text", **PAGE, selector=".c", all=True)
    await tour.call("extract_html", **PAGE, selector=".c")
    await tour.call("extract_attribute", **PAGE, selector="img", attribute="alt")
    await tour.call("extract_data", **PAGE, schema={"title": "h1", "none": ".none"})
    await tour.call("extract_table", **PAGE, selector="table")
    await tour.call("extract_computed_style", **PAGE, selector="h1")
    await tour.call("get_element", **PAGE, selector="h1")
    await tour.call("goto", **PAGE, url=f"{tour.shop}tools")
    await tour.call("list_page_tools", **PAGE)
    await tour.call("call_page_tool", **PAGE, name="stock", arguments={"tea": "Assam"})
    await tour.call("goto", **PAGE, url=tour.shop)


async def fill(tour: Tour) -> None:
    await tour.call("fill", **PAGE, selector="#name", value="Ana")
    await tour.call("type", **PAGE, selector="#name", text="B")
    await tour.call("select_option", **PAGE, selector="#colour", label="Blue")
    await tour.call("check", **PAGE, selector="#gift")
    await tour.call("uncheck", **PAGE, selector="#gift")
    for action in ("focus", "blur", "hover"):
        await tour.call(action, **PAGE, selector="#name")
    await tour.call("paste", **PAGE, selector="#name", text="C")
    await tour.call("press", **PAGE, selector="#name", key="End")
    await tour.call("upload_file", **PAGE, selector="#file", files=[{"name": "a.txt", "text": "x"}])
    await tour.call("drop", **PAGE, selector="#to", data={"text/plain": "x"})
    await tour.call("drag_and_drop", **PAGE, selector="#from", target="#to")
    await tour.call("mouse", **PAGE, do="move", x=10, y=10)
    await tour.call("scroll", **PAGE, y=100)


async def click(tour: Tour) -> None:
    await tour.call("click", **PAGE, selector="#more")
    await tour.call("click", **PAGE, selector="#pop")
    await tour.call("click", **PAGE, selector="#down")
    await tour.call("list_downloads")
    await tour.call("fill_form", **PAGE, fields=[{"selector": "#name", "value": "Dan"}])
    await tour.call("refill", **PAGE)
    steps = [{"action": "extract_text", "selector": "h1"}, {"action": "screenshot"}]
    await tour.call("batch", **PAGE, steps=steps)
    await tour.call("batch", **PAGE, steps=[*steps, {"action": "click", "selector": "#none", "timeout": 50}])
    await tour.call("click", **PAGE, selector=".c")
    await tour.call("click", **PAGE, selector="#none", timeout=50)
    await tour.call("click", **PAGE, selector="[href='/cart']")
    for action, arguments in (
        ("wait_for_selector", {"selector": "h1"}),
        ("wait_for_navigation", {"timeout": 1000}),
        ("wait_for_url", {"url": "*"}),
        ("wait_for_load", {}),
        ("wait", {"duration": 1}),
    ):
        await tour.call(action, **PAGE, **arguments)
    await tour.call("go_back", **PAGE)


async def take(tour: Tour) -> None:
    await tour.call(
        "evaluate_script", **PAGE, expression="fetch('/stock', {method: 'POST'}).then(() => ({a: [1, true]}))"
    )
    await tour.call("evaluate_script", **PAGE, expression="'x'.repeat(30000)")
    await tour.call("fetch", **PAGE, url="/api", responseType="json")
    await tour.call("fetch", **PAGE, url="/moved")
    await tour.call("fetch", **PAGE, url="/missing")
    await tour.call("fetch", **PAGE, url="/api", responseType="binary")
    shot = await tour.call("screenshot", **PAGE)
    await tour.call("get_screenshot", **PAGE, screenshotId=shot["artifact"]["artifactId"])
    await tour.call("get_screenshot_as_base64", **PAGE, selector="h1")
    await tour.call("generate_pdf", **PAGE)
    await tour.call("compare_screenshots", **PAGE, baseline=shot["artifact"]["artifactId"])
    await tour.call("highlight", **PAGE, selector="h1")
    await tour.call("highlight", **PAGE)
    await tour.call("record_video", **PAGE, command="start")
    await tour.call("record_video", **PAGE, command="stop")


async def network(tour: Tour) -> None:
    await tour.call("mock_response", **PAGE, pattern="*/mock", body="x")
    await tour.call("block_requests", **PAGE, patterns=["*.gif"])
    await tour.call("add_init_script", **PAGE, script="window.early = 1")
    await tour.call("list_routes", **PAGE)
    await tour.call("remove_routes", **PAGE)
    await tour.call("remove_init_scripts", **PAGE)
    await tour.call("set_extra_headers", **PAGE, headers={"X-A": "1"})
    await tour.call("emulate", **PAGE, locale="de-DE")
    during = {"action": "click", "selector": "#more"}
    await tour.call("wait_for_request", **PAGE, pattern="*/stock", during=during)
    await tour.call("wait_for_response", **PAGE, pattern="*/stock", during=during)
    await tour.call("wait_for_response", **PAGE, pattern="*/nothing", during=during, timeout=1000)
    await tour.call("get_network_log", **PAGE, limit=2)
    await tour.call("get_network_log", **PAGE, format="records")
    await tour.call("export_har", **PAGE)
    await tour.call("set_storage", **PAGE, items={"a": "1"})
    await tour.call("get_storage", **PAGE)
    await tour.call("remove_storage", **PAGE, keys=["a"])
    await tour.call("clear_storage", **PAGE)


async def dialogs(tour: Tour) -> None:
    await tour.call("set_dialog_policy", **PAGE, policy="ask")
    asked = await tour.call("click", **PAGE, selector="#ask")
    await tour.call("click", **PAGE, selector="#more")
    await tour.call("get_current_url", **PAGE)
    await tour.call("get_call", callId=asked["callId"])
    await tour.call("handle_dialog", **PAGE, accept=True)
    await tour.call("get_call", callId=asked["callId"])
    await tour.call("cancel_call", callId=asked["callId"])
    await tour.call("goto", **PAGE, url=tour.site.url("/long"))
    long = await tour.call("content", **PAGE)
    await tour.call("content", cursor=long["cursor"])
    for action in ("go_back", "go_forward", "reload_page"):
        await tour.call(action, **PAGE)


async def share(tour: Tour) -> None:
    await tour.call("open_page", url=tour.site.url("/cart"), pageId="own")
    await tour.call("hold_page", pageId="own", reason="a code", minutes=5)
    await tour.call("click", pageId="own", selector="h1", by=tour.other)
    await tour.call("snapshot", pageId="own", by=tour.other)
    await tour.call("claim_page", pageId="own", by=tour.other)
    await tour.call("share_page", pageId="own", access="act")
    await tour.call("hand_over_page", pageId="own", to=tour.other.label)
    await tour.call("claim_page", pageId="own", reason="mine")
    await tour.call("release_page", pageId="own")
    await tour.call("claim_page", pageId="own")
    asked = await tour.call("request_human", pageId="own", kind="other", message="Say yes", timeout=1000)
    await tour.call("click", pageId="own", selector="h1")
    await tour.call("request_human", pageId="own", requestId=asked["requestId"], withdraw=True)
    await tour.call("tell_person", message="Two are in the cart.")
    await tour.call("list_pages", by=tour.other)
    await tour.call("list_pages")
    await tour.call("close_page", pageId="own")
    await tour.call("get_activity")
    await tour.call("get_activity", format="json", limit=2)


async def flows(tour: Tour) -> None:
    taught: Json = {"pageId": "taught"}
    changed = SHOP.replace("Gift", "Present").replace("id=gift", "")
    await tour.call("goto", **taught, url=tour.shop)
    await tour.call("expect", **taught, selector="h1", to="text", value="Shop")
    await tour.call("expect", **taught, selector="h1", to="text", value="Cart", timeout=100)
    await tour.call("expect", **taught, url="*/cart", timeout=100)
    await tour.call("check", **taught, selector="#gift")
    await tour.call("fill", **taught, selector="#name", value="Ana")
    await tour.call("extract_table", **taught, selector="table")
    await tour.call("save_flow", **taught, name="tea")
    await tour.call("list_flows")
    await tour.call("list_flows", name="tea")
    await tour.call("run_flow", name="tea", values={"name": "Bo"})
    tour.site.page("/", changed)
    stopped = await tour.call("run_flow", name="tea", values={"name": "Bo"})
    await tour.call("mend_flow", name="tea", selector="[type=checkbox]", step=stopped["details"]["context"]["step"])


async def sessions(tour: Tour) -> None:
    mine: Json = {"sessionId": "mine"}
    await tour.call("create_session", **mine)
    await tour.call("goto", pageId="private", **mine, url=tour.shop)
    await tour.call("grant_permissions", **mine, permissions=["clipboard-read"], origin=tour.shop)
    await tour.call("add_session_init_script", **mine, script="window.early = 1")
    await tour.call("remove_session_init_scripts", **mine)
    for action in ("get_session", "list_sessions", "start_tracing", "stop_tracing", "export_session"):
        await tour.call(action, **({} if action == "list_sessions" else mine))
    await tour.call("extend_session", **mine, ttl=600_000)
    await tour.call("share_session", **mine, access="act")
    await tour.call("set_cookies", **mine, cookies=[{"name": "a", "value": "1", "url": tour.shop}])
    await tour.call("get_cookies", **mine)
    login = {"name": "session", "value": "0123456789abcdef", "url": tour.shop, "expires": time.time() + 3_600}
    await tour.call("set_cookies", **mine, cookies=[login])
    await tour.call("list_logins", **mine)
    state = {"cookies": [{"name": "b", "value": "2", "domain": "127.0.0.1", "path": "/"}], "origins": []}
    await tour.call("import_login", **mine, content=json.dumps(state))
    await tour.call("clear_cookies", **mine)
    await tour.call("set_session_headers", **mine, headers={"X-B": "2"})
    await tour.call("save_session_state", **mine)
    await tour.call("restore_session_state", **mine)
    await tour.call("close_session", **mine)
    await tour.call("list_pages", nonsense=1)


async def test_the_text_of_a_reply_says_all_that_its_json_says(
    agent: Agent, other: Agent, site: Site, shop: str
) -> None:
    tour = Tour(agent, other, site, shop)
    for part in (read, fill, click, take, network, dialogs, share, flows, sessions):
        await part(tour)
    assert not tour.lacks, "\n".join(tour.lacks)
    peoples = {name for name, action in ACTIONS.items() if action.claim >= Claim.BY_PERSON}
    elsewhere = {"login", CallTool.name(), *peoples, *(name for name in ACTIONS if name.startswith("browser_"))}
    assert {*ACTIONS} - tour.called == elsewhere

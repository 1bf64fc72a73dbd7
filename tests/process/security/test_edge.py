"""Tests the outermost check: requests of foreign origin, of the wrong kind, or too large do not come in."""

import json

import pytest

from tests.front.security.test_edge import JSON, listener
from tests.support.listening import connected
from tests.support.service import RunningService
from tests.support.site import Site

__all__ = ["listener"]

pytestmark = pytest.mark.anyio


ATTEMPT = """async ({url, init}) => {
  try { const reply = await fetch(url, init); return [reply.type, reply.status, await reply.text()]; }
  catch (error) { return [String(error)]; }
}"""


async def test_a_page_cannot_call_the_api_though_it_had_a_token(listener: RunningService, site: Site) -> None:
    port = listener.settings.port
    async with connected(listener, "victim") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<h1>evil</h1>"))
        known = set(listener.parts.ledger.register.records)
        authorization = {"Authorization": agent.http.headers["Authorization"]}
        close = json.dumps({"action": "close_page", "pageId": "p"})
        attempts: list[tuple[str, dict[str, object]]] = [
            ("/api/browser", {"method": "POST", "headers": {**JSON, **authorization}, "body": close}),
            ("/api/browser", {"method": "POST", "mode": "no-cors", "headers": {**authorization}, "body": close}),
            ("/api/browser", {"method": "POST", "mode": "no-cors", "credentials": "include", "body": close}),
            ("/api/browser/pages", {"headers": authorization}),
            ("/api/events", {"mode": "no-cors"}),
            ("/health", {"mode": "no-cors"}),
            ("/health", {}),
        ]
        for name in ("127.0.0.1", "localhost", "x.localhost", "127.1"):
            for path, init in attempts:
                argument = {"url": f"http://{name}:{port}{path}", "init": init}
                found = await agent.call("evaluate_script", pageId="p", expression=ATTEMPT, arg=argument)
                refused = found["value"] in (["TypeError: Failed to fetch"], ["opaque", 0, ""])
                assert refused, (name, path, init)
            socket = f"""new Promise(d => {{ const s = new WebSocket('ws://{name}:{port}/api/events');
                s.onopen = () => d('open'); s.onerror = () => d('refused') }})"""
            assert (await agent.call("evaluate_script", pageId="p", expression=socket))["value"] == "refused", name
        assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["p"]
        since = [r.action for key, r in listener.parts.ledger.register.records.items() if key not in known]
        assert {*since} == {"evaluate_script", "list_pages"}
        await agent.call("close_page", pageId="p")


async def test_a_page_that_is_framed_or_linked_does_not_show_the_api(listener: RunningService, site: Site) -> None:
    url = f"http://127.0.0.1:{listener.settings.port}/health"
    async with connected(listener, "victim") as agent:
        html = f"<iframe src='{url}'></iframe><a href='{url}'>health</a>"
        await agent.call("goto", pageId="p", url=site.page("/", html))
        await agent.reply("click", pageId="p", selector="a")
        assert (await agent.call("get_current_url", pageId="p"))["url"] != url
        assert "pid" not in (await agent.call("snapshot", pageId="p"))["snapshot"]
        await agent.call("close_page", pageId="p")

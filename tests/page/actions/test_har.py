"""Tests traffic as an archive, and waiting for a request or its answer."""

import asyncio
import base64
import io
import json
import zipfile
from collections.abc import Mapping

import pytest
from jsonschema import Draft202012Validator

from browser_service.host.pages.entry import PageEntry
from tests.support.har import HAR
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.site import Answer, Site
from tests.support.tab import Tab
from tests.support.waiting import become

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def exported(tab: Tab, **arguments: AnyJson) -> dict[str, AnyJson]:
    """Return the log of a HAR, and check that it is valid."""
    artifact = (await tab.call("export_har", **arguments))["artifact"]
    assert (artifact["mimeType"], artifact["name"].endswith(".har")) == ("application/json", True)
    har = json.loads(base64.b64decode(artifact["data"]))
    Draft202012Validator(HAR, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(har)
    log: dict[str, AnyJson] = har["log"]
    names = {page["id"] for page in log.get("pages", [])}
    for entry in log["entries"]:
        assert "pageref" not in entry or entry["pageref"] in names
        spent = [ms for name, ms in entry["timings"].items() if name != "ssl" and ms > 0]
        assert entry["time"] == pytest.approx(sum(spent), abs=0.01)
    return log


def entry_of(log: dict[str, AnyJson], path: str) -> dict[str, AnyJson]:
    found: dict[str, AnyJson] = next(each for each in log["entries"] if path in each["request"]["url"])
    return found


async def visit(tab: Tab, site: Site) -> None:
    site.page("/old", Answer("", 302, headers={"location": "/new?q=a%20b"}))
    site.page(
        "/api", Answer('{"n": "é"}', content_type="application/json", headers={"set-cookie": "sid=s3cret; Path=/"})
    )
    site.page("/dot.png", Answer(b"\x89PNG\xff", content_type="image/png"))
    site.page("/new", "<h1>x</h1>")
    await tab.show("<h1>x</h1>", "/start")
    await tab.call("goto", pageId="tab", url=site.url("/old"))
    await tab.call("block_requests", patterns=["/ads"])
    await tab.sees(
        "fetch('/api', {method: 'POST', body: 'name=ana', headers: {Authorization: 'Bearer key'}}).then(r => r.text())"
    )
    await tab.sees("fetch('/dot.png').then(r => r.arrayBuffer()).then(b => b.byteLength)")
    await tab.sees("fetch('/ads').catch(() => 1)")


@pytest.mark.own_window
async def test_an_archive_is_valid_and_has_the_traffic_from_before_the_call(tab: Tab, site: Site) -> None:
    await visit(tab, site)
    log = await exported(tab)
    assert [page["title"] for page in log["pages"]] == [site.url("/start"), site.url("/old"), site.url("/new?q=a%20b")]
    assert entry_of(log, "/old")["response"]["redirectURL"] == "/new?q=a%20b"
    new = entry_of(log, "/new")
    assert new["request"]["queryString"] == [{"name": "q", "value": "a b"}]
    assert (new["pageref"], new["serverIPAddress"]) == ("page_3", "127.0.0.1")
    ads = entry_of(log, "/ads")["response"]
    assert (ads["status"], "BLOCKED_BY_CLIENT" in ads["_failureText"]) == (0, True)
    api = entry_of(log, "/api")
    assert not {"postData"} & api["request"].keys()
    assert "text" not in api["response"]["content"]
    text = json.dumps(log)
    assert "Bearer key" not in text
    assert "s3cret" not in text


@pytest.mark.own_window
async def test_bodies_and_secrets_are_in_an_archive_where_they_are_asked_for(tab: Tab, site: Site) -> None:
    await visit(tab, site)
    log = await exported(tab, content="embed", includeSecrets=True, urlFilter="*{/api,.png}")
    api, dot = entry_of(log, "/api"), entry_of(log, "/dot.png")
    assert len(log["entries"]) == 2
    assert api["request"]["postData"]["text"] == "name=ana"
    assert api["response"]["content"]["text"] == '{"n": "é"}'
    assert api["response"]["cookies"] == [{"name": "sid", "value": "s3cret"}]
    assert {"name": "Authorization", "value": "Bearer key"} in api["request"]["headers"]
    assert base64.b64decode(dot["response"]["content"]["text"]) == b"\x89PNG\xff"
    minimal = await exported(tab, mode="minimal", includeSecrets=True)
    assert minimal["pages"] == []
    assert entry_of(minimal, "/api")["response"]["cookies"] == []


async def test_attached_bodies_are_separate_files(tab: Tab, site: Site) -> None:
    await visit(tab, site)
    artifact = (await tab.call("export_har", content="attach", urlFilter="/dot.png"))["artifact"]
    assert artifact["mimeType"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(artifact["data"]))) as files:
        har = json.loads(files.read("har.har"))
        Draft202012Validator(HAR).validate(har)
        (entry,) = har["log"]["entries"]
        assert files.read(entry["response"]["content"]["_file"]) == b"\x89PNG\xff"


# --- waiting -----------------------------------------------------------------------------------------------------


async def armed(pages: Mapping[str, PageEntry]) -> None:
    """Wait until a call waits for traffic of the page."""
    await become(lambda: pages["tab"].settings.network.traffic.awaited)


async def after(
    service: RunningService, tab: Tab, script: str, action: str, **arguments: AnyJson
) -> dict[str, AnyJson]:
    """Return the result of a wait that began before a script ran."""
    pages = service.host.pages
    waiting = asyncio.create_task(tab.call(action, timeout=10_000, **arguments))
    await armed(pages)
    await tab.sees(script)
    return await waiting


async def test_a_request_is_waited_for_by_its_url_method_and_type(
    service: RunningService, tab: Tab, site: Site
) -> None:
    await tab.show("<h1>x</h1>")
    script = "fetch('/other').then(() => fetch('/save?id=1', {method: 'POST', body: 'x=1'})).then(() => 1)"
    wanted = {"pattern": "/save*", "method": "post", "resourceTypes": ["fetch"], "includeBodies": True}
    found = await after(service, tab, script, "wait_for_request", **wanted)
    assert (found["method"], found["url"], found["requestBody"]) == ("POST", site.url("/save?id=1"), "x=1")


async def test_a_response_is_waited_for_by_its_status_too(service: RunningService, tab: Tab, site: Site) -> None:
    site.page("/api", Answer('{"n": 1}', content_type="application/json"))
    await tab.show("<h1>x</h1>")
    script = "fetch('/api/missing').then(() => fetch('/api')).then(() => 1)"
    found = await after(
        service, tab, script, "wait_for_response", url="*/api*", status="2xx", includeBodies=True, includeHeaders=True
    )
    assert (found["status"], found["responseBody"]) == (200, '{"n": 1}')
    assert found["responseHeaders"]["content-type"] == "application/json"


async def test_the_causing_act_runs_once_the_wait_is_armed(tab: Tab, site: Site) -> None:
    site.page("/save", Answer("saved", content_type="text/plain"))
    await tab.show("<button id=go onclick=\"fetch('/save', {method: 'POST'})\">go</button>")
    click = {"action": "click", "selector": "#go"}
    found = await tab.call("wait_for_response", pattern="/save", includeBodies=True, during=click)
    assert (found["responseBody"], found["during"]["action"]) == ("saved", "click")
    assert "/save" in found["during"]["observed"]
    error = await tab.error("wait_for_request", pattern="/else", timeout=1_000, during=click)
    assert error["code"] == "TIMEOUT"
    assert "POST " + site.url("/save") in error["details"]["context"]["seen"]
    assert "Done before: 1 click" in error["message"]
    error = await tab.error("wait_for_request", during={"action": "click", "selector": "#none", "timeout": 300})
    assert (error["code"], site.counts["/save"]) == ("ELEMENT_NOT_FOUND", 2)


async def test_a_wait_in_vain_names_the_requests_sent_meanwhile(tab: Tab) -> None:
    await tab.show("<h1>x</h1>")
    error = await tab.error("wait_for_response", pattern="/never", timeout=1_000)
    assert (error["code"], error["details"]["context"]["seen"]) == ("TIMEOUT", [])


async def test_a_wait_ends_with_its_page(service: RunningService, tab: Tab) -> None:
    await tab.show("<h1>x</h1>")
    pages = service.host.pages
    waiting = asyncio.create_task(tab.error("wait_for_request", pattern="/never", timeout=20_000))
    await armed(pages)
    await tab.call("close_page", pageId="tab")
    assert (await waiting)["code"] == "PAGE_NOT_FOUND"

"""Tests mocks, blocks and extra headers of a page, as the page and the server see them; and the log of its requests.

It is longer than 300 lines because mocks, blocks and headers show in the same log of requests.
"""

import pytest

from tests.support.json import AnyJson
from tests.support.site import Answer, Site
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

GET = "fetch({!r}).then(async r => [r.status, await r.text(), r.headers.get('content-type')], e => 'failed')"


async def got(tab: Tab, url: str, **init: AnyJson) -> AnyJson:
    return await tab.sees(GET.format(url).replace(")", f", {init})", 1) if init else GET.format(url))


def served(site: Site, path: str) -> dict[str, str]:
    """Return the headers of the last request for a path, as the server got them."""
    found = next(each for each in reversed(site.received) if each.path == path)
    return {name.lower(): value for name, value in found.headers.items()}


async def test_a_mock_answers_in_the_servers_place_until_it_is_removed(tab: Tab, site: Site) -> None:
    site.page("/api/users", Answer("real", content_type="text/plain"))
    await tab.show("<h1>x</h1>")
    mock = await tab.call("mock_response", pattern="/api/*", body='{"n": 1}', headers={"X-Mock": "yes"}, status=201)
    assert await got(tab, "/api/users") == [201, '{"n": 1}', "application/json"]
    assert site.counts["/api/users"] == 0
    (route,) = (await tab.call("list_routes"))["routes"]
    assert (route["routeId"], route["matched"], route["patterns"]) == (mock["routeId"], 1, ["/api/*"])
    assert "n" not in route
    assert (await tab.call("remove_routes", routeIds=[mock["routeId"]]))["removed"] == [mock["routeId"]]
    assert await got(tab, "/api/users") == [200, "real", "text/plain"]


async def test_the_latest_matching_mock_counts(tab: Tab, site: Site) -> None:
    site.page("/api/a", Answer("real", content_type="text/plain"))
    await tab.show("<h1>x</h1>")
    await tab.call("mock_response", pattern="/api/*", body="all")
    await tab.call("mock_response", pattern="/API\\/A/i", body="posted", method="POST", contentType="text/plain")
    assert await got(tab, "/api/a") == [200, "all", "application/json"]
    assert await got(tab, "/api/a", method="POST") == [200, "posted", "text/plain"]
    await tab.call("mock_response", pattern="/api/*", body="anew", headers={"Content-Type": "text/x-new"}, delay=20)
    assert await got(tab, "/api/a") == [200, "anew", "text/x-new"]
    assert len((await tab.call("list_routes"))["routes"]) == 2
    await tab.call("remove_routes")
    assert await got(tab, "/api/a") == [200, "real", "text/plain"]


async def test_a_document_and_another_origin_can_be_mocked(tab: Tab, site: Site) -> None:
    await tab.show("<h1>x</h1>")
    await tab.call("mock_response", pattern="*localhost*/data", body="across", contentType="text/plain")
    assert await got(tab, site.url("/data", "localhost")) == [200, "across", "text/plain"]
    await tab.call("mock_response", pattern="/whole", body="<h1>made up</h1>", contentType="text/html")
    await tab.call("goto", pageId="tab", url=site.url("/whole"))
    assert await tab.sees("document.body.innerText") == "made up"


async def test_blocked_hosts_and_types_get_no_requests(tab: Tab, site: Site) -> None:
    for path in ("/ok", "/ads/x", "/pixel.png"):
        site.page(path, Answer("here", headers={"access-control-allow-origin": "*"}))
    await tab.show("<h1>x</h1>")
    await tab.call("block_requests", patterns=[f"localhost:{site.port}", "/ads/*"])
    await tab.call("block_requests", resourceTypes=["image"])
    assert await got(tab, "/ok") == [200, "here", "text/html; charset=utf-8"]
    assert await got(tab, "/ads/x") == "failed"
    assert await got(tab, site.url("/ok", "localhost")) == "failed"
    image = (
        "new Promise(done => { const i = new Image(); i.onload = i.onerror = e => done(e.type); i.src = '/pixel.png' })"
    )
    assert await tab.sees(image) == "error"
    assert (site.counts["/ok"], site.counts["/ads/x"], site.counts["/pixel.png"]) == (1, 0, 0)


USED = """async () => {
  const loaded = (tag, given) => new Promise(done => {
    const element = Object.assign(document.createElement(tag), given);
    element.onload = () => done('loaded');
    element.onerror = () => done('failed');
    document.body.append(element);
  });
  const asked = started => started.then(() => 'loaded', () => 'failed');
  const told = made => new Promise(done => {
    made.onmessage = event => done(event.data);
    made.onerror = () => done('failed');
    made.onopen = () => done('loaded');
  });
  const within = code => new Worker(URL.createObjectURL(new Blob([code.replaceAll('ORIGIN', location.origin)])));
  const sends = "fetch('ORIGIN/r/in-worker').then(() => postMessage('loaded'), () => postMessage('failed'))";
  const socket = location.origin.replace('http', 'ws');
  const opens = `const s = new WebSocket('${socket}/r/socket-in-worker');
    s.onopen = s.onerror = () => postMessage('failed')`;
  const found = {
    image: await loaded('img', {src: '/r/image'}),
    style: await loaded('link', {rel: 'stylesheet', href: '/r/style'}),
    script: await loaded('script', {src: '/r/script'}),
    font: await asked(new FontFace('f', 'url(/r/font)').load()),
    fetch: await asked(fetch('/r/fetch')),
    forced: await asked(fetch('/r/fetch', {cache: 'force-cache'})),
    served: await asked(fetch('/r/served')),
    beacon: (navigator.sendBeacon('/r/beacon'), 'failed'),
    worker: await told(new Worker('/r/worker')),
    inWorker: await told(within(sends)),
    socket: await told(new WebSocket(`${socket}/r/socket`)),
    socketInWorker: await told(within(opens)),
  };
  const xhr = new XMLHttpRequest();
  xhr.open('GET', '/r/xhr', false);
  try { xhr.send(); found.xhr = 'loaded' } catch { found.xhr = 'failed' }
  return found;
}"""
SERVES = """onfetch = event => {
  if (event.request.url.endsWith('/r/served')) event.respondWith(caches.match(event.request));
};
oninstall = event => event.waitUntil(caches.open('all').then(cache => cache.add('/r/served')));
onactivate = event => event.waitUntil(clients.claim());"""
REGISTERED = """async () => {
  await navigator.serviceWorker.register('/serves.js');
  if (!navigator.serviceWorker.controller)
    await new Promise(done => navigator.serviceWorker.oncontrollerchange = done);
}"""


@pytest.mark.own_window
async def test_a_block_holds_for_every_kind_of_request_though_caches_and_a_service_worker_have_it(
    tab: Tab, site: Site
) -> None:
    kinds = {"script": "text/javascript", "worker": "text/javascript", "style": "text/css", "image": "image/svg+xml"}
    bodies = {"worker": "postMessage('loaded')", "image": "<svg xmlns='http://www.w3.org/2000/svg'/>"}
    for name in ("image", "style", "script", "font", "fetch", "served", "beacon", "worker", "in-worker", "xhr"):
        kept = {"cache-control": "max-age=3600"}
        site.page(f"/r/{name}", Answer(bodies.get(name, ""), content_type=kinds.get(name, "text/plain"), headers=kept))
    site.page("/serves.js", Answer(SERVES, content_type="text/javascript"))
    session = (await tab.call("create_session"))["sessionId"]  # a service worker stays with its site
    await tab.call("open_page", pageId="tab", sessionId=session)
    await tab.show("<h1>x</h1>")
    await tab.sees(REGISTERED)
    free = await tab.sees(USED)
    assert {name for name, came in free.items() if came != "loaded"} == {"font", "beacon", "socket", "socketInWorker"}
    site.counts.clear()
    await tab.call("block_requests", patterns=["/r/*"])
    for moment in ("in the same document", "in another"):
        came = await tab.sees(USED)
        assert {name for name in came if came[name] != "failed"} == set(), moment
        assert {path: times for path, times in site.counts.items() if path.startswith("/r/")} == {}, moment
        await tab.show("<h1>x</h1>")
    (route,) = (await tab.call("list_routes"))["routes"]
    assert route["matched"] >= 2 * (len(free) - 1), "of a worker's socket nothing is told"
    await tab.call("remove_routes")
    assert await tab.sees(USED) == free
    assert (site.counts["/r/socket"], site.counts["/r/socket-in-worker"], site.counts["/r/beacon"]) == (1, 1, 1)
    await tab.call("block_requests", resourceTypes=["websocket"])
    await tab.sees(USED)
    assert site.counts["/r/socket"] == 1


async def test_a_removed_mocks_answers_are_gone_from_every_cache(tab: Tab, site: Site) -> None:
    site.page("/v.js", Answer("self.told = 'site'", content_type="text/javascript"))
    site.page("/v.svg", Answer("<svg xmlns='http://www.w3.org/2000/svg' width='10'/>", content_type="image/svg+xml"))
    used = """async () => {
      const once = (tag, src) => new Promise(done => {
        const element = Object.assign(document.createElement(tag), {src});
        element.onload = element.onerror = () => done(element.naturalWidth);
        document.body.append(element);
      });
      await once('script', '/v.js');
      return [self.told, await once('img', '/v.svg')];
    }"""
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='20'/>"
    await tab.show("<h1>x</h1>")
    for headers in ({}, {"Cache-Control": "public, max-age=3600"}):
        script = await tab.call(
            "mock_response", pattern="/v.js", body="self.told = 'mock'", contentType="text/javascript", headers=headers
        )
        await tab.call("mock_response", pattern="/v.svg", body=svg, contentType="image/svg+xml", headers=headers)
        assert await tab.sees(used) == ["mock", 20]
        await tab.call("remove_routes", routeIds=[script["routeId"]])
        assert await tab.sees(used) == ["site", 20]
        await tab.call("remove_routes")
        assert await tab.sees(used) == ["site", 10]


async def test_a_page_has_no_more_patterns_than_a_request_can_be_compared_with_at_once(tab: Tab) -> None:
    await tab.show("<h1>x</h1>")
    many = [f"/{number}/{{{','.join('abcdefgh')}}}/{{{','.join('abcdefgh')}}}" for number in range(20)]
    error = await tab.error("block_requests", patterns=many)
    assert (error["code"], "1000" in error["message"]) == ("RESOURCE_EXHAUSTED", True)
    assert (await tab.call("list_routes"))["routes"] == []


@pytest.mark.own_window
async def test_a_redirect_does_not_lead_round_a_block(tab: Tab, site: Site) -> None:
    site.page("/hop", Answer("", 302, headers={"location": site.url("/tracker", "localhost")}))
    site.page("/tracker", Answer("tracked", headers={"access-control-allow-origin": "*"}))
    await tab.show("<h1>x</h1>")
    assert (await got(tab, "/hop"))[1] == "tracked"
    await tab.call("block_requests", patterns=["localhost"])
    assert await got(tab, "/hop") == "failed"
    assert site.counts["/tracker"] == 1


async def test_the_requests_of_a_frame_of_another_site_are_blocked_too(tab: Tab, site: Site) -> None:
    site.page(
        "/inner",
        "<script>fetch('/beacon').then(() => top.postMessage('sent', '*'), "
        "() => top.postMessage('failed', '*'))</script>",
    )
    site.page("/beacon", "x")
    await tab.show("<h1>x</h1>")
    await tab.call("block_requests", patterns=["/beacon"])
    url = site.url("/inner", "localhost")
    said = f"""new Promise(done => {{ onmessage = e => done(e.data);
      document.body.append(Object.assign(document.createElement('iframe'), {{src: {url!r}}})) }})"""
    assert await tab.sees(said) == "failed"
    assert site.counts["/beacon"] == 0


async def test_extra_headers_are_sent_with_every_request_until_they_are_replaced(tab: Tab, site: Site) -> None:
    site.page("/data", "x")
    await tab.show("<h1>x</h1>")
    await tab.call("set_extra_headers", headers={"Authorization": "Bearer token", "X-Custom-Header": "value"})
    await got(tab, "/data")
    assert (served(site, "/data")["authorization"], served(site, "/data")["x-custom-header"]) == (
        "Bearer token",
        "value",
    )
    listed = await tab.call("list_routes")
    assert listed["extraHeaders"] == ["Authorization", "X-Custom-Header"]
    assert "Bearer token" not in str(listed)
    await tab.call("set_extra_headers", headers={})
    await got(tab, "/data")
    assert not served(site, "/data").keys() & {"authorization", "x-custom-header"}


async def test_headers_of_a_session_are_sent_by_later_pages_too(tab: Tab, site: Site) -> None:
    session = (await tab.call("create_session"))["sessionId"]
    await tab.call("goto", pageId="first", sessionId=session, url=site.page("/one", "one"))
    await tab.call("set_extra_headers", sessionId=session, headers={"X-All": "1"})
    await tab.call("set_extra_headers", pageId="first", headers={"X-First": "1"})
    await tab.call("goto", pageId="first", url=site.url("/one"))
    await tab.call("goto", pageId="second", sessionId=session, url=site.page("/two", "two"))
    await tab.call("goto", pageId="elsewhere", url=site.page("/three", "three"))
    sent = {path: served(site, path).keys() & {"x-all", "x-first"} for path in ("/one", "/two", "/three")}
    assert sent == {"/one": {"x-all", "x-first"}, "/two": {"x-all"}, "/three": set()}
    assert (await tab.call("list_routes", pageId="second"))["sessionHeaders"] == ["X-All"]
    await tab.call("set_session_headers", sessionId=session, headers={})
    await tab.call("goto", pageId="second", url=site.url("/two"))
    assert "x-all" not in served(site, "/two")


async def test_headers_that_cannot_be_sent_are_refused_by_name(tab: Tab) -> None:
    await tab.show("<h1>x</h1>")
    for headers in ({"Host": "elsewhere"}, {"no name": "x"}, {"X": "a\r\nb: c"}):
        error = await tab.error("set_extra_headers", headers=headers)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "headers")


async def test_an_impossible_route_or_header_is_refused_by_field(tab: Tab) -> None:
    await tab.show("<h1>x</h1>")
    error = await tab.error("mock_response", pattern="/(/")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "pattern")
    error = await tab.error("block_requests")
    assert "resourceTypes" in error["message"]
    error = await tab.error("remove_routes", routeIds=["r9"])
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "routeIds")


async def test_a_popup_starts_with_the_routes_and_headers_of_its_opener(tab: Tab, site: Site) -> None:
    site.page("/data", "real")
    await tab.show("<button onclick=\"window.open('/popup')\">open</button>")
    site.page("/popup", "<h1>popup</h1>")
    await tab.call("mock_response", pattern="/data", body="mocked")
    await tab.call("set_extra_headers", headers={"X-Mine": "1"})
    await tab.call("click", selector="button")
    await tab.call("wait_for_selector", pageId="tab~1", selector="h1")
    seen = await tab.call("evaluate_script", pageId="tab~1", expression=GET.format("/data"))
    assert seen["value"][1] == "mocked"
    await tab.call("evaluate_script", pageId="tab~1", expression="fetch('/other').then(() => 1)")
    assert served(site, "/other")["x-mine"] == "1"
    log = (await tab.call("get_network_log", pageId="tab~1"))["log"]
    assert "/popup" in log


@pytest.mark.own_window
# --- the log -----------------------------------------------------------------------------------------------------


@pytest.mark.own_window
async def test_the_log_has_what_the_page_asked_for_since_it_was_opened(tab: Tab, site: Site) -> None:
    site.page("/missing", Answer("no", 404))
    site.page("/api", Answer('{"n": 1}', content_type="application/json", headers={"set-cookie": "sid=s3cret"}))
    url = await tab.show("<h1>x</h1>")
    await tab.call("block_requests", patterns=["/ads"])
    await got(tab, "/missing")
    await got(tab, "/api", method="POST", body="name=ana", headers={"Authorization": "Bearer key"})
    await got(tab, "/ads")
    log = await tab.call("get_network_log", format="records")
    shown = [(each["method"], each["url"], each["type"], each["status"]) for each in log["requests"]]
    origin = site.url("")
    assert shown == [
        ("GET", url, "document", 200),
        ("GET", f"{origin}/missing", "fetch", 404),
        ("POST", f"{origin}/api", "fetch", 200),
        ("GET", f"{origin}/ads", "fetch", None),
    ]
    assert "BLOCKED_BY_CLIENT" in log["requests"][-1]["failure"]
    for filters, count in (
        ({"pattern": "/api"}, 1), ({"method": "post"}, 1), ({"status": "4xx"}, 1), ({"status": "404"}, 1),
        ({"status": "failed"}, 1), ({"resourceTypes": ["document"]}, 1), ({"since": log["requests"][0]["number"]}, 3),
        ({"limit": 2}, 2),
    ):  # fmt: skip
        assert (await tab.call("get_network_log", **filters))["count"] == count, filters
    assert "404 fetch" in (await tab.call("get_network_log", status="404"))["log"]


@pytest.mark.own_window
async def test_headers_and_bodies_come_on_request_and_secrets_only_where_they_are_asked_for(
    tab: Tab, site: Site
) -> None:
    site.page("/api", Answer('{"n": 1}', content_type="application/json", headers={"set-cookie": "sid=s3cret"}))
    await tab.show("<h1>x</h1>")
    await got(tab, "/api", method="POST", body="name=ana", headers={"Authorization": "Bearer key"})
    wanted = {"pattern": "/api", "format": "records"}
    plain = (await tab.call("get_network_log", **wanted))["requests"][0]
    assert not plain.keys() & {"requestHeaders", "requestBody", "responseBody"}
    whole = (await tab.call("get_network_log", **wanted, includeHeaders=True, includeBodies=True))["requests"][0]
    assert (whole["requestBody"], whole["responseBody"]) == ("name=ana", '{"n": 1}')
    assert "Bearer key" not in str(whole)
    assert "s3cret" not in str(whole)
    assert {name.lower() for name in whole["requestHeaders"]} >= {"authorization", "user-agent"}
    secret = (await tab.call("get_network_log", **wanted, includeHeaders=True, includeSecrets=True))["requests"][0]
    assert "Bearer key" in str(secret["requestHeaders"])
    assert "s3cret" in str(secret["responseHeaders"])


async def test_a_long_log_is_cut_and_read_on(tab: Tab) -> None:
    await tab.show("<h1>x</h1>")
    await tab.sees("Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(n => fetch('/r' + n)))")
    whole = (await tab.call("get_network_log"))["log"]
    head = await tab.call("get_network_log", budget=120)
    rest = await tab.call("get_network_log", cursor=head["cursor"], budget=5_000)
    assert head["log"] + rest["log"] == whole
    assert whole.count("\n") == 8

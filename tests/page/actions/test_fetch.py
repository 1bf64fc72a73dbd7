"""Tests requests sent from within a page: what the server gets, and what comes back.

It is longer than 300 lines because each part of a request and of its answer has a test.
"""

import base64
import hashlib
import json
import threading

import pytest

from tests.support.json import AnyJson
from tests.support.named_calls import named_calls
from tests.support.service import Agent
from tests.support.site import Answer, Received
from tests.support.tab import Tab, closed_port

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


BYTES = bytes(range(256)) * 8


def _last(tab: Tab, path: str) -> Received:
    return next(request for request in reversed(tab.site.received) if request.path.split("?")[0] == path)


def _headers(received: Received) -> dict[str, str]:
    return {name.lower(): value for name, value in received.headers.items()}


# --- what comes back ---------------------------------------------------------------------------------------------


async def test_fetch_gives_text_with_its_status_headers_and_url(tab: Tab) -> None:
    await tab.show("x")
    url = tab.site.page("/text", Answer("Grüße", content_type="text/plain; charset=utf-8", headers={"x-tea": "oolong"}))
    result = await tab.call("fetch", url=url)
    headers = result.pop("headers")
    assert result == {"status": 200, "statusText": "OK", "url": url, "redirected": False, "body": "Grüße"}
    assert (headers["x-tea"], headers["content-type"]) == ("oolong", "text/plain; charset=utf-8")


async def test_fetch_as_json_gives_the_parsed_body(tab: Tab) -> None:
    await tab.show("x")
    for value in ({"tea": ["sencha", 7, None]}, [1, 2], "word", 0, None):
        tab.site.page("/json", Answer(json.dumps(value), content_type="application/json"))
        result = await tab.call("fetch", url="/json", responseType="json")
        assert result["body"] == value


async def test_a_text_is_read_by_its_mark_its_type_or_the_head_of_its_document(tab: Tab) -> None:
    await tab.show("x")
    for content_type, codec, mark in (
        ("text/plain; charset=Shift_JIS", "shift_jis", b""),
        ('text/csv;header=present;Charset="GBK"', "gbk", b""),
        ("application/json; charset=utf-16le", "utf-16-le", b""),
        ("text/plain", "utf-16-be", b"\xfe\xff"),
        ("text/plain; charset=utf-8", "utf-16-le", b"\xff\xfe"),
        ("text/html", "shift_jis", b"<meta http-equiv=content-type content='text/html; charset=Shift_JIS'>"),
        ("text/plain", "utf-8", b"\xef\xbb\xbf"),
    ):
        tab.site.page("/text", Answer(mark + '"日本"'.encode(codec), content_type=content_type))
        assert (await tab.call("fetch", url="/text"))["body"].endswith('"日本"'), (content_type, codec)
        if "json" in content_type:
            assert (await tab.call("fetch", url="/text", responseType="json"))["body"] == "日本"


async def test_a_text_in_an_unknown_charset_is_said_to_be_read_as_another(tab: Tab) -> None:
    await tab.show("x")
    tab.site.page("/text", Answer("Tee für 5", content_type="text/plain; charset=x-tea"))
    result = await tab.call("fetch", url="/text")
    assert (result["body"], result["advice"]) == ("Tee für 5", "its charset 'x-tea' is unknown: read as UTF-8")


async def test_fetch_as_json_of_something_else_says_so_and_shows_how_it_starts(tab: Tab) -> None:
    await tab.show("x")
    tab.site.page("/html", "<h1>Log in</h1>")
    error = await tab.error("fetch", url="/html", responseType="json")
    assert (error["code"], error["status"]) == ("SCRIPT_EXECUTION_FAILED", 500)
    assert "no JSON" in error["message"]
    assert "text" in error["hint"]
    assert "<h1>Log in</h1>" in error["details"]["context"]["bodyStart"]


async def test_fetch_as_binary_keeps_the_bytes_as_an_artifact_that_its_url_returns(tab: Tab, other: Agent) -> None:
    await tab.show("x")
    tab.site.page("/picture", Answer(BYTES, content_type="image/x-tea"))
    result = await tab.call("fetch", url="/picture", responseType="binary")
    artifact = result["artifact"]
    assert "body" not in result
    assert (artifact["mimeType"], artifact["size"]) == ("image/x-tea", len(BYTES))
    assert base64.b64decode(artifact["data"]) == BYTES
    got = await tab.agent.http.get(artifact["url"])
    assert (got.status_code, got.headers["content-type"], got.content) == (200, "image/x-tea", BYTES)
    assert (await other.http.get(artifact["url"])).status_code == 404


async def test_the_text_of_a_pdf_that_was_fetched_or_came_as_a_download_can_be_read(tab: Tab) -> None:
    await tab.show("<h1>Bill 4711</h1><p style='break-after:page'>42 EUR<p>Thanks for the tea that you bought from us")
    printed = (await tab.call("generate_pdf"))["artifact"]
    whole = (await tab.agent.http.get(printed["url"])).content
    attached = {"content-disposition": "attachment; filename=bill.pdf"}
    tab.site.page("/bill.pdf", Answer(whole, content_type="application/pdf", headers=attached))
    fetched = await tab.call("fetch", url="/bill.pdf")
    assert ("body" not in fetched, fetched["artifact"]["size"]) == (True, len(whole))
    came = await tab.error("goto", url=tab.site.url("/bill.pdf"))
    for said in (fetched["advice"], came["hint"]):
        ((action, arguments),) = named_calls(said, {})
        text = (await tab.call(action, **arguments))["content"]
        assert text.startswith("(PDF, 2 pages)\n--- page 1 ---\nBill 4711"), text
        assert "--- page 2 ---\nThanks for the tea" in text
    part = await tab.call("content", cursor=f"{printed['artifactId']}:0", budget=100)
    rest = await tab.call("content", cursor=part["cursor"])
    assert part["content"] + rest["content"] == text


async def test_a_pdf_that_cannot_be_read_is_said_to_be_one(tab: Tab) -> None:
    await tab.show("x")
    loop = b"1 0 obj<</Type/Pages/Count 9/Kids[1 0 R]>>endobj 2 0 obj<</Pages 1 0 R>>endobj trailer<</Root 2 0 R>>"
    tab.site.page("/bad.pdf", Answer(b"%PDF-1.4\n" + loop, content_type="application/pdf"))
    artifact = (await tab.call("fetch", url="/bad.pdf"))["artifact"]
    error = await tab.error("content", cursor=f"{artifact['artifactId']}:0")
    assert error["code"] == "VALIDATION_ERROR"
    assert error["message"] == "The text of this PDF cannot be read: it is broken, or too large."


async def test_fetch_of_many_bytes_leaves_them_to_the_url_of_the_artifact(tab: Tab) -> None:
    await tab.show("x")
    many = BYTES * 500
    tab.site.page("/many", Answer(many, content_type="application/octet-stream"))
    artifact = (await tab.call("fetch", url="/many", responseType="binary"))["artifact"]
    assert "data" not in artifact
    assert (await tab.agent.http.get(artifact["url"])).content == many


async def test_fetch_of_a_long_text_goes_on_by_cursor(tab: Tab) -> None:
    await tab.show("x")
    text = "".join(f"line {n}\n" for n in range(300))
    tab.site.page("/long", Answer(text, content_type="text/plain"))
    reply = await tab.agent.reply("fetch", url="/long", headers={"X-Browse-Inline": "500"})
    part = reply.json()["result"]
    assert part["body"] == text[:500]
    assert part["body"] + (await tab.call("content", cursor=part["cursor"]))["content"] == text


@pytest.mark.parametrize("budget", [100, 101, 499])
async def test_a_long_text_read_by_cursor_is_the_whole_text_whatever_its_line_ends(tab: Tab, budget: int) -> None:
    await tab.show("x")
    text = ("x" * (budget - 1) + "\r\n" + "é漢😀\n\r\r\r\n\u2028\n\n") * 30
    tab.site.page("/long", Answer(text, content_type="text/plain; charset=utf-8"))
    reply = await tab.agent.reply("fetch", url="/long", headers={"X-Browse-Inline": str(budget)})
    part = reply.json()["result"]
    parts = [part["body"]]
    while cursor := part.get("cursor"):
        part = await tab.call("content", cursor=cursor, budget=budget)
        parts.append(part["content"])
    assert (parts[0][-1], parts[1][0]) == ("\r", "\n")
    assert "".join(parts) == text
    assert {len(one) for one in parts[:-1]} == {budget}


async def test_fetch_follows_redirects_and_says_so(tab: Tab) -> None:
    await tab.show("x")
    tab.site.page("/from", Answer(status=302, headers={"location": "/to"}))
    to = tab.site.page("/to", Answer("there"))
    result = await tab.call("fetch", url="/from")
    assert (result["url"], result["redirected"], result["body"]) == (to, True, "there")


async def test_fetch_resolves_relative_urls_at_the_page(tab: Tab) -> None:
    await tab.show("x", path="/shop/tea/page")
    for relative, path in (
        ("more?x=1", "/shop/tea/more"),
        ("../up", "/shop/up"),
        ("/top", "/top"),
        ("?q=2", "/shop/tea/page"),
    ):
        tab.site.page(path, Answer(path))
        assert (await tab.call("fetch", url=relative))["body"] == path


# --- what the server gets ----------------------------------------------------------------------------------------


async def test_the_cookies_of_the_page_go_along_and_can_be_left_out(tab: Tab) -> None:
    tab.site.page("/login", Answer("in", headers={"set-cookie": "fetch_test=secret; HttpOnly; Path=/"}))
    tab.site.page("/me", Answer("me"))
    await tab.call("goto", pageId="tab", url=tab.site.url("/login"))
    await tab.call("fetch", url="/me")
    assert "fetch_test=secret" in _headers(_last(tab, "/me"))["cookie"]
    await tab.call("fetch", url="/me", credentials="omit")
    assert "cookie" not in _headers(_last(tab, "/me"))


@pytest.mark.parametrize("bag", ["fetchOptions", "params"])
async def test_method_headers_and_body_arrive_as_they_were_given(tab: Tab, bag: str) -> None:
    await tab.show("x")
    tab.site.page("/api", Answer("ok"))
    options: dict[str, AnyJson] = {
        "method": "put",
        "headers": {"X-Tea": "green", "content-type": "text/x-tea"},
        "body": "tea=grün",
    }
    await tab.call("fetch", url="/api", **{bag: options})
    received = _last(tab, "/api")
    assert (received.method, received.body) == ("PUT", "tea=grün".encode())
    assert (_headers(received)["x-tea"], _headers(received)["content-type"]) == ("green", "text/x-tea")


@pytest.mark.parametrize("body", [{"tea": ["a", 1, None]}, ["a", {"b": 2}]])
async def test_a_body_that_is_an_object_or_a_list_is_sent_as_json(tab: Tab, body: object) -> None:
    await tab.show("x")
    tab.site.page("/api", Answer("ok"))
    result = await tab.call("fetch", url="/api", method="POST", body=body)
    received = _last(tab, "/api")
    assert json.loads(received.body) == body
    assert _headers(received)["content-type"] == "application/json"
    assert result["requests"] == [{"method": "POST", "url": tab.site.url("/api"), "status": 200}]
    await tab.call(
        "fetch", url="/api", method="PATCH", body=body, params={"headers": {"Content-Type": "application/vnd.tea+json"}}
    )
    assert (_last(tab, "/api").method, _headers(_last(tab, "/api"))["content-type"]) == (
        "PATCH",
        "application/vnd.tea+json",
    )


async def test_every_option_of_fetch_is_taken_and_has_its_effect(tab: Tab) -> None:
    await tab.show("x")
    tab.site.page("/api", Answer("ok"))
    for option, value, header, expected in (
        ("cache", "no-cache", "cache-control", "max-age=0"),
        ("cache", "reload", "cache-control", "no-cache"),
        ("mode", "cors", "sec-fetch-mode", "cors"),
        ("mode", "same-origin", "sec-fetch-mode", "same-origin"),
        ("mode", "no-cors", "sec-fetch-mode", "no-cors"),
        ("credentials", "include", "x-none", None),
        ("redirect", "follow", "x-none", None),
        ("referrerPolicy", "no-referrer", "referer", None),
        ("keepalive", True, "x-none", None),
        ("priority", "high", "x-none", None),
        ("duplex", "half", "x-none", None),
        ("window", None, "x-none", None),
    ):
        assert (await tab.call("fetch", url="/api", fetchOptions={option: value}))["body"] == "ok", option
        assert _headers(_last(tab, "/api")).get(header) == expected, (option, value)


async def test_the_referrer_is_what_was_asked_for(tab: Tab) -> None:
    url = await tab.show("x")
    tab.site.page("/api", Answer("ok"))
    await tab.call("fetch", url="/api")
    assert _headers(_last(tab, "/api"))["referer"] == url
    await tab.call("fetch", url="/api", fetchOptions={"referrer": "/elsewhere"})
    assert _headers(_last(tab, "/api"))["referer"] == tab.site.url("/elsewhere")


async def test_redirects_can_be_refused_and_integrity_is_checked(tab: Tab) -> None:
    await tab.show("x")
    tab.site.page("/from", Answer(status=302, headers={"location": "/to"}))
    tab.site.page("/to", Answer("there"))
    for redirect in ("error", "manual"):
        error = await tab.error("fetch", url="/from", fetchOptions={"redirect": redirect})
        assert (error["code"], error["status"]) == ("NETWORK_ERROR", 502)
    assert tab.site.counts["/to"] == 0
    digest = "sha256-" + base64.b64encode(hashlib.sha256(b"there").digest()).decode()
    assert (await tab.call("fetch", url="/to", fetchOptions={"integrity": digest}))["body"] == "there"
    error = await tab.error("fetch", url="/to", fetchOptions={"integrity": "sha256-" + "A" * 43 + "="})
    assert error["code"] == "NETWORK_ERROR"


async def test_an_option_that_fetch_does_not_have_is_refused_by_name(tab: Tab) -> None:
    await tab.show("x")
    for option, value in (("sginal", 1), ("signal", {}), ("mode", "sideways"), ("method", "GET /"), ("body", 5)):
        error = await tab.error("fetch", url="/api", fetchOptions={option: value})
        assert (error["code"], error["status"], option in error["message"]) == ("VALIDATION_ERROR", 422, True)
        assert error["details"]["context"]["field"] == option
    assert tab.site.counts["/api"] == 0


# --- what goes wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "kind"), [(404, "text"), (500, "json"), (403, "binary")])
async def test_an_http_error_status_is_an_error_with_status_headers_and_the_bodys_start(
    tab: Tab, status: int, kind: str
) -> None:
    await tab.show("x")
    body = "no tea: " + "x" * 5_000
    url = tab.site.page(
        "/fails", Answer(body, status=status, content_type="text/plain", headers={"x-reason": "sold out"})
    )
    error = await tab.error("fetch", url="/fails", responseType=kind)
    assert (error["code"], error["status"]) == ("NETWORK_ERROR", 502)
    assert str(status) in error["message"]
    context = error["details"]["context"]
    assert (context["status"], context["headers"]["x-reason"]) == (status, "sold out")
    assert (context["bodyStart"], error["details"]["url"]) == (body[: len(context["bodyStart"])], url)
    assert 500 <= len(context["bodyStart"]) < len(body)


async def test_fetch_from_a_closed_port_says_that_it_could_not_be_reached(tab: Tab) -> None:
    await tab.show("x")
    url = f"http://127.0.0.1:{closed_port()}/x"
    error = await tab.error("fetch", url=url)
    assert (error["code"], error["status"]) == ("NETWORK_ERROR", 502)
    assert error["message"].startswith(f"{url} could not be reached")
    assert "CORS" not in error["message"]


async def test_fetch_that_another_origin_does_not_allow_is_named_as_such(tab: Tab) -> None:
    await tab.show("x")
    tab.site.page("/private", Answer("theirs"))
    tab.site.page("/public", Answer("anyone's", headers={"access-control-allow-origin": "*"}))
    error = await tab.error("fetch", url=tab.site.url("/private", "localhost"))
    assert (error["code"], error["status"]) == ("NETWORK_ERROR", 502)
    assert "CORS" in error["message"]
    assert "open_page" in error["hint"]
    assert (await tab.call("fetch", url=tab.site.url("/public", "localhost")))["body"] == "anyone's"


async def test_fetch_that_cannot_even_be_sent_says_what_is_wrong_with_it(tab: Tab) -> None:
    await tab.show("x")
    for wrong, said in (
        ({"body": "x"}, "GET"),
        ({"method": "TRACE"}, "TRACE"),
        ({"headers": {"no name": "x"}}, "name"),
        ({"cache": "only-if-cached"}, "only-if-cached"),
    ):
        error = await tab.error("fetch", url="/api", fetchOptions=wrong)
        assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
        assert said in error["message"]
    assert tab.site.counts["/api"] == 0


async def test_fetch_of_an_unreadable_response_says_so(tab: Tab) -> None:
    await tab.show("x")
    url = tab.site.page("/private", Answer("theirs")).replace("127.0.0.1", "localhost")
    error = await tab.error("fetch", url=url, fetchOptions={"mode": "no-cors"})
    assert error["code"] == "NETWORK_ERROR"
    assert error["message"] == f"{url} answered an opaque response (no-cors), which scripts may not read"


async def test_fetch_that_gets_no_answer_in_time_says_so_and_the_page_goes_on(tab: Tab) -> None:
    await tab.show("x")
    release = threading.Event()
    tab.site.page("/never", Answer("late", hold=release))
    error = await tab.error("fetch", url="/never", timeout=200)
    release.set()
    assert error["code"] in {"NETWORK_ERROR", "TIMEOUT"}
    assert "200 ms" in error["message"]
    assert await tab.sees("1 + 1") == 2


async def test_fetch_goes_only_where_pages_may_go(tab: Tab) -> None:
    await tab.show("x")
    for url in ("http://169.254.169.254/latest/", "file:///etc/passwd", "chrome://version", "ftp://127.0.0.1/"):
        error = await tab.error("fetch", url=url)
        assert (error["code"], error["status"]) == ("FORBIDDEN", 403)
        assert url in error["message"]

"""Shows what a page requests, and sets what it is answered."""

import codecs
import json
from collections.abc import Callable

from pydantic import JsonValue

from browse_together.contract.actions import network
from browse_together.contract.cuts import BEYOND, cut
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.timestamps import iso
from browser_service.host.files import dated
from browser_service.host.handle.page import BrowserPage
from browser_service.host.handle.session import BrowserSession
from browser_service.host.network.har import Archive
from browser_service.host.network.patterns import UrlPattern
from browser_service.host.network.routes import MockAnswer, Rule
from browser_service.host.network.traffic import MOST_BODY, RequestRecord, RequestView, RequestWait
from browser_service.host.sessions.cookie_values import hidden_note


async def mock_response(page: BrowserPage, action: network.MockResponse) -> Json:
    answer = MockAnswer(action.status, action.response_headers(), action.body, action.delay / 1000)
    rule = Rule((UrlPattern(action.pattern),), action.method, answer=answer)
    rule = await page.settings.network.add(page.playwright, rule)
    requests = f"{action.method or 'every method'} {action.pattern}"
    observed = f"{requests} is answered with {action.status} on this page from now on (route {rule.route_id})"
    return {"routeId": rule.route_id, "observed": observed}


async def block_requests(page: BrowserPage, action: network.BlockRequests) -> Json:
    if not action.patterns and not action.resource_types:
        raise ValidationFailed(
            "block_requests needs patterns or resourceTypes.",
            hint='For example {"patterns": ["*.example.com/*"], "resourceTypes": ["image"]}.',
            details=field_details("patterns"),
        )
    patterns = tuple(UrlPattern(text, "patterns") for text in action.patterns or ())
    rule = Rule(patterns, types=frozenset(action.resource_types or ()))
    rule = await page.settings.network.add(page.playwright, rule)
    blocked = ", ".join([*(action.patterns or ()), *(action.resource_types or ())])
    observed = f"{blocked} blocked on this page from now on (route {rule.route_id})"
    return {"routeId": rule.route_id, "observed": observed}


async def list_routes(page: BrowserPage, _: network.ListRoutes) -> Json:
    own: Json = {**page.settings.network.describe(), "initScripts": [*page.settings.init_scripts.shown()]}
    scripts = page.session.init_scripts.shown()
    return {**own, "sessionHeaders": [*page.session.headers], "sessionInitScripts": [*scripts]}


async def remove_routes(page: BrowserPage, action: network.RemoveRoutes) -> Json:
    removed = await page.settings.network.remove(page.playwright, action.route_ids)
    left = len(page.settings.network.rules)
    names = [rule.route_id for rule in removed]
    return {"removed": [*names], "observed": f"routes removed: {', '.join(names) or 'none'}; {left} left"}


async def set_extra_headers(page: BrowserPage, action: network.SetExtraHeaders) -> Json:
    await page.settings.network.set_headers(page.playwright, action.headers)
    names = ", ".join(action.headers) or "no extra headers"
    return {"observed": f"{names} sent with every request of this page from now on"}


async def set_session_headers(session: BrowserSession, action: network.SetSessionHeaders) -> Json:
    await session.entry.set_headers(action.headers)
    names = ", ".join(action.headers) or "no extra headers"
    return {"observed": f"{names} sent with every request of session {action.session_id} from now on"}


async def get_network_log(page: BrowserPage, action: network.GetNetworkLog) -> Json:
    view = _view(page, action)
    found = _matching_requests(page.settings.network.traffic.since(action.since or 0), action, view)
    records = [await _record(sent, action, view) for sent in found[-action.limit :]]
    facts: Json = {"count": len(records), "matching": len(found), **_hidden_note(page, action)}
    if action.format == "text":
        return {**await page.files.shown("log", "\n".join(map(_line, records)), action.budget), **facts}
    text = await page.files.shown("log", json.dumps(records, ensure_ascii=False), action.budget)
    return {**(text if "cursor" in text else {"requests": [*records]}), **facts}


async def wait_for_request(page: BrowserPage, action: network.WaitForRequest) -> Json:
    matches = _matcher(action, action.pattern, _view(page, action))
    return await _wait_for(page, action, lambda sent: sent.response is None and matches(sent))


async def wait_for_response(page: BrowserPage, action: network.WaitForResponse) -> Json:
    matches = _matcher(action, action.pattern, _view(page, action))

    def holds(sent: RequestRecord) -> bool:
        return sent.response is not None and matches(sent) and sent.has_status(action.status)

    return await _wait_for(page, action, holds, whole=action.include_bodies)


async def _wait_for(
    page: BrowserPage,
    action: network.WaitForRequest | network.WaitForResponse,
    holds: Callable[[RequestRecord], bool],
    *,
    whole: bool = False,
) -> Json:
    view, during = _view(page, action), action.during
    wait = RequestWait(
        action.name(), action.timeout, view, holds, until_finished=whole, armed_before_act=during is not None
    )
    async with page.settings.network.traffic.expect(wait) as arrival:
        done: Json = {"during": await page.do(during)} if during is not None else {}
        sent = await arrival()
    return {**await _record(sent, action, view), **done, **_hidden_note(page, action)}


async def export_har(page: BrowserPage, action: network.ExportHar) -> Json:
    pattern = UrlPattern(action.url_filter, "urlFilter") if action.url_filter else None
    view = _view(page, action)
    sent = [each for each in page.settings.network.traffic.since() if view.knows(each)]
    found = [each for each in sent if pattern is None or pattern.matches(each.url(view.client_id))]
    data, mime_type = await Archive(view, action.content, minimal=action.mode == "minimal").write(found)
    withheld = sum(not view.owns(each) for each in found)
    name = dated("requests", page.page_id) + (".har" if mime_type == "application/json" else "")
    counts: Json = {"count": len(found), "withheld": withheld}
    return {
        "artifact": await page.files.keep(data, mime_type, "requests", name),
        **counts,
        **_hidden_note(page, action),
    }


def _view(page: BrowserPage, action: network.LogDetails | network.ExportHar) -> RequestView:
    """Return what the caller may see of the page's requests."""
    secrets = action.include_secrets and not page.call.hides_cookies
    return RequestView(page.call.client_id, secrets, tuple(page.call.origins))


def _hidden_note(page: BrowserPage, action: network.LogDetails | network.ExportHar) -> Json:
    return hidden_note(page.call) if action.include_secrets else {}


def _matcher(
    action: network.GetNetworkLog | network.WaitForRequest | network.WaitForResponse,
    pattern: str | None,
    view: RequestView,
) -> Callable[[RequestRecord], bool]:
    """Match only what the client may see, so that it cannot guess the rest of an address by asking for it."""
    url = UrlPattern(pattern) if pattern else None

    def matches(sent: RequestRecord) -> bool:
        return (
            view.knows(sent)
            and (url is None or url.matches(sent.url(view.client_id)))
            and action.method in {None, sent.request.method}
            and (action.resource_types is None or sent.request.resource_type in action.resource_types)
        )

    return matches


def _matching_requests(
    sent: list[RequestRecord], action: network.GetNetworkLog, view: RequestView
) -> list[RequestRecord]:
    matches = _matcher(action, action.pattern, view)
    return [each for each in sent if matches(each) and each.has_status(action.status)]


async def _record(sent: RequestRecord, action: network.LogDetails, view: RequestView) -> Json:
    request = sent.request
    record: Json = {
        "number": sent.number,
        "time": iso(sent.started),
        "method": request.method,
        "url": sent.url(view.client_id),
        "type": request.resource_type,
        "status": sent.response.status if sent.response else None,
        "ms": sent.ms,
    }
    if sent.failure:
        record["failure"] = sent.failure
    if sent.mock:
        record["mock"] = sent.mock
    if (action.include_headers or action.include_bodies) and not view.owns(sent):
        record["withheld"] = "not sent while you held the page"
        return record
    if action.include_headers:
        record["requestHeaders"] = _join_headers(await view.request_headers(sent))
        record["responseHeaders"] = _join_headers(await view.response_headers(sent))
    if action.include_bodies:
        record["requestBody"] = await view.request_body(sent)
        record["responseBody"] = _body_text(await view.response_body(sent))
    return record


def _join_headers(headers: list[tuple[str, str]]) -> Json:
    """Join the values of a repeated header with line breaks."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}\n{value}" if name in joined else value
    return {**joined}


def _body_text(body: bytes | None) -> str | None:
    if body is None:
        return None
    try:
        return cut(codecs.getincrementaldecoder("utf-8")().decode(body[: MOST_BODY * 4 + BEYOND]), MOST_BODY)
    except ValueError:
        return f"({len(body)} bytes that are no text)"


def _line(record: Json) -> str:
    outcome = record["status"] or record.get("failure", "pending")
    took = f" {record['ms']} ms" if record["ms"] is not None else ""
    mock = f" (mock {record['mock']})" if "mock" in record else ""
    head = f"{record['number']} {record['method']} {outcome} {record['type']}{took}{mock} {record['url']}"
    details = [f"  {name}: {_detail_text(record[name])}" for name in _DETAILS if record.get(name)]
    return "\n".join([head, *details])


_DETAILS = ("requestHeaders", "requestBody", "responseHeaders", "responseBody", "withheld")


def _detail_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

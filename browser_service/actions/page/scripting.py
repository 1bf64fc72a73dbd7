"""Runs JavaScript in a page, and sends requests from it with its cookies."""

import base64
import json
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from browse_together.contract.actions import scripting
from browse_together.contract.cuts import cut
from browse_together.contract.errors import (
    BrowseError,
    Forbidden,
    NetworkError,
    ScriptExecutionFailed,
    ValidationFailed,
)
from browse_together.contract.json_lines import strict
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import quoted
from browse_together.contract.wire import FILE_BYTES, MAX_MESSAGE_BYTES, PDF
from browser_service.actions.support.secret_values import header_values
from browser_service.host import world
from browser_service.host.events import well_formed
from browser_service.host.handle.page import BrowserPage
from browser_service.host.handle.session import BrowserSession
from browser_service.host.network.act_requests import describe_pause
from browser_service.host.record.init_scripts import InitScripts
from browser_service.host.scripts import results, script
from browser_service.host.scripts.results import Result
from browser_service.host.sessions.cookie_values import may_read_cookies, without_values

_NO_REDIRECT: Final = "error"
"""A redirect would carry secret headers to whichever origin it leads."""
_WINDOW: Final = "() => window"
_FETCH: Final = script("fetch")
_FETCH_WITHIN: Final = script("fetch_within")
_FACTS: Final = results.bounded("answer => ({...answer, body: undefined})")
_PIECE: Final = results.bounded("(answer, [from, to]) => answer.body.slice(from, to)")
_MOST_BASE64: Final = FILE_BYTES // 3 * 4
_REACHABLE: Final = results.bounded(script("reachable"))
_NOT_SENT: Final = "Failed to execute 'fetch' on 'Window': "
_BODY_CHARACTERS: Final = 2_000
_PROBE_MS: Final = 2_000
_MOST_PARSED: Final = 200_000


async def evaluate_script(page: BrowserPage, action: scripting.EvaluateScript) -> Json:
    source, given = results.evaluation(action.expression, action.arg)
    if action.selector:
        element = await page.elements.find(action.selector, action.frame)
        answer = await element.evaluate(source, given, timeout=action.timeout)
    elif action.frame:
        frame = await page.elements.frame(action.frame, action.timeout)
        answer = await frame.evaluate(source, given)
    else:
        answer = await page.playwright.evaluate(source, given)
    result = results.received(answer)
    if page.call.hides_cookies and may_read_cookies(f"{action.expression} {action.arg}"):
        urls = [frame.url for frame in page.playwright.frames if frame.url.startswith("http")]
        result = result._replace(text=without_values(result.text, await page.playwright.context.cookies(urls)))
    return await _shown(page, result)


async def add_init_script(page: BrowserPage, action: scripting.AddInitScript) -> Json:
    script_id = await page.settings.init_scripts.add(page.playwright, action.script)
    return {"scriptId": script_id, "observed": f"{script_id} runs in each document of this page from the next one on"}


async def remove_init_scripts(page: BrowserPage, action: scripting.RemoveInitScripts) -> Json:
    removed = await page.settings.init_scripts.remove(action.script_ids)
    return _removal_reply(removed, page.settings.init_scripts)


async def add_session_init_script(session: BrowserSession, action: scripting.AddSessionInitScript) -> Json:
    if session.entry.profile:
        raise Forbidden(
            f"Session {action.session_id!r} is the shared login, in whose pages no script of one client runs for all.",
            hint=f"For one page: {next_call('add_init_script', page_id='...', script='...')}. Or in a session "
            "of your own: "
            f"{next_call('create_session')}.",
        )
    script_id = await session.entry.init_scripts.add(await session.context(), action.script)
    observed = f"{script_id} runs in each document of session {action.session_id} from the next one on"
    return {"scriptId": script_id, "observed": observed}


async def remove_session_init_scripts(session: BrowserSession, action: scripting.RemoveSessionInitScripts) -> Json:
    removed = await session.entry.init_scripts.remove(action.script_ids)
    return _removal_reply(removed, session.entry.init_scripts)


def _removal_reply(removed: list[str], scripts: InitScripts) -> Json:
    observed = f"init scripts removed: {', '.join(removed) or 'none'}; {len(scripts.texts)} left"
    return {"removed": [*removed], "observed": observed}


async def fetch(page: BrowserPage, action: scripting.Fetch) -> Json:
    url = urljoin(page.url, action.url)
    binary = action.response_type == "binary"
    init = action.request_init()
    sender = None
    if action.secret_names():
        sender = await world.hold(page.playwright, _WINDOW)  # so that no later document gets the headers
        init |= {"headers": {**await header_values(page, action, url)}, "redirect": _NO_REDIRECT}
    answer = await _answer(page, {"url": url, "init": init, "binary": binary, "timeout": action.timeout}, sender)
    if "error" in answer:
        raise await _network_error(page, action, url, answer)
    if answer["redirected"]:
        page.session.policy.check(answer["url"])
    if answer["status"] >= 400 or answer["status"] == 0:  # noqa: PLR2004 - from here on statuses are errors
        raise _http_error(url, answer)
    facts = {key: answer[key] for key in ("status", "statusText", "url", "headers", "redirected")}
    facts |= {"redirectedTo": answer["url"]} if answer["redirected"] else {}
    if "unknownCharset" in answer:
        facts["advice"] = f"its charset {quoted(answer['unknownCharset'])} is unknown: read as UTF-8"
    if answer.get("asBytes"):
        kind = answer["headers"].get("content-type", "application/octet-stream")
        data = b"".join(map(base64.b64decode, answer["pieces"]))
        artifact = await page.files.keep(data, kind, "fetched", searched=False)
        if kind.lower().startswith(PDF):
            cursor = f"{artifact['artifactId']}:0"
            facts["advice"] = f"a PDF; its text: {next_call('content', cursor=cursor)}"
        return {**facts, "artifact": artifact}
    if action.response_type == "json":
        return {**facts, "body": _parse_body(url, answer)}
    return {**facts, **await page.files.shown("body", answer["body"], None)}


async def _answer(
    page: BrowserPage, request: Json, sender: world.Held | None
) -> dict[str, Any]:  # Any: JSON, of a page
    """Have the page send a request, or exactly the document whose window is `sender`. The answer comes in pieces, so
    that a large one does not make other calls wait."""
    if sender is None:
        sent = await world.hold(page.playwright, _FETCH, request)
    else:
        sent = await sender.hold(_FETCH_WITHIN, request)
    answer = cast("dict[str, Any]", results.value_of(await sent.evaluate(_FACTS)))  # our script returns an object
    most = _MOST_BASE64 if answer.get("asBytes") else MAX_MESSAGE_BYTES
    found = await results.pieces(sent, _PIECE, answer.pop("size", 0), most)
    return {**answer, "body": well_formed("".join(found)), "pieces": found}


async def _shown(page: BrowserPage, result: Result) -> Json:
    """Return a script's result. A large one is cut like any text, and marked as JSON text."""
    if result.is_long:
        text = await page.files.shown("value", result.text, None)
        return {**text, "asText": f"JSON text, because of its {result.values:,} values"}
    value, cut = result.value(), {"cut": result.cut} if result.cut else {}
    text = await page.files.shown("value", json.dumps(value, ensure_ascii=False), None)
    return {**(text if "cursor" in text else {"value": value}), **cut}


_PHRASES: Final = frozenset(status.phrase for status in HTTPStatus)
"""The standard words for statuses; any others are the site's own."""


def _parse_body(url: str, answer: Json) -> JsonValue:
    body = str(answer["body"])
    try:
        value = cast("JsonValue", strict.loads(body.encode("utf-8", "replace"), _MOST_PARSED))  # it returns JSON
    except ValueError as error:
        raise ScriptExecutionFailed(
            f"{url} answered {answer['status']} with a body that is no JSON: {error}",
            hint='Ask for it as text: "responseType": "text".',
            details={"url": url, "context": {**_context(answer), "field": "responseType"}},
        ) from None
    return value


def _http_error(url: str, answer: dict[str, Any]) -> NetworkError:  # Any: JSON, of a page
    unreadable = {"opaque": "an opaque response (no-cors)", "opaqueredirect": 'a redirect ("redirect": "manual")'}
    said = str(answer["statusText"])
    phrase = said if said in _PHRASES else quoted(said) if said else ""
    answered = f"{answer['status']} {phrase}".strip()
    if answer["status"] == 0:
        answered = f"{unreadable.get(str(answer['type']), 'nothing')}, which scripts may not read"
    pause = describe_pause(answer["status"], answer["headers"])
    return NetworkError(f"{url} answered {answered}{pause}", details={"url": url, "context": _context(answer)})


async def _network_error(page: BrowserPage, action: scripting.Fetch, url: str, answer: Json) -> BrowseError:
    """Tell CORS from a dead host with a request that needs no permission: fetch() says "Failed to fetch" for both."""
    message = str(answer["error"])
    details: Json = {"url": url, "context": {"lastError": message}}
    if message.startswith(_NOT_SENT):
        return ValidationFailed(f"fetch cannot be sent: {message.removeprefix(_NOT_SENT)}", details=details)
    if answer["timedOut"]:
        return NetworkError(f"{url} did not answer within {action.timeout} ms.", details=details)
    foreign = urlsplit(url)[:2] != urlsplit(page.url)[:2]
    if foreign and results.value_of(
        await world.evaluate(page.playwright, _REACHABLE, {"url": url, "timeout": _PROBE_MS})
    ):
        return NetworkError(
            f"{url} may not be read from {page.url}: the server does not allow that origin (CORS).",
            hint="Fetch it from a page of its own site: open_page there, then fetch.",
            details=details,
        )
    refusals = [name for name in ("redirect", "integrity", "mode") if getattr(action, name)]
    return NetworkError(
        f"{url} could not be reached: {quoted(message)}",
        hint=f"Or its answer was refused by what you gave as {', '.join(refusals)}." if refusals else None,
        details=details,
    )


def _context(answer: Json) -> Json:
    return {
        "status": answer["status"],
        "headers": answer["headers"],
        "bodyStart": cut(str(answer.get("body", "")), _BODY_CHARACTERS),
    }

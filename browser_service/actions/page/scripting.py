"""Runs JavaScript in a page, and sends requests from it with its cookies."""

import base64
import json
import math
import re
from datetime import datetime
from typing import Final
from urllib.parse import ParseResult, urljoin, urlsplit

from pydantic import JsonValue

from browser_service.host.init_scripts import InitScripts
from browser_service.host.page.handle import BrowserPage
from browser_service.host.scripts import script
from browser_service.host.session_handle import BrowserSession
from shared.actions import scripting
from shared.errors import BrowseError, Forbidden, NetworkError, ScriptExecutionFailed, ValidationFailed
from shared.model import Json
from shared.next_calls import next_call
from shared.timestamps import iso

_FETCH: Final = script("fetch")
_REACHABLE: Final = script("reachable")
_NOT_SENT: Final = "Failed to execute 'fetch' on 'Window': "
_BODY_CHARACTERS: Final = 2_000
_PROBE_MS: Final = 2_000


async def evaluate_script(page: BrowserPage, action: scripting.EvaluateScript) -> Json:
    if action.selector:
        element = await page.element(action.selector, action.frame)
        value = await element.evaluate(action.expression, action.arg, timeout=action.timeout)
    elif action.frame:
        frame = await page.frame(action.frame, action.timeout)
        value = await frame.evaluate(action.expression, action.arg)
    else:
        value = await page.playwright.evaluate(action.expression, action.arg)
    return await _json_value(page, value)


async def add_init_script(page: BrowserPage, action: scripting.AddInitScript) -> Json:
    script_id = await page.settings.init_scripts.add(page.playwright, action.script)
    return {"scriptId": script_id, "observed": f"{script_id} runs in each document of this page from the next one on"}


async def remove_init_scripts(page: BrowserPage, action: scripting.RemoveInitScripts) -> Json:
    removed = await page.settings.init_scripts.remove(action.script_ids)
    if removed:
        page.undoable(f"{len(removed)} init scripts of page {page.page_id} removed", {"texts": {**removed}})
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
    if removed:
        session.undoable(f"{len(removed)} init scripts of session {action.session_id} removed", {"texts": {**removed}})
    return _removal_reply(removed, session.entry.init_scripts)


def _removal_reply(removed: dict[str, str], scripts: InitScripts) -> Json:
    observed = f"init scripts removed: {', '.join(removed) or 'none'}; {len(scripts.texts)} left"
    return {"removed": [*removed], "observed": observed}


async def fetch(page: BrowserPage, action: scripting.Fetch) -> Json:
    url = urljoin(page.url, action.url)
    binary = action.response_type == "binary"
    request = {"url": url, "init": action.request_init(), "binary": binary, "timeout": action.timeout}
    answer = await page.playwright.evaluate(_FETCH, request)
    if "error" in answer:
        raise await _network_error(page, action, url, answer)
    if answer["status"] >= 400 or answer["status"] == 0:  # noqa: PLR2004 - from here on statuses are errors
        raise _http_error(url, answer)
    facts = {key: answer[key] for key in ("status", "statusText", "url", "headers", "redirected")}
    facts |= {"redirectedTo": answer["url"]} if answer["redirected"] else {}
    if binary:
        kind = answer["headers"].get("content-type", "application/octet-stream")
        return {**facts, "artifact": await page.keep(base64.b64decode(answer["data"]), kind, "fetched")}
    if action.response_type == "json":
        return {**facts, "body": _parse_body(url, answer)}
    return {**facts, **await page.files.shown("body", answer["body"], None)}


async def _json_value(page: BrowserPage, value: object) -> Json:
    """Return a script's result; a large one is cut like any text, and marked as JSON text."""
    plain = _to_json(value)
    text = await page.files.shown("value", json.dumps(plain, ensure_ascii=False), None)
    return text if "cursor" in text else {"value": plain}


def _to_json(value: object, around: tuple[int, ...] = ()) -> JsonValue:
    """Convert a JavaScript value to JSON; what JSON cannot say is spelled as JavaScript prints it."""
    if id(value) in around:
        return "[Circular]"
    inside = (*around, id(value))
    if isinstance(value, dict):
        return {str(key): _to_json(item, inside) for key, item in value.items()}
    if isinstance(value, list):
        return [_to_json(item, inside) for item in value]
    return _scalar_to_json(value)


def _scalar_to_json(value: object) -> JsonValue:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/"
    return value.geturl() if isinstance(value, ParseResult) else str(value)


def _refuse_constant(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")


def _parse_body(url: str, answer: Json) -> Json:
    body = str(answer["body"])
    try:
        value: Json = json.loads(body, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ScriptExecutionFailed(
            f"{url} answered {answer['status']} with a body that is no JSON: {error}",
            hint='Ask for it as text: "responseType": "text".',
            details={"url": url, "context": {**_context(answer), "field": "responseType"}},
        ) from None
    return value


def _http_error(url: str, answer: Json) -> NetworkError:
    unreadable = {"opaque": "an opaque response (no-cors)", "opaqueredirect": 'a redirect ("redirect": "manual")'}
    answered = f"{answer['status']} {answer['statusText']}".strip()
    if answer["status"] == 0:
        answered = f"{unreadable.get(str(answer['type']), 'nothing')}, which scripts may not read"
    return NetworkError(f"{url} answered {answered}", details={"url": url, "context": _context(answer)})


async def _network_error(page: BrowserPage, action: scripting.Fetch, url: str, answer: Json) -> BrowseError:
    """Tell CORS from a dead host by a request that needs no permission: fetch() says "Failed to fetch" for both."""
    message = str(answer["error"])
    details: Json = {"url": url, "context": {"lastError": message}}
    if message.startswith(_NOT_SENT):
        return ValidationFailed(f"fetch cannot be sent: {message.removeprefix(_NOT_SENT)}", details=details)
    if answer["timedOut"]:
        return NetworkError(f"{url} did not answer within {action.timeout} ms.", details=details)
    foreign = urlsplit(url)[:2] != urlsplit(page.url)[:2]
    if foreign and await page.playwright.evaluate(_REACHABLE, {"url": url, "timeout": _PROBE_MS}):
        return NetworkError(
            f"{url} may not be read from {page.url}: the server does not allow that origin (CORS).",
            hint="Fetch it from a page of its own site: open_page there, then fetch.",
            details=details,
        )
    refusals = [name for name in ("redirect", "integrity", "mode") if getattr(action, name)]
    return NetworkError(
        f"{url} could not be reached: {message}",
        hint=f"Or its answer was refused by what you gave as {', '.join(refusals)}." if refusals else None,
        details=details,
    )


def _context(answer: Json) -> Json:
    return {
        "status": answer["status"],
        "headers": answer["headers"],
        "bodyStart": str(answer.get("body", ""))[:_BODY_CHARACTERS],
    }

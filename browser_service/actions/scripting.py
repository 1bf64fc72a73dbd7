"""Running JavaScript in a page, and requests sent from it with its cookies."""

import base64
import json
from typing import Final

from browser_service.browser.page import BrowserPage
from shared.actions import scripting
from shared.calls import Json
from shared.errors import NetworkError, ScriptExecutionFailed

_FETCH: Final = """async ({url, init, binary, timeout}) => {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeout);
  try {
    const response = await fetch(url, {...init, signal: stop.signal});
    const found = {
      status: response.status, statusText: response.statusText, url: response.url, type: response.type,
      redirected: response.redirected, headers: Object.fromEntries(response.headers), timedOut: false,
    };
    if (!binary || !response.ok) return {...found, body: await response.text()};
    const blob = await response.blob();
    const data = await new Promise((done, fail) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.onerror = () => fail(reader.error);
      reader.readAsDataURL(blob);
    });
    return {...found, data: data.slice(data.indexOf(',') + 1)};
  } catch (error) {
    return {error: String(error.message || error), timedOut: stop.signal.aborted};
  } finally {
    clearTimeout(timer);
  }
}"""
_REACHABLE: Final = """async ({url, timeout}) => {
  try {
    await fetch(url, {mode: 'no-cors', credentials: 'omit', method: 'HEAD', signal: AbortSignal.timeout(timeout)});
    return true;
  } catch { return false; }
}"""
_BODY_START: Final = 2_000
_PROBE_MS: Final = 2_000


async def evaluate_script(page: BrowserPage, action: scripting.EvaluateScript) -> Json:
    if action.selector:
        element = await page.element(action.selector, action.frame)
        value = await element.evaluate(action.expression, action.arg, timeout=action.timeout)
    elif action.frame:
        frame = await page.frame(action.frame, action.timeout)
        value = await frame.evaluate(action.expression, action.arg)
    else:
        value = await page.live.evaluate(action.expression, action.arg)
    return await _json_value(page, value)


async def fetch(page: BrowserPage, action: scripting.Fetch) -> Json:
    binary = action.response_type == "binary"
    asked = {"url": action.url, "init": action.request_init(), "binary": binary, "timeout": action.timeout}
    answer = await page.live.evaluate(_FETCH, asked)
    if "error" in answer:
        raise await _unreachable(page, action, answer)
    if answer["status"] >= 400 or answer["status"] == 0:  # noqa: PLR2004 - HTTP
        raise _http_error(action, answer)
    facts = {key: answer[key] for key in ("status", "statusText", "url", "headers", "redirected")}
    if binary:
        kind = answer["headers"].get("content-type", "application/octet-stream")
        return {**facts, "artifact": await page.keep(base64.b64decode(answer["data"]), kind)}
    if action.response_type == "json":
        return {**facts, "body": _parsed(action, answer)}
    return {**facts, **await page.shown("body", answer["body"], None)}


async def _json_value(page: BrowserPage, value: object) -> Json:
    """A script's result; a large one is cut like any text, and said to be JSON text then."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = json.dumps(value, ensure_ascii=False, default=str)
    cut = await page.shown("value", text, None)
    return cut if "cursor" in cut else {"value": json.loads(text)}


def _parsed(action: scripting.Fetch, answer: Json) -> Json:
    body = str(answer["body"])
    try:
        value: Json = json.loads(body)
    except ValueError as error:
        raise ScriptExecutionFailed(
            f"{action.url} answered {answer['status']} with a body that is no JSON: {error}",
            hint='Ask for it as text: "responseType": "text".',
            details={"url": action.url, "context": {**_context(answer), "field": "responseType"}},
        ) from None
    return value


def _http_error(action: scripting.Fetch, answer: Json) -> NetworkError:
    said = f"{answer['status']} {answer['statusText']}".strip()
    if answer["status"] == 0:
        said = f"an opaque {answer['type']} response, which scripts may not read"
    return NetworkError(f"{action.url} answered {said}", details={"url": action.url, "context": _context(answer)})


async def _unreachable(page: BrowserPage, action: scripting.Fetch, answer: Json) -> NetworkError:
    """fetch() says "Failed to fetch" for everything; a request that needs no permission tells CORS from a dead host."""
    details: Json = {"url": action.url, "context": {"lastError": answer["error"]}}
    if answer["timedOut"]:
        return NetworkError(f"{action.url} did not answer within {action.timeout} ms.", details=details)
    probe = {"url": action.url, "timeout": _PROBE_MS}
    if await page.live.evaluate(_REACHABLE, probe):
        return NetworkError(
            f"{action.url} may not be read from {page.live.url}: the server does not allow that origin (CORS).",
            hint="Fetch it from a page of its own site: open_page there, then fetch.",
            details=details,
        )
    return NetworkError(f"{action.url} could not be reached: {answer['error']}", details=details)


def _context(answer: Json) -> Json:
    return {
        "status": answer["status"],
        "headers": answer["headers"],
        "bodyStart": str(answer.get("body", ""))[:_BODY_START],
    }

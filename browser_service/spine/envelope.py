"""Builds the envelope, the one shape of all replies and errors."""

from browse_together.contract.calls import Outcome
from browse_together.contract.errors import ErrorBody
from browse_together.contract.model import Json, weight
from browser_service.clients.listing import page_block
from browser_service.rules.quotas import retry_after
from browser_service.security.urls import abridged
from browser_service.spine.call import FrontCall
from browser_service.spine.register import Record, Reply


def reply_of(call: FrontCall, outcome: Outcome) -> Reply:
    """Return the reply to a call. If a dialog suspended the call, its reply can also make the final one."""
    page = page_block(outcome.page, call.client_id).model_dump(mode="json") if outcome.page else None
    finish = (lambda last: reply_of(call, last)) if outcome.suspended else None
    if outcome.error is not None:
        return failed(_with_details(outcome.error, call, outcome), page=page)
    result = outcome.result or {}
    return Reply(200, {"success": True, "result": result, "page": page}, size=weight(result), finish=finish)


def failed(error: ErrorBody, *, page: Json | None = None) -> Reply:
    fields = error.model_dump(mode="json", by_alias=True, exclude={"status"}, exclude_none=True)
    body: dict[str, object] = {"success": False, "error": fields, "page": page, "notices": []}
    return Reply(error.status, body, error=error, retry_after_s=retry_after(error))


def still_running(record: Record) -> Reply:
    """Return the reply that a call is still running; get_call reads its outcome later."""
    result: Json = {"callId": record.call_id, **running(record)}
    return Reply(200, {"success": True, "result": result, "page": None})


def running(record: Record) -> Json:
    """Return what a reply says of a call that still runs."""
    paused: Json = {"paused": record.paused} if record.paused else {}
    return {"stillRunning": True, "elapsedMs": record.elapsed_ms, **paused}


def _with_details(error: ErrorBody, call: FrontCall, outcome: Outcome) -> ErrorBody:
    """Return the error with the known details: tool (as it was called), sessionId, selector, url."""
    details: Json = {"tool": str(call.body["action"])}
    if outcome.page is not None:
        details |= {"sessionId": outcome.page.session_id, "url": abridged(outcome.page.shown_url)}
    if selector := call.action.aim.selector:
        details["selector"] = selector
    hint = call.action.hints.get(error.code, error.hint)
    known = {"details": {**details, **error.details}, "hint": hint, "request_id": call.request_id}
    return error.model_copy(update=known)

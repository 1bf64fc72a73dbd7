"""Gives clients that take tasks (an extension of MCP) their long calls as such.

A task is a view of the service's call of the same id, so it outlives the gateway that gave it: any gateway of the same
chat finds it again. Of what the service cannot tell by then, that gateway tells what it knows.
"""

import asyncio
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field, JsonValue, ValidationError

from browse_together.client import unavailable
from browse_together.client.http import UNREACHED
from browse_together.client.reply import Failure, Reply
from browse_together.contract import catalogue
from browse_together.contract.actions.people import RequestHuman
from browse_together.contract.errors import BrowseError, CallNotFound, Cancelled
from browse_together.contract.events import CallFollowed
from browse_together.contract.model import Json
from browse_together.contract.replies import ForModel
from browse_together.contract.wire import CALL_ID_PATTERN
from mcp_gateway import results
from mcp_gateway.chats import Asker, Chat

EXTENSION: Final = "io.modelcontextprotocol/tasks"
OPEN: Final = frozenset({"working", "input_required"})
"""The states of a task that has not ended."""
_REPLIES_WITHIN_S: Final = 1.0
"""A reply that comes sooner is worth no task."""
_POLL_MS: Final = 1_000
_GONE: Final = (
    "If there was one, it ended long ago, or with the service, which was started anew; what it did by then stays."
)
_PERSON_WITHIN_MS: Final = 1_800_000


class TaskParams(protocol.RequestParams):
    """The parameters of a request about a task."""

    task_id: str = Field(pattern=CALL_ID_PATTERN)


class UpdateParams(TaskParams):
    """The answers of the client's person to a task's questions, by the questions' keys."""

    input_responses: protocol.InputResponses


def takes_tasks(ctx: Context) -> bool:
    """Return whether the client of a request takes tasks. Protocol revisions with a handshake have none."""
    capabilities = ctx.session.client_capabilities
    declared = capabilities.extensions if capabilities else None
    return EXTENSION in (declared or {}) and ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS


def check(ctx: Context) -> None:
    """Raise the protocol's error for a client that asks about a task and has not said that it takes tasks."""
    if not takes_tasks(ctx):
        data: Json = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        problem = f"Only clients that declare {EXTENSION} may ask about tasks"
        raise MCPError(protocol.MISSING_REQUIRED_CLIENT_CAPABILITY, problem, data)


def may_be_task(ctx: Context, body: Json) -> bool:
    """Return whether a call may go on for so long that it becomes a task."""
    return takes_tasks(ctx) and catalogue.NAMES[str(body["action"])].action.lasts


async def begin(ctx: Context, chat: Chat, body: Json, form: ForModel) -> Reply | Json:
    """Return the reply to a call, or, if it takes longer, the call as a task. There is none before the service has
    heard of the call. A task waits for a person for as long as people take, and reports no progress but its status."""
    asked = Asker.of(ctx)
    asker = asked._replace(call_id=asked.call_id or uuid4().hex, report_progress=_report_to_nobody)
    body = {"timeout": _PERSON_WITHIN_MS, **body} if body["action"] == RequestHuman.name() else body
    reply = chat.begun.spawn(chat.call(asker, body, form))
    try:
        while not (await asyncio.wait({reply}, timeout=_REPLIES_WITHIN_S))[0]:
            try:
                followed = _followed(await chat.service.reply_to(asker.call_id))
            except (*UNREACHED, BrowseError):
                continue
            if followed is not None and not followed.has_replied:
                chat.begun.keep(followed, reply)
                return {"resultType": "task", **_task(followed, "working")}
    except asyncio.CancelledError:
        reply.cancel()
        raise
    return reply.result()


async def get(ctx: Context, chat: Chat, form: ForModel, params: TaskParams) -> Json:
    """Return how far a task is, with its result once it has ended."""
    reply, call = await _found(chat, params, form)
    if not call.has_replied:
        questions = chat.elicitation.questions(ctx, call.request)
        if not questions:
            return _task(call, "working")
        asked: Json = {key: _dumped(question) for key, question in questions.items()}
        return _task(call, "input_required", inputRequests=asked)
    if reply.error is not None and reply.error.code == Cancelled.code:
        return _task(call, "cancelled", reply.error.message)
    try:
        result = results.tool_result(results.model_reply(reply, call.action, form), is_error=not reply.success)
    except MCPError as error:
        return _task(call, "failed", error.error.message, error=_dumped(error.error))
    return _task(call, "completed", result=_dumped(result))


async def update(ctx: Context, chat: Chat, __: ForModel, params: UpdateParams) -> Json:
    """Pass on what the client's person answered. Raises MCPError for an answer that does not fit its question, which
    stays open. Answers to other questions are ignored."""
    _, call = await _found(chat, params)
    for key, question in chat.elicitation.questions(ctx, call.request).items():
        answer = params.input_responses.get(key)
        if not isinstance(answer, protocol.ElicitResult):
            continue
        if problem := await chat.elicitation.answer(key, question, answer):
            raise MCPError(protocol.INVALID_PARAMS, f"inputResponses.{key}: {problem}")
    return {}


async def cancel(_: Context, chat: Chat, __: ForModel, params: TaskParams) -> Json:
    """Have a task's call stop. It may be over first."""
    await _found(chat, params)
    if not chat.begun.cancel(params.task_id):
        chat.service.cancel(params.task_id)
    return {}


async def _report_to_nobody(_: float, __: float | None, ___: str) -> None:
    """Report no progress: a task's request is answered, and its client asks for its status."""


async def _found(chat: Chat, params: TaskParams, form: ForModel | None = None) -> tuple[Reply, CallFollowed]:
    """Return the reply to a task's call as far as there is one, and how far the call is. Raises MCPError if there is no
    such call."""
    try:
        reply = await chat.service.reply_to(params.task_id, form)
    except (*UNREACHED, BrowseError) as error:
        failure = error if isinstance(error, BrowseError) else unavailable.not_running(chat.service.url, str(error))
        reply = Reply(success=False, error=Failure.from_error(failure))
    if (call := _followed(reply)) is not None:
        chat.service.people_url = call.people_url or chat.service.url
        return reply, call
    if (told := chat.begun.told(params.task_id)) is not None:
        return told
    if reply.error is not None and reply.error.code != CallNotFound.code:
        raise results.host_error("tasks", reply.error)
    raise MCPError(protocol.INVALID_PARAMS, f"There is no task {params.task_id!r} of this chat. {_GONE}")


def _followed(reply: Reply) -> CallFollowed | None:
    try:
        return CallFollowed.model_validate((reply.model_extra or {}).get("call"), extra="ignore")
    except ValidationError:
        return None


def _task(call: CallFollowed, status: str, message: str = "", **more: JsonValue) -> Json:
    ended_at = call.began_at + call.elapsed_ms / 1000
    return {
        "taskId": call.call_id,
        "status": status,
        "statusMessage": message or (f"{call.action}: {call.progress}" if not call.has_replied else call.action),
        "createdAt": _iso(call.began_at),
        "lastUpdatedAt": _iso(ended_at),
        "ttlMs": call.elapsed_ms + call.kept_ms if call.has_replied else None,
        "pollIntervalMs": _POLL_MS,
        **more,
    }


def _dumped(message: BaseModel) -> Json:
    return message.model_dump(by_alias=True, mode="json", exclude_none=True)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")

"""Asking the person in the chat, where the client shows forms: one more way to answer what agents ask people for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from mcp_gateway.convert import Reply
from mcp_gateway.forward import Service
from mcp_gateway.front import HANDSHAKE_VERSIONS
from mcp_gateway.presence import OnPerson
from shared.calls import HumanRequest, Json

_PATIENCE_S: Final = 1_800
_KEY: Final = "person"
_PENDING: Final = "pending"
_ANSWER: Final = {"code": "The code, if it is not typed into the page", "decision": "Your decision"}

log = structlog.get_logger()


class Asking:
    """The service stays the authority: another person may answer first, and the form is withdrawn."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._forms: dict[str, asyncio.Task[None]] = {}
        self._left: set[asyncio.Future[Reply]] = set()

    async def answered(self, params: CallToolRequestParams) -> Json:
        """What a repeated call brings of the person: passed on, and how the call reads on in its request."""
        if params.request_state is None or params.input_responses is None:
            return {}
        answer = params.input_responses.get(_KEY)
        if isinstance(answer, ElicitResult):
            await self._service.resolve(params.request_state, _resolution(answer))
        return {"requestId": params.request_state}

    async def beside(
        self, ctx: ServerRequestContext, params: CallToolRequestParams, call: Callable[[OnPerson], Awaitable[Reply]]
    ) -> Reply | InputRequiredResult:
        """The reply of a call. While it waits for a person, the one in this chat is asked."""
        if not _shows_forms(ctx) or params.input_responses is not None:
            return await call(lambda _: None)
        if ctx.protocol_version not in HANDSHAKE_VERSIONS:
            return await self._until_asked(call)
        reply = await call(lambda request: self._show(ctx, request))
        if reply.result.get("state", _PENDING) != _PENDING and (
            form := self._forms.get(str(reply.result.get("requestId")))
        ):
            form.cancel()
        return reply

    async def _until_asked(self, call: Callable[[OnPerson], Awaitable[Reply]]) -> Reply | InputRequiredResult:
        """The later revisions have no requests to the client: the call is answered with a form, and comes again."""
        asked: asyncio.Future[HumanRequest] = asyncio.get_running_loop().create_future()
        running = asyncio.ensure_future(call(lambda request: None if asked.done() else asked.set_result(request)))
        both: set[asyncio.Future[Any]] = {asked, running}  # Any: of two kinds
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if running.done():
            return running.result()
        self._left.add(running)
        running.add_done_callback(self._left.discard)
        request = asked.result()
        form = ElicitRequest(
            params=ElicitRequestFormParams(message=_message(request), requested_schema=_schema(request))
        )
        return InputRequiredResult(input_requests={_KEY: form}, request_state=request.request_id)

    def _show(self, ctx: ServerRequestContext, request: HumanRequest) -> None:
        if request.request_id not in self._forms:
            form = asyncio.create_task(self._ask(ctx, request))
            self._forms[request.request_id] = form
            form.add_done_callback(lambda _: self._forms.pop(request.request_id, None))

    async def _ask(self, ctx: ServerRequestContext, request: HumanRequest) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await ctx.session.elicit_form(
                    _message(request), _schema(request), related_request_id=ctx.request_id
                )
        except (MCPError, TimeoutError) as error:
            log.info("the client showed no form", request=request.request_id, reason=type(error).__name__)
            return
        await self._service.resolve(request.request_id, _resolution(answer))


def _shows_forms(ctx: ServerRequestContext) -> bool:
    """A client that says no more than `elicitation` has forms."""
    capabilities = ctx.session.client_capabilities
    can = capabilities.elicitation if capabilities else None
    return can is not None and (can.form is not None or can.url is None)


def _message(request: HumanRequest) -> str:
    what = f"An agent asks for {request.what}, on page {request.page_id}: {request.message}"
    if request.kind != "login":
        return what
    return f"{what}\nSign in on that page of the shared browser, then accept."


def _schema(request: HumanRequest) -> dict[str, Any]:  # Any: the SDK's type of a schema
    """A flat object, as clients can show it. Nobody is asked for a password."""
    if request.kind == "login":
        return {"type": "object", "properties": {}}
    answer: dict[str, Any] = {"type": "string", "title": _ANSWER.get(request.kind, "Your answer, if there is one")}
    if request.choices:
        answer["enum"] = request.choices
    required = {"required": ["answer"]} if request.kind == "decision" else {}
    return {"type": "object", "properties": {"answer": answer}, **required}


def _resolution(answer: ElicitResult) -> dict[str, str]:
    if answer.action == "accept":
        return {"state": "done", "answer": str((answer.content or {}).get("answer") or "")}
    return {"state": "refused", "reason": "It was declined in the chat."}

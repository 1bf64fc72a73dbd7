"""Asking the person in the chat, by a form or a link: one more way to answer what agents ask people for."""

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Final

import structlog
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
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


class Way(StrEnum):
    """How a client shows its person what is asked."""

    FORM = "form"
    LINK = "link"


class Asking:
    """The service stays the authority: another person may answer first, and the form is withdrawn."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._forms: dict[str, asyncio.Task[None]] = {}
        self._links: set[str] = set()
        self._left: set[asyncio.Future[Reply]] = set()

    async def answered(self, params: CallToolRequestParams) -> Json:
        """What a repeated call brings of the person: passed on, and how the call reads on in its request."""
        if params.request_state is None or params.input_responses is None:
            return {}
        way, _, request_id = params.request_state.partition(":")
        answer = params.input_responses.get(_KEY)
        if isinstance(answer, ElicitResult):
            await self._resolve(Way(way), request_id, answer)
        return {"requestId": request_id}

    async def beside(
        self, ctx: ServerRequestContext, params: CallToolRequestParams, call: Callable[[OnPerson], Awaitable[Reply]]
    ) -> Reply | InputRequiredResult:
        """The reply of a call. While it waits for a person, the one in this chat is asked."""
        ways = _ways(ctx)
        if not ways or params.input_responses is not None:
            return await call(lambda _: None)
        if ctx.protocol_version not in HANDSHAKE_VERSIONS:
            return await self._until_asked(ways, call)
        reply = await call(lambda request: self._show(ctx, _way(ways, request), request))
        if reply.result.get("state", _PENDING) != _PENDING:
            await self._over(ctx, str(reply.result.get("requestId")))
        return reply

    async def _over(self, ctx: ServerRequestContext, request_id: str) -> None:
        """Whoever answered: nothing more is to be shown."""
        if form := self._forms.get(request_id):
            form.cancel()
        if request_id in self._links:
            self._links.discard(request_id)
            await ctx.session.send_elicit_complete(request_id, related_request_id=ctx.request_id)

    async def _until_asked(
        self, ways: frozenset[Way], call: Callable[[OnPerson], Awaitable[Reply]]
    ) -> Reply | InputRequiredResult:
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
        way = _way(ways, request)
        params: ElicitRequestFormParams | ElicitRequestURLParams = ElicitRequestFormParams(
            message=_message(request), requested_schema=_schema(request)
        )
        if way is Way.LINK:
            params = ElicitRequestURLParams(message=_message(request), url=self._link(request))
        return InputRequiredResult(
            input_requests={_KEY: ElicitRequest(params=params)}, request_state=f"{way}:{request.request_id}"
        )

    def _show(self, ctx: ServerRequestContext, way: Way, request: HumanRequest) -> None:
        if request.request_id not in self._forms and request.request_id not in self._links:
            form = asyncio.create_task(self._ask(ctx, way, request))
            self._forms[request.request_id] = form
            form.add_done_callback(lambda _: self._forms.pop(request.request_id, None))

    async def _ask(self, ctx: ServerRequestContext, way: Way, request: HumanRequest) -> None:
        message, session = _message(request), ctx.session
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if way is Way.LINK:
                    self._links.add(request.request_id)
                    answer = await session.elicit_url(message, self._link(request), request.request_id, ctx.request_id)
                else:
                    answer = await session.elicit_form(message, _schema(request), related_request_id=ctx.request_id)
        except (MCPError, TimeoutError) as error:
            log.info("the client asked nobody", request=request.request_id, reason=type(error).__name__)
            return
        await self._resolve(way, request.request_id, answer)

    async def _resolve(self, way: Way, request_id: str, answer: ElicitResult) -> None:
        """Who follows a link answers behind it."""
        if way is Way.FORM or answer.action != "accept":
            await self._service.resolve(request_id, _resolution(answer))

    def _link(self, request: HumanRequest) -> str:
        return self._service.settings.url + request.link


def _ways(ctx: ServerRequestContext) -> frozenset[Way]:
    """A client that says no more than `elicitation` has forms."""
    capabilities = ctx.session.client_capabilities
    can = capabilities.elicitation if capabilities else None
    if can is None:
        return frozenset()
    links = {Way.LINK} if can.url is not None else set[Way]()
    return frozenset(links | ({Way.FORM} if can.form is not None or not links else set()))


def _way(ways: frozenset[Way], request: HumanRequest) -> Way:
    """A code passes the chat by, where it can."""
    return Way.LINK if Way.LINK in ways and (request.kind == "code" or Way.FORM not in ways) else Way.FORM


def _message(request: HumanRequest) -> str:
    what = f"An agent asks for {request.what}, on page {request.page_id}: {request.message}"
    if request.kind != "login":
        return what
    return f"{what}\nSign in on that page of the shared browser, then accept."


def _schema(request: HumanRequest) -> dict[str, Any]:  # Any: the SDK's type of a schema
    """A flat object, as clients can show it. Nobody is asked for a password."""
    if request.kind == "login":
        return {"type": "object", "properties": {}}
    title = _ANSWER.get(request.kind, "Your answer, if there is one")
    answer: dict[str, str | list[str]] = {"type": "string", "title": title}
    if request.choices:
        answer["enum"] = request.choices
    required = {"required": ["answer"]} if request.kind == "decision" else {}
    return {"type": "object", "properties": {"answer": answer}, **required}


def _resolution(answer: ElicitResult) -> dict[str, str]:
    if answer.action == "accept":
        return {"state": "done", "answer": str((answer.content or {}).get("answer") or "")}
    return {"state": "refused", "reason": "It was declined in the chat."}

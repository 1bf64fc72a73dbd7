"""Asks the person in a chat by a form or a link: one more way to answer agents' requests to people.

The chat's host shows the form to its person, and is trusted with this: what comes back counts as the person's answer.
The gateway proves it with a key for this one request, made from the account's secret; the chat's own token is not
enough, because an agent may know it. A gateway with a given token asks nobody in the chat.
"""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple

import structlog
from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from browse_together.client.http import ServiceClient
from browse_together.client.reply import Reply
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.pages import HumanRequestState
from browse_together.contract.wire import request_path

_ANSWER_WITHIN_S: Final = 1_800
_KEY: Final = "person"
_STATE: Final = re.compile(r"(form|link):([\w-]+):(\d)")
_REMEMBERED: Final = 200
_MAX_SHOWN: Final = 3
"""How often a form is shown if its answer is invalid."""

OnHumanRequest = Callable[[HumanRequestState], None]
Call = Callable[[OnHumanRequest], Awaitable[Reply]]
QuestionParams = protocol.ElicitRequestFormParams | protocol.ElicitRequestURLParams

log = structlog.get_logger()


class Response(NamedTuple):
    """The person's answer in a repeated call; empty for a first call."""

    request_id: str = ""
    times_shown: int = 0
    problem: str = ""

    @property
    def may_ask(self) -> bool:
        return self.times_shown == 0 or (bool(self.problem) and self.times_shown < _MAX_SHOWN)


class Waiting(NamedTuple):
    """A call in progress while its person is asked, and its requests."""

    reply: asyncio.Future[Reply]
    requests: asyncio.Queue[HumanRequestState]


class Elicitation:
    """The questions to the person in one chat. If another person answers first, the form is withdrawn."""

    def __init__(self, service: ServiceClient) -> None:
        self._service = service
        self._forms: dict[str, asyncio.Task[None]] = {}
        self._links: deque[str] = deque(maxlen=_REMEMBERED)
        self._shown: deque[str] = deque(maxlen=_REMEMBERED)
        self._waiting: dict[str, tuple[Waiting, HumanRequestState]] = {}
        """By request id, the calls that their client will repeat with the person's answer."""

    async def call(
        self,
        ctx: Context,
        params: protocol.CallToolRequestParams,
        body: Json,
        send: Callable[[Json, OnHumanRequest], Awaitable[Reply]],
    ) -> Reply | protocol.InputRequiredResult:
        """Return the reply to a call. While it waits for a person, ask the one in this chat."""
        response = await self._response(params)
        call = partial(send, _reading_on(body, response))
        capability = _capability(ctx)
        waiting = self._waiting.get(response.request_id)
        if waiting is not None and not response.problem:
            return await self._reply_of(waiting[0])
        if capability is None or not response.may_ask or self._service.credentials.are_given:
            return await call(lambda _: None)
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return await self._reply_or_question(capability, response, call)
        reply = await call(lambda request: self._show(ctx, capability, request))
        if answered := (reply.rendered or {}).get("answered"):
            await self._withdraw(ctx, str(answered))
        return reply

    def questions(self, ctx: Context, request: HumanRequestState | None) -> dict[str, protocol.ElicitRequest]:
        """Return the question to the person in this chat, under its request's id, if there is one and the chat's client
        can ask it."""
        capability = _capability(ctx)
        if request is None or capability is None or self._service.credentials.are_given:
            return {}
        question = self._question(capability, request, "", has_link_id=False)
        return {request.request_id: protocol.ElicitRequest(params=question)}

    async def answer(self, request_id: str, question: protocol.ElicitRequest, answer: protocol.ElicitResult) -> str:
        """Pass an answer to a question on to the service. Returns why it is invalid, or ""."""
        by_link = isinstance(question.params, protocol.ElicitRequestURLParams)
        return await self._resolve(request_id, answer, by_link=by_link)

    async def _response(self, params: protocol.CallToolRequestParams) -> Response:
        """Return a repeated call's answer, after passing it on to the service."""
        state = _STATE.fullmatch(params.request_state or "")
        if state is None or params.input_responses is None:
            return Response()
        mode, request_id, times_shown = state.groups()
        answer, problem = params.input_responses.get(_KEY), ""
        if isinstance(answer, protocol.ElicitResult):
            problem = await self._resolve(request_id, answer, by_link=mode == "link")
        return Response(request_id, int(times_shown), problem)

    async def _reply_or_question(
        self, capability: protocol.ElicitationCapability, response: Response, call: Call
    ) -> Reply | protocol.InputRequiredResult:
        """Return the reply, or a question if the call waits for a person. Later protocol revisions have no requests to
        the client: it repeats its call with the answer."""
        waiting = self._asked_again(response) or self._begin(call)
        request = asyncio.ensure_future(waiting.requests.get())
        try:
            await asyncio.wait((request, waiting.reply), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            waiting.reply.cancel()
            raise
        if not request.done():
            request.cancel()
            return waiting.reply.result()
        asked = request.result()
        self._waiting[asked.request_id] = waiting, asked
        waiting.reply.add_done_callback(lambda _: self._waiting.pop(asked.request_id, None))
        question = self._question(capability, asked, response.problem, has_link_id=False)
        mode = "form" if isinstance(question, protocol.ElicitRequestFormParams) else "link"
        return protocol.InputRequiredResult(
            input_requests={_KEY: protocol.ElicitRequest(params=question)},
            request_state=f"{mode}:{asked.request_id}:{response.times_shown + 1}",
        )

    def _begin(self, call: Call) -> Waiting:
        requests = asyncio.Queue[HumanRequestState]()
        return Waiting(asyncio.ensure_future(call(requests.put_nowait)), requests)

    def _asked_again(self, response: Response) -> Waiting | None:
        """Return the call whose question is asked again, if the call still waits."""
        if (found := self._waiting.get(response.request_id)) is None:
            return None
        waiting, request = found
        waiting.requests.put_nowait(request)
        return waiting

    @staticmethod
    async def _reply_of(waiting: Waiting) -> Reply:
        """Return the reply to a call after its answer. If the repeated call is cancelled, so is the first."""
        try:
            return await asyncio.shield(waiting.reply)
        except asyncio.CancelledError:
            waiting.reply.cancel()
            raise

    def _show(self, ctx: Context, capability: protocol.ElicitationCapability, request: HumanRequestState) -> None:
        """Show a request once in this chat, however often the service reports that it waits."""
        if request.request_id in self._shown:
            return
        self._shown.append(request.request_id)
        form = asyncio.create_task(self._ask(ctx, capability, request))
        self._forms[request.request_id] = form
        form.add_done_callback(lambda _: self._forms.pop(request.request_id, None))

    async def _ask(self, ctx: Context, capability: protocol.ElicitationCapability, request: HumanRequestState) -> None:
        problem, metadata = "", ServerMessageMetadata(related_request_id=ctx.request_id)
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                for _ in range(_MAX_SHOWN):
                    params = self._question(capability, request, problem, has_link_id=True)
                    by_link = isinstance(params, protocol.ElicitRequestURLParams)
                    if by_link:
                        self._links.append(request.request_id)
                    question = protocol.ElicitRequest(params=params)
                    answer = await ctx.session.send_request(question, protocol.ElicitResult, metadata=metadata)
                    problem = await self._resolve(request.request_id, answer, by_link=by_link)
                    if not problem:
                        return
        except (MCPError, TimeoutError) as error:
            log.info("the client asked nobody", request=request.request_id, reason=type(error).__name__)

    async def _withdraw(self, ctx: Context, request_id: str) -> None:
        """Withdraw the form or link of a request that somebody has answered."""
        if form := self._forms.get(request_id):
            form.cancel()
        if request_id in self._links:
            self._links.remove(request_id)
            await ctx.session.send_elicit_complete(request_id, related_request_id=ctx.request_id)

    async def _resolve(self, request_id: str, answer: protocol.ElicitResult, *, by_link: bool) -> str:
        """Pass an answer on to the service. Returns why it is invalid, or "". A link is answered on its own page."""
        resolution = {"state": "refused", "reason": "It was declined in the chat."}
        if answer.action == "accept":
            if by_link:
                return ""
            resolution = {"state": "done", "answer": str((answer.content or {}).get("answer") or "")}
        failure = await self._service.resolve(request_id, resolution)
        if failure is None:
            return ""
        log.info("an answer came too late or does not fit", request=request_id, code=failure.code)
        return failure.message if failure.code == ValidationFailed.code else ""

    def _question(
        self,
        capability: protocol.ElicitationCapability,
        request: HumanRequestState,
        problem: str,
        *,
        has_link_id: bool,
    ) -> QuestionParams:
        """Make the question as a form or a link. `problem` says what was wrong with the last answer. Codes and tabs
        are asked for by link if the client supports links. A client that declares only `elicitation` supports forms."""
        message, has_links = request.question(problem), capability.url is not None
        if has_links and (request.kind in {"code", "tab"} or capability.form is None):
            key = self._service.credentials.person_key(request.request_id)
            link = self._service.people_url + request_path(request.request_id, key)
            link_id = request.request_id if has_link_id else None
            return protocol.ElicitRequestURLParams(message=message, url=link, elicitation_id=link_id)
        return protocol.ElicitRequestFormParams(message=message, requested_schema=request.answer_schema())


def _capability(ctx: Context) -> protocol.ElicitationCapability | None:
    capabilities = ctx.session.client_capabilities
    return capabilities.elicitation if capabilities else None


def _reading_on(body: Json, response: Response) -> Json:
    """Return the body of a repeated call, which waits for the first call's request."""
    asks = response.request_id and body.get("action") == "request_human"
    return {**body, "requestId": response.request_id} if asks else body

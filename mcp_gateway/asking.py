"""The person in a chat is shown a form or a link: one more way to answer what agents ask people for."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Final, NamedTuple

import structlog
from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from client.http import ServiceClient
from client.reply import Reply
from mcp_gateway.front import HANDSHAKE_VERSIONS
from mcp_gateway.presence import OnPerson
from shared.errors import ValidationFailed
from shared.model import Json
from shared.pages import HumanRequestState

_PATIENCE_S: Final = 1_800
_KEY: Final = "person"
_STATE: Final = re.compile(r"(form|link):([\w-]+):(\d)")
_REMEMBERED: Final = 200
_SHOWN_AT_MOST: Final = 3
"""A form that comes back with nothing is shown again, so many times in all."""

log = structlog.get_logger()


class Way(StrEnum):
    """A client shows its person a form, or a link to the service's own page."""

    FORM = "form"
    LINK = "link"


class Answered(NamedTuple):
    """A call that comes again brings what the person answered."""

    arguments: Json
    """These make the call read on in its request."""
    shown: int = 0
    """So often was the form shown."""
    why: str = ""
    """This says why what came back is no answer, if it is none."""


class Asking:
    """The service stays the authority: another person may answer first, and the form is withdrawn."""

    def __init__(self, service: ServiceClient) -> None:
        self._service = service
        self._forms: dict[str, asyncio.Task[None]] = {}
        self._links: set[str] = set()
        self._shown: deque[str] = deque(maxlen=_REMEMBERED)
        self._left: set[asyncio.Future[Reply]] = set()

    async def answered(self, params: protocol.CallToolRequestParams) -> Answered:
        """Return what a repeated call brings, and pass the answer on to the service."""
        state = _STATE.fullmatch(params.request_state or "")
        if state is None or params.input_responses is None:
            return Answered({})
        way, request_id, shown = state.groups()
        answer = params.input_responses.get(_KEY)
        why = await self._resolve(Way(way), request_id, answer) if isinstance(answer, protocol.ElicitResult) else ""
        return Answered({"requestId": request_id}, int(shown), why)

    async def beside(
        self, ctx: Context, answered: Answered, call: Callable[[OnPerson], Awaitable[Reply]]
    ) -> Reply | protocol.InputRequiredResult:
        """Return the reply of a call. While it waits for a person, the one in this chat is asked."""
        ways = _ways(ctx)
        asks = not answered.shown or (answered.why and answered.shown < _SHOWN_AT_MOST)
        if not ways or not asks:
            return await call(lambda _: None)
        if ctx.protocol_version not in HANDSHAKE_VERSIONS:
            return await self._until_asked(ways, answered, call)
        reply = await call(lambda request: self._show(ctx, _way(ways, request), request))
        if answered_request := (reply.rendered or {}).get("answered"):
            await self._over(ctx, str(answered_request))
        return reply

    async def _over(self, ctx: Context, request_id: str) -> None:
        """Take back what is shown of a request that somebody has answered."""
        if form := self._forms.get(request_id):
            form.cancel()
        if request_id in self._links:
            self._links.discard(request_id)
            await ctx.session.send_elicit_complete(request_id, related_request_id=ctx.request_id)

    async def _until_asked(
        self, ways: frozenset[Way], answered: Answered, call: Callable[[OnPerson], Awaitable[Reply]]
    ) -> Reply | protocol.InputRequiredResult:
        """Return what asks the person: later revisions have no requests to the client, whose call comes again."""
        asked: asyncio.Future[HumanRequestState] = asyncio.get_running_loop().create_future()
        running = asyncio.ensure_future(call(lambda request: None if asked.done() else asked.set_result(request)))
        try:
            await asyncio.wait((asked, running), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if running.done():
            return running.result()
        self._left.add(running)
        running.add_done_callback(self._left.discard)
        way = _way(ways, request := asked.result())
        return protocol.InputRequiredResult(
            input_requests={_KEY: self._asked(way, request, answered.why, link_id=None)},
            request_state=f"{way}:{request.request_id}:{answered.shown + 1}",
        )

    def _show(self, ctx: Context, way: Way, request: HumanRequestState) -> None:
        """Show a request once in this chat, however often the service tells that it waits."""
        if request.request_id in self._shown:
            return
        self._shown.append(request.request_id)
        form = asyncio.create_task(self._ask(ctx, way, request))
        self._forms[request.request_id] = form
        form.add_done_callback(lambda _: self._forms.pop(request.request_id, None))

    async def _ask(self, ctx: Context, way: Way, request: HumanRequestState) -> None:
        why, here = "", ServerMessageMetadata(related_request_id=ctx.request_id)
        if way is Way.LINK:
            self._links.add(request.request_id)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                for _ in range(_SHOWN_AT_MOST):
                    asked = self._asked(way, request, why, link_id=request.request_id)
                    answer = await ctx.session.send_request(asked, protocol.ElicitResult, metadata=here)
                    why = await self._resolve(way, request.request_id, answer)
                    if not why:
                        return
        except (MCPError, TimeoutError) as error:
            log.info("the client asked nobody", request=request.request_id, reason=type(error).__name__)

    async def _resolve(self, way: Way, request_id: str, answer: protocol.ElicitResult) -> str:
        """Say why it is no answer, if it is none. Who follows a link answers behind it."""
        if way is Way.LINK and answer.action == "accept":
            return ""
        refused = await self._service.resolve(request_id, _resolution(answer))
        if refused is None:
            return ""
        log.info("an answer came too late or does not fit", request=request_id, code=refused.code)
        return refused.message if refused.code == ValidationFailed.code else ""

    def _asked(self, way: Way, request: HumanRequestState, why: str, *, link_id: str | None) -> protocol.ElicitRequest:
        """Make what asks a client to show a form or a link. `why` says what was wrong with the answer before;
        `link_id` is for the revisions with a handshake, whose links have ids."""
        params: protocol.ElicitRequestParams
        if way is Way.FORM:
            schema = request.answer_schema()
            params = protocol.ElicitRequestFormParams(message=request.question(why), requested_schema=schema)
        else:
            link = self._service.url + request.link
            params = protocol.ElicitRequestURLParams(message=request.question(why), url=link, elicitation_id=link_id)
        return protocol.ElicitRequest(params=params)


def _ways(ctx: Context) -> frozenset[Way]:
    """Return the ways that a client has: one that says no more than `elicitation` has forms."""
    capabilities = ctx.session.client_capabilities
    can = capabilities.elicitation if capabilities else None
    if can is None:
        return frozenset()
    has = {Way.LINK: can.url is not None, Way.FORM: can.form is not None or can.url is None}
    return frozenset(way for way in Way if has[way])


def _way(ways: frozenset[Way], request: HumanRequestState) -> Way:
    """Choose a way: a code passes the chat by, where it can."""
    return Way.LINK if Way.LINK in ways and (request.kind == "code" or Way.FORM not in ways) else Way.FORM


def _resolution(answer: protocol.ElicitResult) -> dict[str, str]:
    if answer.action == "accept":
        return {"state": "done", "answer": str((answer.content or {}).get("answer") or "")}
    return {"state": "refused", "reason": "It was declined in the chat."}

"""A host's connection lists the catalogue's tools, forwards their calls and hands back the replies."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar, cast
from uuid import uuid4

import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from client.http import ServiceClient
from client.instance import is_local
from client.reply import Failure, Reply
from mcp_gateway import convert, parameters, prompts
from mcp_gateway.chats import Chat, Chats
from mcp_gateway.faults import Faults
from mcp_gateway.listing import messages
from mcp_gateway.presence import OnPerson
from mcp_gateway.resources import Called, Resources, completed
from mcp_gateway.roots import sent_ahead, without_roots
from mcp_gateway.settings import Settings
from mcp_gateway.subscriptions import Subscriptions
from shared import catalogue
from shared.actions.help import CallTool
from shared.actions.traits import Unaddressed
from shared.errors import BrowseError, InternalError
from shared.instructions import INSTRUCTIONS
from shared.model import Json
from shared.replies import ForModel, ReplyForm
from shared.wire import APP_NAME, VERSION

_DEFECT: Final = (
    "This is a fault of the gateway, which its stderr tells more of; whether the call was done is not known."
)

_LINKS_SINCE: Final = "2025-06-18"
"""The revision of the protocol that has links to resources."""

Requests = MemoryObjectReceiveStream[SessionMessage | Exception]
Replies = MemoryObjectSendStream[SessionMessage]
ListParams = protocol.PaginatedRequestParams | None
Listed = TypeVar("Listed", bound=protocol.Result)

log = structlog.get_logger()


class Connection:
    """One host's connection has its own identity, chats and subscriptions.

    Nothing of it belongs to the process, which may serve any number of them over one `ServiceClient`'s connections.
    """

    def __init__(self, settings: Settings, service: ServiceClient, instructions: str = INSTRUCTIONS) -> None:
        self.settings = settings
        self.instructions = instructions
        self.resources = Resources(settings)
        self.subscriptions = Subscriptions()
        self.faults = Faults()
        self.chats = Chats(service, settings, self.subscriptions, self.faults)

    async def serve(self, requests: Requests, replies: Replies) -> None:
        """Answer until the requests end, and be present meanwhile."""
        server = self.server()
        self.chats.own.appear()
        try:
            await server.run(requests, replies, server.create_initialization_options())
        finally:
            self.chats.leave()

    def server(self) -> Server:
        server = Server(
            APP_NAME,
            version=VERSION,
            instructions=self.instructions,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=_always(self.resources.listed),
            on_list_resource_templates=_always(self.resources.templates),
            on_read_resource=self.read,
            on_subscribe_resource=self.subscribe,
            on_unsubscribe_resource=self.subscriptions.unsubscribe,
            on_subscriptions_listen=self.subscriptions.listen,
            on_list_prompts=_always(prompts.LISTED),
            on_get_prompt=prompts.rendered,
            on_completion=self.complete,
        )
        server.middleware.append(parameters.named)
        announced = NotificationOptions(tools_changed=True)
        options = functools.partial(server.create_initialization_options, announced)
        server.create_initialization_options = options  # type: ignore[method-assign] # the SDK has no setting for it
        return server

    async def list_tools(self, ctx: Context, params: ListParams) -> protocol.ListToolsResult:
        chat = self._chat(ctx)
        if params and params.cursor is not None:
            raise MCPError(protocol.INVALID_PARAMS, "Unknown cursor: the list of tools has one page")
        return protocol.ListToolsResult(tools=_tools(self.chats.read_list(chat)))

    async def call_tool(
        self, ctx: Context, params: protocol.CallToolRequestParams
    ) -> protocol.CallToolResult | protocol.InputRequiredResult:
        if params.name not in catalogue.NAMES:
            known = {"availableTools": [*catalogue.ACTIONS]}
            raise MCPError(protocol.METHOD_NOT_FOUND, f"Tool not found: {params.name}", known)
        chat = self._chat(ctx)
        tool, arguments = params.name, cast("Json", params.arguments or {})  # they came as JSON
        form = self._form(ctx, chat)
        try:
            tool, arguments = _meant(tool, arguments)
            reply = await self._called(ctx, chat, params, (tool, arguments), form)
            if isinstance(reply, protocol.InputRequiredResult):
                return reply
            shown = convert.shown(reply, tool, form, self.faults.advice)
            if shown.toolsets and chat.listing.add(shown.toolsets):
                await self.subscriptions.tools_changed(ctx.session)
            return convert.result(shown, is_error=not reply.success)
        except MCPError:
            raise
        except BrowseError as error:
            return _failed(error, tool, form, self.faults.advice)
        except Exception as error:  # a defect of the gateway, which only its reply can tell a model of
            log.exception("a call failed in the gateway", tool=params.name)
            defect = InternalError(f"{type(error).__name__}: {error}", hint=_DEFECT, details={"tool": params.name})
            return _failed(defect, params.name, form)

    async def _called(
        self, ctx: Context, chat: Chat, params: protocol.CallToolRequestParams, called: Called, form: ForModel
    ) -> Reply | protocol.InputRequiredResult:
        """Return the reply of a call whose files were sent ahead, or what its client is asked for before."""
        tool, arguments = called
        sent = await sent_ahead(ctx, params, chat.service, tool, arguments)
        if isinstance(sent, protocol.InputRequiredResult):
            return sent
        answered = await chat.asking.answered(without_roots(params))
        call = functools.partial(self._reply, ctx, (tool, sent | answered.arguments), form)
        return await chat.asking.beside(ctx, answered, call)

    def _form(self, ctx: Context, chat: Chat) -> ForModel:
        """Return how the service is to make a reply for this chat: what its client can show, and call."""
        return ForModel(
            links=ctx.protocol_version >= _LINKS_SINCE,
            local=is_local(chat.service.url),
            structured=self.settings.structured,
            toolsets=chat.listing.toolsets,
            read=chat.listing.read_last,
        )

    async def read(self, ctx: Context, params: protocol.ReadResourceRequestParams) -> protocol.ReadResourceResult:
        call = functools.partial(self._reply, ctx)
        return await self.resources.read(str(params.uri), self._chat(ctx).service, call)

    async def subscribe(self, ctx: Context, params: protocol.SubscribeRequestParams) -> protocol.EmptyResult:
        self.resources.request(str(params.uri))
        await self._chat(ctx).presence.ready()
        return await self.subscriptions.subscribe(ctx, params)

    async def complete(self, ctx: Context, params: protocol.CompleteRequestParams) -> protocol.CompleteResult:
        if isinstance(params.ref, protocol.PromptReference):
            values = prompts.completed(params.ref.name, params.argument.name, params.argument.value)
        else:
            values = await completed(params.argument, functools.partial(self._reply, ctx))
        return protocol.CompleteResult(completion=protocol.Completion(values=values))

    async def _reply(
        self, ctx: Context, called: Called, form: ReplyForm, on_person: OnPerson = lambda _: None
    ) -> Reply:
        """Return the reply of a call in a form; for one that does not reach the service, the error that says why."""
        call_id, chat = uuid4().hex, self._chat(ctx)
        try:
            with chat.presence.watch(call_id, ctx.session.report_progress, on_person):
                await chat.service.started()
                await chat.presence.ready()
                reply = await chat.service.call(call_id, self._body(*called), form)
                self.faults.note_catalogue(chat.service.other_catalogue)
        except BrowseError as error:
            reply = Reply(success=False, error=Failure.of(error, call_id))
        except asyncio.CancelledError:
            chat.service.cancel(call_id)
            raise
        self.faults.note(chat.service.credentials.client_id, reply.error)
        return reply

    def _body(self, tool: str, arguments: Json) -> Json:
        """Return the body of a request. One that names neither page nor session is given that of the settings."""
        body = {**arguments, "action": tool}
        action = catalogue.NAMES[tool].action
        takes_session = "session_id" in action.model_fields and action.unaddressed is not Unaddressed.OWN_PAGE
        if self.settings.session and takes_session and not {"pageId", "sessionId"} & body.keys():
            body["sessionId"] = self.settings.session
        return body

    def _chat(self, ctx: Context) -> Chat:
        """Return the chat that a request comes from, and introduce it by its host's name."""
        chat = self.chats.of(cast("Mapping[str, object] | None", ctx.meta))
        if client := ctx.session.client_params:
            chat.service.credentials.introduce(client.client_info.title or client.client_info.name)
        return chat


def _always(result: Listed) -> Callable[[Context, ListParams], Awaitable[Listed]]:
    """Make the handler of a list that is the same for everyone."""

    async def handler(_: Context, __: ListParams) -> Listed:
        return result

    return handler


def _failed(error: BrowseError, tool: str, form: ForModel, advice: str = "") -> protocol.CallToolResult:
    """Return the result of a call that failed on this side."""
    reply = Reply(success=False, error=Failure.of(error))
    return convert.result(convert.shown(reply, tool, form, advice), is_error=True)


def _meant(tool: str, arguments: Json) -> Called:
    """Return the tool that is called, with its arguments: those in a `call_tool`. Raises BrowseError."""
    if tool != CallTool.name():
        return tool, arguments
    called = catalogue.unwrap({**arguments, "action": tool})
    return str(called.pop("action")), called


@functools.lru_cache(maxsize=64)
def _tools(toolsets: frozenset[str]) -> list[protocol.Tool]:
    return [protocol.Tool.model_validate(tool) for tool in messages(toolsets)]

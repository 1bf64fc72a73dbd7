"""Lists the catalogue's tools for a host, forwards their calls, and returns the replies."""

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

import structlog
from mcp import types as protocol
from mcp.server.context import CallNext, HandlerResult
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

from browse_together.client.http import ServiceClient
from browse_together.client.instance import is_local
from browse_together.client.reply import Failure, Reply
from browse_together.contract import catalogue
from browse_together.contract.errors import BrowseError, InternalError
from browse_together.contract.instructions import INSTRUCTIONS
from browse_together.contract.limits import readable_limits
from browse_together.contract.model import Json
from browse_together.contract.peer_calls import body_of
from browse_together.contract.quoting import one_line
from browse_together.contract.replies import ForModel
from browse_together.contract.wire import APP_NAME, VERSION
from mcp_gateway import card_requests, cards, prompts, results, spans, task_news, tasks, tools
from mcp_gateway.chats import Asker, Chat, Chats
from mcp_gateway.logs import Faults
from mcp_gateway.resources import Resources, complete
from mcp_gateway.roots import with_files
from mcp_gateway.settings import Settings
from mcp_gateway.subscriptions import Subscriptions

_DEFECT: Final = (
    "This is a fault of the gateway, which its stderr tells more of; whether the call was done is not known."
)
_LINKS_SINCE: Final = "2025-06-18"
"""The first protocol revision with resource links."""

ListParams = protocol.PaginatedRequestParams | None
Params = TypeVar("Params")
Result = TypeVar("Result")

log = structlog.get_logger()


class Connection:
    """One host's connection, with its own identity, chats and subscriptions, over any wire.

    It uses no state of the process, which may serve any number of connections over one `ServiceClient`'s
    connections.
    """

    def __init__(
        self,
        settings: Settings,
        service: ServiceClient,
        instructions: str = INSTRUCTIONS,
        scope: str = "",
        *,
        is_here: bool = True,
        folder: str = "",
    ) -> None:
        self.settings = settings
        self.is_here = is_here
        """True if the client is on this machine, so that paths mean the same for both sides."""
        self.instructions = instructions
        self.resources = Resources(settings, readable_limits(service.credentials.claims()))
        self.subscriptions = Subscriptions()
        self.faults = Faults()
        self.chats = Chats(Chat(service, settings, self.subscriptions, self.faults, folder), scope)
        self.on_toolsets: Callable[[], None] = lambda: None

    @contextmanager
    def served(self) -> Iterator[Server]:
        """Yield the server that answers a wire's requests. Within the block, the connection's own chat is present."""
        self.chats.own.appear()
        try:
            yield self.server()
        finally:
            self.chats.leave(for_good=True)

    def server(self) -> Server:
        """Make the SDK's server for this connection only."""
        return server_of(lambda _: self, self.instructions)

    async def list_resources(self, _: Context, __: ListParams) -> protocol.ListResourcesResult:
        return self.resources.resources

    async def list_templates(self, _: Context, __: ListParams) -> protocol.ListResourceTemplatesResult:
        return self.resources.templates

    async def list_tools(self, ctx: Context, params: ListParams) -> protocol.ListToolsResult:
        chat = self._chat(ctx)
        if params and params.cursor is not None:
            raise MCPError(protocol.INVALID_PARAMS, "Unknown cursor: the list of tools has one page")
        listed = tools.listed_tools(self.chats.read_toolsets(chat), chat.limits)
        listed = cards.with_cards(listed) if _shows_cards(ctx) else listed
        return protocol.ListToolsResult.model_validate({"tools": listed})

    async def call_tool(
        self, ctx: Context, params: protocol.CallToolRequestParams
    ) -> protocol.CallToolResult | protocol.InputRequiredResult | Json:
        if params.name in cards.OF_CARD and _shows_cards(ctx):  # without a card, a model could be misled to call this
            return await card_requests.answer(self._chat(ctx).service, params.name, params.arguments or {})
        if params.name not in catalogue.NAMES:
            allowed = filter(self._chat(ctx).limits.lists, catalogue.ACTIONS.values())
            data = {"availableTools": [action.name() for action in allowed]}
            raise MCPError(protocol.METHOD_NOT_FOUND, f"Tool not found: {one_line(params.name)}", data)
        chat, body = self._chat(ctx), body_of(params.name, cast("Json", params.arguments or {}))  # JSON, parsed
        form = self._form(ctx, chat)
        try:
            body = catalogue.unwrap(body)
            reply = await self._reply(ctx, chat, params, body, form)
            if not isinstance(reply, Reply):
                return reply
            model_reply = results.model_reply(reply, str(body["action"]), form, self.faults.advice)
            if model_reply.toolsets and chat.add_toolsets(model_reply.toolsets):
                self.on_toolsets()
                await self.subscriptions.tools_changed(ctx.session)
            has_card = params.name in cards.SHOWN_BY and _shows_cards(ctx)
            meta = {cards.PAGE_META: model_reply.page_id} if has_card else None
            return results.tool_result(model_reply, is_error=not reply.success, meta=meta)
        except MCPError:
            raise
        except BrowseError as error:
            return _failed(error, str(body["action"]), form, self.faults.advice)
        except Exception as error:  # a defect of the gateway, which a model can learn of only by the reply
            log.exception("a call failed in the gateway", tool=params.name)
            defect = InternalError(f"{type(error).__name__}: {error}", hint=_DEFECT, details={"tool": params.name})
            return _failed(defect, params.name, form)

    async def list_prompts(self, ctx: Context, _: ListParams) -> protocol.ListPromptsResult:
        return prompts.listed(self._chat(ctx).limits)

    async def read_resource(
        self, ctx: Context, params: protocol.ReadResourceRequestParams
    ) -> protocol.ReadResourceResult:
        chat = self._chat(ctx)
        if str(params.uri) == cards.URI:
            return protocol.ReadResourceResult.model_validate({"contents": [cards.contents()]})
        return await self.resources.read(str(params.uri), chat.service, functools.partial(chat.call, Asker.of(ctx)))

    async def subscribe(self, ctx: Context, params: protocol.SubscribeRequestParams) -> protocol.EmptyResult:
        self.resources.request(str(params.uri))
        await self._chat(ctx).stream.hear_pages()
        return await self.subscriptions.subscribe(ctx, params)

    async def unsubscribe(self, ctx: Context, params: protocol.UnsubscribeRequestParams) -> protocol.EmptyResult:
        return await self.subscriptions.unsubscribe(ctx, params)

    async def listen(
        self, ctx: Context, params: protocol.SubscriptionsListenRequestParams
    ) -> protocol.SubscriptionsListenResult:
        if params.notifications.resource_subscriptions:
            await self._chat(ctx).stream.hear_pages()
        if task_ids := task_news.named(ctx, params.notifications):
            news = task_news.News(ctx, *self.asking(ctx))
            return await task_news.listen(ctx, params, news, task_ids, self.subscriptions.listen)
        return await self.subscriptions.listen(ctx, params)

    async def complete(self, ctx: Context, params: protocol.CompleteRequestParams) -> protocol.CompleteResult:
        if isinstance(params.ref, protocol.PromptReference):
            values = prompts.complete(params.ref.name, params.argument)
        else:
            chat = self._chat(ctx)
            values = await complete(params.argument, functools.partial(chat.call, Asker.of(ctx)), chat.limits)
        return protocol.CompleteResult(completion=protocol.Completion(values=values))

    async def _reply(
        self, ctx: Context, chat: Chat, params: protocol.CallToolRequestParams, body: Json, form: ForModel
    ) -> Reply | protocol.InputRequiredResult | Json:
        """Return the reply to a call, or first a request to its client, or the call as a task. Files that the call
        names are uploaded first, unless the client is on another machine."""
        complete_body = await with_files(ctx, params, chat.service, body) if self.is_here else body
        if isinstance(complete_body, protocol.InputRequiredResult):
            return complete_body
        if tasks.may_be_task(ctx, body):
            return await tasks.begin(ctx, chat, complete_body, form)
        asker = Asker.of(ctx)
        return await chat.elicitation.call(
            ctx, params, complete_body, lambda body, on_human_request: chat.call(asker, body, form, on_human_request)
        )

    def _form(self, ctx: Context, chat: Chat) -> ForModel:
        """Return the form of replies for this chat: what its client can show and call."""
        return ForModel(
            links=ctx.protocol_version >= _LINKS_SINCE,
            local=self.is_here and is_local(chat.service.url),
            structured=self.settings.structured,
            session=chat.session,
            toolsets=chat.toolsets,
            read=chat.read_toolsets,
        )

    def asking(self, ctx: Context) -> tuple[Chat, ForModel]:
        """Return the chat that a request comes from, and the form of its replies."""
        chat = self._chat(ctx)
        return chat, self._form(ctx, chat)

    def greet(self, ctx: Context) -> None:
        """Use the host's name from the handshake, so that people see it before the chat's first call."""
        self._chat(ctx)

    def client_id(self, ctx: Context) -> str:
        """Return who a request comes from."""
        return self._chat(ctx).service.credentials.client_id

    def _chat(self, ctx: Context) -> Chat:
        """Return the chat that a request comes from, labelled with its host's name."""
        chat = self.chats.find(cast("Mapping[str, object] | None", ctx.meta))  # ctx.meta is a TypedDict, so a mapping
        if client := ctx.session.client_params:
            chat.introduce(client.client_info.title or client.client_info.name)
        return chat


def _shows_cards(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and cards.shows_cards({"extensions": capabilities.extensions})


def _failed(error: BrowseError, tool: str, form: ForModel, advice: str = "") -> protocol.CallToolResult:
    reply = Reply(success=False, error=Failure.from_error(error))
    return results.tool_result(results.model_reply(reply, tool, form, advice), is_error=True)


class _Server(Server):
    """The SDK's server, whose list of tools may change. The SDK takes that from whoever runs a server, but its session
    manager, which runs those of streamable HTTP, has no setting for it."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,  # Any: the SDK's own signature
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changing = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changing, experimental_capabilities, extensions)


def server_of(connection: Callable[[Context], Connection], instructions: str) -> Server:
    """Make the SDK's server, which finds the connection of each request."""

    def by(
        method: Callable[[Connection, Context, Params], Awaitable[Result]],
    ) -> Callable[[Context, Params], Awaitable[Result]]:
        async def handler(ctx: Context, params: Params) -> Result:
            return await method(connection(ctx), ctx, params)

        return handler

    def about_task(
        answer: Callable[[Context, Chat, ForModel, Params], Awaitable[Json]],
    ) -> Callable[[Context, Params], Awaitable[Json]]:
        async def handler(ctx: Context, params: Params) -> Json:
            tasks.check(ctx)
            return await answer(ctx, *connection(ctx).asking(ctx), params)

        return handler

    async def greet(ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "notifications/initialized":
            connection(ctx).greet(ctx)
        return await call_next(ctx)

    server = _Server(
        APP_NAME,
        version=VERSION,
        instructions=instructions,
        on_list_tools=by(Connection.list_tools),
        on_list_resources=by(Connection.list_resources),
        on_list_resource_templates=by(Connection.list_templates),
        on_read_resource=by(Connection.read_resource),
        on_subscribe_resource=by(Connection.subscribe),
        on_unsubscribe_resource=by(Connection.unsubscribe),
        on_subscriptions_listen=by(Connection.listen),
        on_list_prompts=by(Connection.list_prompts),
        on_get_prompt=prompts.get,
        on_completion=by(Connection.complete),
    )
    server.add_request_handler("tools/call", protocol.CallToolRequestParams, by(Connection.call_tool))
    server.add_request_handler("tasks/get", tasks.TaskParams, about_task(tasks.get))
    server.add_request_handler("tasks/update", tasks.UpdateParams, about_task(tasks.update))
    server.add_request_handler("tasks/cancel", tasks.TaskParams, about_task(tasks.cancel))
    server.extensions[tasks.EXTENSION] = {}
    if exporting := spans.tracing():
        server.middleware.append(functools.partial(spans.traced, exporting, lambda ctx: connection(ctx).client_id(ctx)))
    server.middleware += [results.explain, greet]
    return server

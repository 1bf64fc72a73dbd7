"""Serves the connections of a process by the transports that its settings name, JSON lines for a script among them."""

import asyncio
from typing import Final, cast

import structlog

from browse_together.client.autostart import Autostart
from browse_together.client.reply import Failure, Reply
from browse_together.contract import catalogue
from browse_together.contract.background import until_one_ends
from browse_together.contract.errors import BrowseError
from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.json_lines.messages import Call, MissingParameters, Refused, ToolNotFound
from browse_together.contract.json_lines.server import Server
from browse_together.contract.model import Json
from browse_together.contract.peer_calls import body_of
from browse_together.contract.quoting import each_framed, flat
from browse_together.contract.replies import error_lines
from mcp_gateway import ineffective, logs, spans
from mcp_gateway.chats import Asker
from mcp_gateway.connection import Connection
from mcp_gateway.gateway import Gateway
from mcp_gateway.settings import Settings
from mcp_gateway.stdio import hello
from mcp_gateway.stdio.launcher import Launcher
from mcp_gateway.stdio.wire import MOST_LINE_BYTES, Wire
from mcp_gateway.transports.settings import TransportSettings

_LABEL: Final = "script"
_BESIDE: Final = ("page", "notices")


class Script:
    """One script: a client of the service, present while connected."""

    def __init__(self, connection: Connection) -> None:
        self._chats = connection.chats
        self._faults = connection.faults

    async def serve(self, lines: Lines) -> None:
        """Answer the script's calls until it ends. Then its pages are free, like those of a chat."""
        self._chats.own.introduce(_LABEL)
        self._chats.own.appear()
        try:
            await Server(lines, self.run, subject).serve()
        finally:
            self._chats.leave(for_good=True)

    async def run(self, call: Call) -> Json:
        """Return a call's result, with its page and notices. Raises Refused."""
        if call.tool not in catalogue.NAMES:
            raise ToolNotFound(call.tool)
        try:
            body = catalogue.unwrap(_body(call))
            if missing := catalogue.missing_arguments(body):
                raise MissingParameters(missing)
            reply = await self._chats.own.call(_ASKER, body)
        except BrowseError as error:
            reply = Reply(success=False, error=Failure.from_error(error))
        if reply.error is not None:
            error_fields: Json = reply.error.model_dump(mode="json", by_alias=True, exclude_unset=True)
            lines = [*each_framed(error_lines(error_fields)), self._faults.advice]
            raise Refused(flat(" ".join(filter(None, lines))))
        beside = {key: value for key in _BESIDE if (value := (reply.model_extra or {}).get(key))}
        return {**reply.result, **{key: value for key, value in beside.items() if key not in reply.result}}


def subject(call: Call) -> str | None:
    """Return the page or call that a call concerns; None if it names neither, so that it may concern any page."""
    try:
        body = catalogue.unwrap(_body(call))
    except BrowseError:
        return None
    return next((f"{key} {value}" for key in ("pageId", "callId") if isinstance(value := body.get(key), str)), None)


def _body(call: Call) -> Json:
    return body_of(call.tool, cast("Json", call.args))  # parsed JSON


async def _report(*_: object) -> None:
    """Report nothing, because the protocol has no progress."""


_ASKER: Final = Asker(_report)


log = structlog.get_logger()


async def serve(
    host: Launcher | Lines | None,
    settings: Settings,
    transports: TransportSettings,
    autostart: Autostart,
    instructions: str,
) -> None:
    """Serve until the host of this process closes stdin, or the listeners end. Raises NotUsable."""
    logs.to_stderr(settings.log_level)
    gateway = Gateway(settings, autostart, instructions)
    if gateway.service.credentials.are_given and settings.url.startswith("http:"):
        advice = "With https its certificate proves it; a service of this account needs no token to be given."
        log.info("the given token goes to whatever listens there, unproven", url=settings.url, advice=advice)
    serving = [_serve_host(host, gateway)] if host else []
    if transports.networks:
        from mcp_gateway.transports.listeners import listen  # noqa: PLC0415 - stdio alone needs no HTTP server

        serving.append(listen(transports, gateway))
    warning = asyncio.create_task(ineffective.warn(gateway.service))
    try:
        await until_one_ends(*serving)
    finally:
        warning.cancel()
        await asyncio.wait([warning])
        await gateway.close()
        spans.close()


async def _serve_host(host: Launcher | Lines, gateway: Gateway) -> None:
    if isinstance(host, Lines):
        await Script(gateway.own_connection()).serve(host)
    else:
        reader, writer = await asyncio.open_connection(sock=host.serve_here(), limit=MOST_LINE_BYTES)
        wire = Wire(reader, writer)
        about = await wire.hello()
        wire.tell(hello.WELCOME)
        await wire.serve(gateway.own_connection(about.client_id), about)

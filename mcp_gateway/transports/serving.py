"""Serves the connections of a process by the transports that its settings name."""

import asyncio

import structlog

from client.instance import Autostart
from mcp_gateway import ineffective, logs
from mcp_gateway.gateway import Gateway
from mcp_gateway.script import Script
from mcp_gateway.settings import Settings
from mcp_gateway.stdio import hello
from mcp_gateway.stdio.launcher import Launcher
from mcp_gateway.stdio.wire import MOST_LINE_BYTES, Wire
from mcp_gateway.transports.settings import TransportSettings
from shared.json_lines.lines import Lines

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
        advice = "Where the service's data directory is this account's, leave it out; or use https."
        log.info("nothing proves who is sent the token that was given", url=settings.url, advice=advice)
    serving = [_serve_host(host, gateway)] if host else []
    if transports.networks:
        from mcp_gateway.transports.listeners import listen  # noqa: PLC0415 - stdio alone needs no HTTP server

        serving.append(listen(transports, gateway))
    running = [asyncio.ensure_future(one) for one in serving]
    warning = asyncio.create_task(ineffective.warn(gateway.service))
    try:
        ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for one in ended:
            one.result()
    finally:
        for one in (*running, warning):
            one.cancel()
        await asyncio.wait([*running, warning])
        await gateway.close()


async def _serve_host(host: Launcher | Lines, gateway: Gateway) -> None:
    if isinstance(host, Lines):
        await Script(gateway.own_connection()).serve(host)
    else:
        reader, writer = await asyncio.open_connection(sock=host.serve_here(), limit=MOST_LINE_BYTES)
        wire = Wire(reader, writer)
        about = await wire.hello()
        wire.tell(hello.WELCOME)
        await wire.serve(gateway.own_connection(about.client_id), about)

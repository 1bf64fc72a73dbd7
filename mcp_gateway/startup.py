"""Starts a gateway: the list of tools comes first, then the service, then the SDK."""

import asyncio
import gc
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from pydantic import ValidationError

from browse_together.client import caller, config_file, config_place
from browse_together.client.autostart import Autostart
from browse_together.client.connecting import begin_service
from browse_together.contract import variables
from browse_together.contract.instructions import instructed
from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.json_lines.messages import ready
from browse_together.contract.limits import Limits, readable_limits
from browse_together.contract.wire import TOKEN_NAME
from mcp_gateway import tools
from mcp_gateway.jsonrpc import Message
from mcp_gateway.settings import Settings
from mcp_gateway.stdio.launcher import Launcher
from mcp_gateway.toolset_names import toolset_problem, valid_toolsets
from mcp_gateway.transports.settings import NotUsable, TransportSettings

Given = TypeVar("Given", bound=config_file.FileSettings)
_NO_FLAGS: Final = MappingProxyType[str, str]({})


def run(launcher: Launcher | None, flags: Mapping[str, str] = _NO_FLAGS) -> None:
    """Serve until the process should end. The launcher owns the host's descriptors, if there is a host. `flags` has, by
    variable, the flag as typed."""
    prepared = prepare(flags)
    settings, transports = prepared.settings, prepared.transports
    if launcher:
        launcher.offer(prepared.listed(), prepared.instructions)
    host = _announce(prepared) if "jsonl" in transports.transport else launcher
    autostart = prepared.autostart()
    from mcp_gateway.transports.serving import serve  # noqa: PLC0415 - the SDK takes 0.6 s: list and start go first

    gc.freeze()
    gc.enable()
    with asyncio.Runner() as runner:
        try:
            runner.run(serve(host, settings, transports, autostart, prepared.instructions))
        except NotUsable as error:
            sys.exit(f"mcp-gateway: {error}")
        except KeyboardInterrupt:
            return


class Prepared(NamedTuple):
    """A gateway's settings, and what follows from them."""

    settings: Settings
    transports: TransportSettings
    limits: Limits
    instructions: str

    def listed(self) -> tuple[Message, ...]:
        """Return the initial list of tools."""
        return tools.listed_tools(valid_toolsets(self.settings.toolsets), self.limits)

    def autostart(self) -> Autostart:
        """Return the service's autostart. If the settings want it, the start begins now."""
        return begin_service(self.settings)


def prepare(flags: Mapping[str, str] = _NO_FLAGS) -> Prepared:
    """Read the settings of the served program, and warn it of odd ones. Exits for unusable ones."""
    settings, transports = _read(Settings, flags), _read(TransportSettings, flags)
    _warn_of_strange_settings()
    claims = _claims(settings)
    limits = readable_limits(claims or {})
    if transports.networks and (settings.client_id or (claims is not None and TOKEN_NAME not in claims)):
        sys.exit(
            "mcp-gateway: BROWSE_CLIENT_ID, BROWSE_TOKEN and BROWSE_TOKEN_FILE are one client's; over a network each "
            "session is a client of its own. Leave them out, or share a token: browse-together token create."
        )
    if problem := toolset_problem(settings.toolsets):
        if config_file.variable_of("toolsets", Settings.model_fields["toolsets"]) is None:
            where = config_file.place(config_place.path(), "toolsets")
            sys.exit(f"mcp-gateway: toolsets in {where}: {problem.partition(': ')[2]}")
        caller.say(f"mcp-gateway: {problem}\n")
    return Prepared(settings, transports, limits, instructed(problem, limits.words))


def _claims(settings: Settings) -> dict[str, object] | None:
    """Return the given token's claims; None without a token."""
    if not (settings.token or settings.token_file):
        return None
    from browse_together.client.credentials import Credentials  # noqa: PLC0415 - it is not needed for the list without a token

    token = settings.token.get_secret_value() if settings.token else None
    return Credentials("", settings.data_dir, token=token, token_file=settings.token_file).claims()


def _announce(prepared: Prepared) -> Lines:
    """Claim stdin and stdout for JSON lines, and announce the tools."""
    lines = Lines.claim()
    lines.most_bytes = prepared.transports.max_message_bytes
    announced = tools.announced_tools(valid_toolsets(prepared.settings.toolsets), prepared.limits)
    lines.write(ready(announced))
    return lines


def _read(kind: type[Given], flags: Mapping[str, str]) -> Given:
    try:
        return kind()
    except ValidationError as error:
        sys.exit(f"mcp-gateway: {'; '.join(config_file.explain(error, kind, flags))}")
    except config_file.WrongFile as error:
        sys.exit(f"mcp-gateway: {'; '.join(str(error).splitlines())}")


def _warn_of_strange_settings() -> None:
    for line in (*variables.misspelt(caller.environ()), *config_file.removed()):
        caller.say(f"mcp-gateway: {line}\n")

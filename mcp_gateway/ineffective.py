"""Warns of settings in a chat's environment that have no effect because the service already runs with others."""

from collections.abc import Mapping
from typing import Final

import httpx
import structlog

from browse_together.client import caller
from browse_together.client.http import UNREACHED, ServiceClient
from browse_together.client.instance import is_local
from browse_together.client.reply import Reply
from browse_together.contract import setting_names, wire
from browse_together.contract.model import Json, object_at

_OF_SERVICE: Final = frozenset(setting_names.SERVICE) - frozenset(setting_names.GATEWAY)
_RESTART: Final = "It takes a restart: browse-together down, and a new chat starts it with its own environment."

log = structlog.get_logger()


def asked(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are settings only of the service, not of a gateway."""
    names = {f"BROWSE_{name.upper()}" for name in _OF_SERVICE}
    names |= {name.upper() for name in _OF_SERVICE.intersection(setting_names.BARE)}
    return {variable: value for variable, value in environment.items() if variable.upper() in names and value}


async def warn(service: ServiceClient) -> None:
    """Once the service runs, log each variable of this environment that has no effect on it."""
    variables = asked(caller.environ())
    if not variables:
        return
    if not is_local(service.url):
        named = ", ".join(sorted(variables))
        warning = f"{named}: this has no effect on the service at {service.url}, which is set where it runs."
        log.warning(warning)
        return
    try:
        await service.started()
        running = await _ineffective(service, variables)
    except (*UNREACHED, ValueError):  # a call will report what is wrong
        return
    for variable, value in variables.items():
        name = variable.lower().removeprefix("browse_")
        if name in running:
            given = variable if "://" in value else f"{variable}={value}"  # an address may contain a key
            now = f"{name} {_text(running[name])}"
            warning = f"{given} has no effect: the service runs already, with {now}. {_RESTART}"
            log.warning(warning)


async def _ineffective(service: ServiceClient, variables: Mapping[str, str]) -> Json:
    """Return the service's own values for these settings; empty if it is too old to report them."""
    headers = service.credentials.headers()
    reply = await service.http.post(wire.SETTINGS, json={"settings": {**variables}}, headers=headers)
    if reply.status_code != httpx.codes.OK:
        return {}
    return object_at(Reply.model_validate_json(reply.content).result, "ineffective")


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "empty"
    return str(value).lower() if isinstance(value, bool) else "unset" if value is None else str(value)

"""Routes for the account's own command line: its named tokens, its hosts, and thumbnails of what acts did, for a
replay."""

import re
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from browse_together.contract import wire
from browse_together.contract.errors import InvalidRequest, ValidationFailed, field_details
from browse_together.contract.model import Json
from browser_service.http.routes import Caller, body_of, done, for_owner, services

if TYPE_CHECKING:
    from browser_service.fleet.lifecycle import HostLifecycle

router = APIRouter()

_RECORD_ID: Final = re.compile("[0-9]{1,15}")


@router.post(wire.TOKENS, dependencies=[for_owner("browse-together token create --name NAME")])
async def create(request: Request) -> Response:
    token, record = await services(request).tokens.create(await body_of(request))
    return done(request, {"token": token, **services(request).tokens.described(record)})


@router.get(wire.TOKENS, dependencies=[for_owner("browse-together token list")])
async def listed(request: Request) -> Response:
    return done(request, {"tokens": [*services(request).tokens.listed()]})


@router.post(wire.REVOKE, dependencies=[for_owner("browse-together revoke --client LABEL")])
async def revoke(request: Request) -> Response:
    body, administration = await body_of(request), services(request).administration
    clients, token_id, name = body.get("clients"), body.get("tokenId"), body.get("name")
    if isinstance(name, str) and name:
        return done(request, await administration.revoke_named(name))
    if isinstance(token_id, str) and token_id:
        return done(request, await administration.revoke_token(token_id))
    if not isinstance(clients, list) or not clients or not all(isinstance(one, str) and one for one in clients):
        raise ValidationFailed(
            "The request does not say what to revoke.",
            hint='Send {"clients": ["..."]}, labels or ids, or {"tokenId": "..."}, or {"name": "..."}, of a token.',
        )
    return done(request, await administration.revoke({str(one) for one in clients}))


@router.post(wire.RESTORE, dependencies=[for_owner("browse-together token restore NAME")])
async def restore(request: Request) -> Response:
    names = (await body_of(request)).get("names")
    if not isinstance(names, list) or not names or not all(isinstance(one, str) and one for one in names):
        raise ValidationFailed(
            "The request does not say what to restore.",
            hint='Send {"names": ["..."]}: a token\'s name, or labels or ids of clients.',
        )
    return done(request, await services(request).administration.restore([str(one) for one in names]))


@router.post(wire.RENAME, dependencies=[for_owner("browse-together clients rename NAME NEW")])
async def rename(request: Request) -> Response:
    body = await body_of(request)
    client, name = body.get("client"), body.get("name")
    if not (isinstance(client, str) and client and isinstance(name, str)):
        raise ValidationFailed(
            "The request does not say who to rename.", hint='Send {"client": "a name or an id", "name": "a name"}.'
        )
    return done(request, await services(request).administration.rename(client, name))


@router.get(wire.HOSTS, dependencies=[for_owner("browse-together hosts")])
async def hosts(request: Request) -> Response:
    return done(request, {"hosts": [*_membership(request).listed()]})


@router.post(wire.HOSTS_DRAIN, dependencies=[for_owner("browse-together hosts")])
async def drain(request: Request) -> Response:
    membership, name = _membership(request), (await body_of(request)).get("name")
    if not isinstance(name, str):
        raise ValidationFailed(
            "The request names no host.", hint='Send {"name": "rack-k3q9"}.', details=field_details("name")
        )
    membership.drain(name)
    return done(request, {"name": name})


def _membership(request: Request) -> "HostLifecycle":
    if (fleet := services(request).fleet) is None:
        raise InvalidRequest(
            "This service takes no hosts in.", hint="Start it so that it does: browse-together up --hosts"
        )
    return fleet.lifecycle


@router.get(wire.AGENTS, include_in_schema=False, dependencies=[for_owner("browse-together status")])
async def list_agents(request: Request) -> Response:
    """List the agents that are there or hold a page."""
    parts = services(request)
    return done(request, {"agents": [*parts.wall.agents.rows(parts.directory.pages(), None)]})


@router.get(wire.ACTIVITY_PICTURES, include_in_schema=False, dependencies=[for_owner("browse-together replay")])
async def get_pictures(request: Request, caller: Caller) -> Response:
    """Return thumbnails to the account's own command line. Agents read pages, and do not see others' pictures."""
    ids = request.query_params.get("ids", "").split(",")
    if not (0 < len(ids) <= wire.MOST_PICTURED and all(_RECORD_ID.fullmatch(each) for each in ids)):
        raise ValidationFailed(
            f"ids has to be 1 to {wire.MOST_PICTURED} ids of records, with commas between them.",
            hint=f"Take them from {wire.ACTIVITY}.",
            details=field_details("ids"),
        )
    found = await services(request).activity.pictures(map(int, ids), caller.client_id)
    shown: Json = {str(each): pictures.model_dump(mode="json", exclude_none=True) for each, pictures in found.items()}
    return done(request, {"pictures": shown})

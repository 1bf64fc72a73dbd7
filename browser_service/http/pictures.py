"""Serves thumbnails of what acts did, from which the command line makes a replay."""

import re
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from browser_service.http.routes import Caller, done, services
from shared import wire
from shared.errors import Forbidden, ValidationFailed, field_details
from shared.model import Json

router = APIRouter(include_in_schema=False)

_RECORD_ID: Final = re.compile("[0-9]{1,15}")


@router.get(wire.ACTIVITY_PICTURES)
async def get_pictures(request: Request, caller: Caller) -> Response:
    """Return thumbnails to the account's own command line. Agents read pages, and do not see others' pictures."""
    if not caller.operator:
        raise Forbidden("Pictures of what was done are for the account's owner.", hint="browse-together replay")
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

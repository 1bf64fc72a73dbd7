"""Shows a chat's card what its client may see of a page, and stops that client there.

A card is trusted no more than its chat's model, which could ask for the same. So it stops only its own client."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from browse_together.contract import wire
from browse_together.contract.errors import Forbidden, HumanInControl, Relayed
from browse_together.contract.frames import Frame, View
from browse_together.contract.model import Json
from browser_service.clients.colours import Colours
from browser_service.http.routes import Caller, done, services
from browser_service.security.auth import Identity
from browser_service.spine.call import FrontCall
from browser_service.spine.rendering.own_words import spell_words

router = APIRouter(include_in_schema=False)

_VIEW: Final = View(width=720, fps=2, masked=True)
"""Secrets are masked, because a chat's model could read what its card receives."""


@router.get(wire.WALL_CARD + "/{page_id}")
async def card(page_id: str, request: Request, caller: Caller, after: Annotated[int, Query(ge=0)] = 0) -> Response:
    """Return a page's state and newest frame. It is not a call: a card asks about every second, and would fill the
    register of calls."""
    parts = services(request)
    try:
        frame = await parts.reads.look(caller, page_id, after, _VIEW)
    except Relayed as error:
        if error.relayed.code != HumanInControl.code:  # who has it in hand is no secret
            raise
        frame = None
    shown: Json = parts.wall.page(page_id, caller)
    state, shown["wall"] = parts.directory.get(page_id), parts.people_url()
    shown["yours"] = state is not None and state.holder_id == caller.client_id
    if "locked" not in shown:
        shown["frame"] = _told(frame, parts.colours)
    return done(request, shown)


@router.post(wire.WALL_CARD + "/{page_id}")
async def stop(page_id: str, request: Request, caller: Caller) -> Response:
    """Cancel what the client does on its own page, and hold the page for a person. Only a person gives it back."""
    parts = services(request)
    parts.quotas.count_beside(f"card of {caller.client_id}", "stop_page")
    state = parts.directory.get(page_id)
    if state is None or state.holder_id != caller.client_id:
        raise Forbidden(f"{page_id} is not this chat's, so that its card does not stop what is done there.")
    person = Identity(client_id="card", label=f"{caller.label} (its card)"[:80], operator=True)
    body: Json = {"action": "take_over", "pageId": page_id, "stop": True}
    call = FrontCall(person, body, request_id=request.state.request_id, counted=False)
    reply = await parts.dispatcher.run(call)
    return done(request, spell_words(reply.result()))


def _told(frame: Frame | None, colours: Colours) -> Json | None:
    if frame is None:
        return None
    told: Json = frame.model_dump(mode="json", exclude={"act": {"client_id"}}, exclude_none=True)
    return told | ({"colour": colours.known(frame.act.client_id)} if frame.act else {})

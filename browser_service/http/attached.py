"""Routes for the account's owner: to attach to their own browser, and to share its tabs."""

from typing import TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

from browse_together.contract import wire
from browse_together.contract.attached import AttachTarget, Detachment, TabShare, TabUnshare
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json, first_fault
from browser_service.http.routes import Caller, body_of, done, for_owner, services

router = APIRouter(dependencies=[for_owner("browse-together tabs")])

M = TypeVar("M", bound=BaseModel)


@router.post(wire.ATTACH)
async def attach(request: Request) -> Response:
    """Attach to a running browser. The reply comes at once; while the browser asks its person, its state says so."""
    return _shown(request, await services(request).attached.attach(await _read(request, AttachTarget)))


@router.post(wire.DETACH)
async def detach(request: Request) -> Response:
    session_id = (await _read(request, Detachment)).session_id
    return _shown(request, await services(request).attached.detach(session_id))


@router.get(wire.ATTACHMENT)
async def attachment(request: Request) -> Response:
    return done(request, {"attachments": [_json(each) for each in await services(request).attached.states()]})


@router.get(wire.TABS)
async def tabs(request: Request) -> Response:
    listed = await services(request).attached.tabs()
    return done(request, {"tabs": [*map(_json, listed)]})


@router.post(wire.TABS_SHARE)
async def share(request: Request, caller: Caller) -> Response:
    page = await services(request).attached.share(await _read(request, TabShare), caller)
    return done(request, {"pageId": page.page_id, "access": page.access})


@router.post(wire.TABS_UNSHARE)
async def unshare(request: Request, caller: Caller) -> Response:
    await services(request).attached.unshare((await _read(request, TabUnshare)).tab_id, caller)
    return done(request, {})


async def _read(request: Request, model: type[M]) -> M:
    try:
        return model.model_validate(await body_of(request))
    except ValidationError as error:
        name, why = first_fault(error)
        raise ValidationFailed(f"{name or 'browser'}: {why}.", details=field_details(name)) from None


def _shown(request: Request, state: BaseModel) -> Response:
    return done(request, _json(state))


def _json(model: BaseModel) -> Json:
    return model.model_dump(mode="json", exclude_none=True)

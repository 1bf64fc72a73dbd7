"""Routes for the account's owner: to attach to their own browser, and to share its tabs."""

from typing import TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

from browser_service.http.routes import Caller, body_of, done, services
from browser_service.security.auth import Identity
from browser_service.spine.attached import Attached
from shared import wire
from shared.attached import AttachTarget, TabShare, TabUnshare
from shared.errors import Forbidden, ValidationFailed, field_details, first_fault

router = APIRouter()

M = TypeVar("M", bound=BaseModel)


@router.post(wire.ATTACH)
async def attach(request: Request, caller: Caller) -> Response:
    """Attach to a running browser. The reply comes at once; while the browser asks its person, its state says so."""
    attached = _owners(request, caller)
    return _shown(request, await attached.attach(await _read(request, AttachTarget)))


@router.post(wire.DETACH)
async def detach(request: Request, caller: Caller) -> Response:
    return _shown(request, await _owners(request, caller).detach())


@router.get(wire.ATTACHMENT)
async def attachment(request: Request, caller: Caller) -> Response:
    return _shown(request, await _owners(request, caller).state())


@router.get(wire.TABS)
async def tabs(request: Request, caller: Caller) -> Response:
    listed = await _owners(request, caller).tabs()
    return done(request, {"tabs": [tab.model_dump(mode="json", exclude_none=True) for tab in listed]})


@router.post(wire.TABS_SHARE)
async def share(request: Request, caller: Caller) -> Response:
    attached = _owners(request, caller)
    page = await attached.share(await _read(request, TabShare), caller)
    return done(request, {"pageId": page.page_id, "access": page.access})


@router.post(wire.TABS_UNSHARE)
async def unshare(request: Request, caller: Caller) -> Response:
    attached = _owners(request, caller)
    await attached.unshare((await _read(request, TabUnshare)).tab_id, caller)
    return done(request, {})


def _owners(request: Request, caller: Identity) -> Attached:
    """Return the attached browser, for its owner alone."""
    if not caller.operator:
        raise Forbidden(
            "The user's own browser and its tabs are for the account's owner alone.", hint="browse-together tabs"
        )
    return services(request).attached


async def _read(request: Request, model: type[M]) -> M:
    try:
        return model.model_validate(await body_of(request))
    except ValidationError as error:
        name, why = first_fault(error)
        raise ValidationFailed(f"{name or 'browser'}: {why}.", details=field_details(name)) from None


def _shown(request: Request, state: BaseModel) -> Response:
    return done(request, state.model_dump(mode="json", exclude_none=True))

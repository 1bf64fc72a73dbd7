"""Types named secrets only into the element they are for, and never into a page of another origin."""

import time
from typing import Final

from playwright.async_api import ElementHandle, Frame, Locator

from browser_service.host.elements.handles import taken
from browser_service.host.elements.locators import is_of_origin, none_if_gone
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded
from browser_service.security.one_time_codes import typed_text
from browser_service.security.urls import origin_of
from shared.actions.arguments import SecretHeader, SecretRef
from shared.actions.scripting import Fetch
from shared.errors import Forbidden, ValidationFailed, field_details
from shared.named_secrets import NamedSecret

_SHOW_DOTS: Final = bounded(script("field_dots"))
_SEAL: Final = bounded(script("field_sealed"))


async def to_type(
    page: BrowserPage, element: Locator, value: str | SecretRef, timeout_ms: float
) -> tuple[Locator | ElementHandle, str]:
    """Return what to type into which element: a text unchanged, or a secret if the element's document may have it.

    A secret goes to exactly the element whose origin was checked, so that no later document gets it. The field is
    emptied, so that it holds only the secret, and shows dots from now on, also in pictures. Raises Forbidden.
    """
    if isinstance(value, str):
        return element, value
    secret = page.secret(value.secret)
    handle = taken(await element.element_handle(timeout=timeout_ms))
    frame = await handle.owner_frame()
    await _check_frame(secret, frame)
    await handle.evaluate(_SHOW_DOTS)
    return handle, typed_text(secret, time.time())


async def seal(target: Locator | ElementHandle) -> None:
    """Make a typed secret indivisible, so that no later edit leaves a part of it."""
    if isinstance(target, ElementHandle):
        await none_if_gone(target.evaluate(_SEAL))


async def _check_frame(secret: NamedSecret, frame: Frame | None) -> None:
    """Raise Forbidden unless the secret is for the origin of the frame's document."""
    url = frame.url if frame is not None else ""
    _check_origin(secret, url)
    if frame is not None and not await is_of_origin(frame, origin_of(url) or ""):
        _check_origin(secret, "")


def _check_origin(secret: NamedSecret, url: str) -> None:
    """Raise Forbidden unless the secret is for the origin of the URL."""
    origin = origin_of(url)
    if origin not in secret.origins:
        here = origin or "a document without one"
        raise Forbidden(
            f"The secret {secret.name!r} is for {' and '.join(secret.origins)}, and not for {here}.",
            hint="Go to its own site first. The account's owner may add an origin: "
            f"browse-together secret set {secret.name} --origin ...",
            details=field_details("secret", origin=origin),
        )


def password_for(page: BrowserPage, value: str | SecretRef, url: str) -> str:
    """Return the password for a site at a URL. Raises Forbidden."""
    if isinstance(value, str):
        return value
    secret = page.secret(value.secret)
    _check_origin(secret, url)
    return typed_text(secret, time.time())


async def header_values(page: BrowserPage, action: Fetch, url: str) -> dict[str, str]:
    """Return a request's headers with their secrets. Page and URL must both be of the secrets' origins, because the
    page's scripts could see them. Raises Forbidden, ValidationFailed."""
    if action.redirect not in {None, "error"}:
        raise ValidationFailed(
            "A request with a secret follows no redirect, which may lead elsewhere.",
            hint="Leave `redirect` out.",
            details=field_details("redirect"),
        )
    given = action.request_headers()
    return {name: value if isinstance(value, str) else await _header(page, value, url) for name, value in given.items()}


async def _header(page: BrowserPage, value: SecretHeader, url: str) -> str:
    secret = page.secret(value.secret)
    await _check_frame(secret, page.playwright.main_frame)
    _check_origin(secret, url)
    text = typed_text(secret, time.time())
    if not text.isascii():
        raise ValidationFailed(
            f"The secret {secret.name!r} has characters that no header can carry.", details=field_details("headers")
        )
    return value.prefix + text

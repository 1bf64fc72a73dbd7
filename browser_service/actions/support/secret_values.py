"""Types named secrets only into the element they are for, and never into a page of another origin."""

import contextlib
import time
from collections.abc import AsyncIterator
from typing import Final

from playwright.async_api import ElementHandle, Frame, Locator

from browse_together.contract.actions.arguments import SecretHeader, SecretRef
from browse_together.contract.actions.scripting import Fetch
from browse_together.contract.errors import Forbidden, ValidationFailed, field_details
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.next_calls import next_call
from browser_service.actions.support.field_values import not_as_given
from browser_service.host import world
from browser_service.host.background import within
from browser_service.host.elements.frames import origin_of_frame
from browser_service.host.elements.locators import is_of_origin, none_if_gone
from browser_service.host.handle.page import BrowserPage
from browser_service.security.one_time_codes import typed_text
from browser_service.security.urls import origin_of

_EMPTIED_WITHIN_S: Final = 1.0


async def to_type(
    page: BrowserPage, element: Locator | ElementHandle, value: str | SecretRef, timeout_ms: float
) -> tuple[Locator | ElementHandle, str]:
    """Return what to type into which element: a text unchanged, or a secret if the element's document may have it.

    A secret goes to exactly the element whose origin was checked, so that no later document gets it. The field is
    emptied, so that it holds only the secret, and shows dots in place of it, also in pictures. Raises Forbidden.
    """
    if isinstance(value, str):
        return element, value
    secret = page.secret(value.secret)
    handle = element if isinstance(element, ElementHandle) else await world.handle_of(element, timeout_ms)
    origin = await _origin_for(page, secret, await handle.owner_frame())
    text = _given(page, secret, origin)
    await page.session.given_secrets.prepare(handle, origin)
    return handle, text


@contextlib.asynccontextmanager
async def kept_whole(
    page: BrowserPage, target: Locator | ElementHandle, value: object, text: str, selector: str | None
) -> AsyncIterator[None]:
    """Check after typing that a field has the whole secret, if it was given one. Raises WithoutEffect if it has a part,
    which is removed: a page may send and show it where nobody would recognise it."""
    try:
        yield
    except BaseException:  # even if the call is cancelled, nothing stays half typed
        await within(_EMPTIED_WITHIN_S, _check_kept(page, target, value, text, selector))
        raise
    await _check_kept(page, target, value, text, selector)


async def _check_kept(
    page: BrowserPage, target: Locator | ElementHandle, value: object, text: str, selector: str | None
) -> None:
    if not isinstance(value, SecretRef) or not isinstance(target, ElementHandle):
        return
    frame = await none_if_gone(target.owner_frame())
    if frame is None:  # it was sent, say
        return
    secrets, origin = page.session.given_secrets, origin_of_frame(frame)
    count, form = await secrets.kept(target, origin, text)
    if form:
        secrets.add(origin, value.secret, form)
    elif 0 < count < len(text):
        raise not_as_given(
            f"The field kept {count} of the {len(text)} characters of the secret {value.secret!r}, so it was emptied.",
            selector,
            hint=f"It may be for something else: look at it, {next_call('snapshot')}. If it is the right field, the "
            "secret is too long for it.",
        )


def _given(page: BrowserPage, secret: NamedSecret, origin: str) -> str:
    """Return what an origin that may have the secret is given, and guard it there from now on."""
    text = typed_text(secret, time.time())
    page.session.given_secrets.add(origin, secret.name, text)
    return text


async def _origin_for(page: BrowserPage, secret: NamedSecret, frame: Frame | None) -> str:
    """Return the origin of the frame's document. Raises Forbidden unless the secret is for it."""
    origin = _permitted(page, secret, frame.url if frame is not None else "")
    if frame is not None and not await is_of_origin(frame, origin):
        _permitted(page, secret, "")
    return origin


def _permitted(page: BrowserPage, secret: NamedSecret, url: str) -> str:
    """Return the origin of the URL. Raises Forbidden unless the secret is for it, and reaches it unread."""
    origin = origin_of(url)
    if origin is None or origin not in secret.origins:
        here = origin or "a document without one"
        raise Forbidden(
            f"The secret {secret.name!r} is for {' and '.join(secret.origins)}, and not for {here}.",
            hint="Go to its own site first. The account's owner may add an origin: "
            f"browse-together secret set {secret.name} --origin ...",
            details=field_details("secret", origin=origin),
        )
    if origin.startswith("http:") and page.session.has_own_proxy:
        raise Forbidden(
            f"The secret {secret.name!r} would pass this session's own proxy unencrypted, which could read it.",
            hint=f"Go there in a session without a proxy: {next_call('create_session')}.",
            details=field_details("secret", origin=origin),
        )
    return origin


def password_for(page: BrowserPage, value: str | SecretRef, url: str) -> str:
    """Return the password for a site at a URL. Raises Forbidden."""
    if isinstance(value, str):
        return value
    secret = page.secret(value.secret)
    return _given(page, secret, _permitted(page, secret, url))


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
    await _origin_for(page, secret, page.playwright.main_frame)
    text = _given(page, secret, _permitted(page, secret, url))
    if not text.isascii():
        raise ValidationFailed(
            f"The secret {secret.name!r} has characters that no header can carry.", details=field_details("headers")
        )
    return value.prefix + text

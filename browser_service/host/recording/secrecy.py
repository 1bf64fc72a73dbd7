"""Says whether a picture of a page may be shown to those who must see no secrets."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host.scripts import script

_WITHIN_S: Final = 0.5
_MOST_FIELDS: Final = 500
_MOST_FRAMES: Final = 20
_SECRET_SHOWN: Final = script("secret_shown")


async def shows_no_secret(page: Page) -> bool:
    """Return whether no field for a secret has the focus or a value. Of a page that does not answer nothing is
    known."""
    if len(page.frames) > _MOST_FRAMES:
        return False
    try:
        async with asyncio.timeout(_WITHIN_S):
            asked = [frame.evaluate(_SECRET_SHOWN, _MOST_FIELDS) for frame in page.frames]
            return not any(await asyncio.gather(*asked))
    except (PlaywrightError, TimeoutError):
        return False

"""Guards the secrets that a session's origins were given, in all fields of their documents, by what the fields hold."""

import asyncio
from collections import deque
from typing import Final

from playwright.async_api import ElementHandle, Frame, Page

from browse_together.contract.background import Background
from browser_service.host import world
from browser_service.host.background import within
from browser_service.host.elements.frames import origin_of_frame
from browser_service.host.elements.locators import none_if_gone
from browser_service.host.scripts import results, script

_GUARD: Final = results.bounded(script("given_secrets"))
_WITHIN_S: Final = 1.0
_MOST_FRAMES: Final = 50
_MOST_TEXTS: Final = 3
"""How many texts of one secret are guarded: it may have had another value, and a code is soon another."""


class GivenSecrets:
    """The texts of secrets by the origins that got them. They reach documents of these origins alone, in the world
    beside the page's own."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, deque[str]]] = {}
        self._background = Background()

    def add(self, origin: str, name: str, text: str) -> None:
        texts = self._texts.setdefault(origin, {}).setdefault(name, deque(maxlen=_MOST_TEXTS))
        if text not in texts:
            texts.append(text)

    def __bool__(self) -> bool:
        return bool(self._texts)

    async def guard(self, page: Page) -> None:
        """Guard the fields of a page as they are now. This waits only for documents that got a secret, and briefly."""
        if self._texts:
            await asyncio.gather(*map(self._guard, page.frames[:_MOST_FRAMES]))

    def on_navigated(self, frame: Frame) -> None:
        """Guard the fields of a frame's new document."""
        if self._texts:
            self._background.spawn(self._guard(frame))

    async def prepare(self, field: ElementHandle, origin: str) -> None:
        """Empty a field that gets a secret next, so that it holds nothing else, and show dots in it."""
        await world.evaluate(field, _GUARD, self._argument(origin, None))

    async def kept(self, field: ElementHandle, origin: str, text: str) -> tuple[int, str]:
        """Return how many characters a field has now, and the secret in the form that it has there. If the field lacks
        a part of the secret, the form is empty, and so is the field."""
        answer = await none_if_gone(world.evaluate(field, _GUARD, self._argument(origin, text)))
        return (len(text), text) if answer is None else results.read(tuple[int, str], answer)

    async def _guard(self, frame: Frame) -> None:
        if (origin := origin_of_frame(frame)) in self._texts:
            await within(_WITHIN_S, world.evaluate(frame, _GUARD, self._argument(origin, None)))

    def _argument(self, origin: str, given: str | None) -> dict[str, object]:
        return {"of": origin, "texts": [text for each in self._texts[origin].values() for text in each], "given": given}

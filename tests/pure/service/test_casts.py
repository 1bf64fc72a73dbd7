"""Tests when Chromium is asked for the next picture of a page, by a session that has the browser's side."""

import asyncio
import time
from collections.abc import Callable
from typing import cast

import pytest
from playwright.async_api import CDPSession

from browse_together.contract.frames import View
from browser_service.host.tabs.cast import ChromiumCast
from tests.support.json import AnyJson
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


class Chromium:
    """Stand-in that accepts all requests, and sends pictures when a test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._tell: Callable[[AnyJson], None] = lambda _: None
        self._pictures = 0
        self.stops = asyncio.Event()
        self.stops.set()

    def on(self, _: str, tell: Callable[[AnyJson], None]) -> None:
        self._tell = tell

    def remove_listener(self, _: str, __: Callable[[AnyJson], None]) -> None:
        return None

    async def send(self, method: str, _: AnyJson = None) -> None:
        self.asked.append(method.removeprefix("Page.").removesuffix("Screencast"))
        if method == "Page.stopScreencast":
            await self.stops.wait()

    def sends(self, *, made_at: float) -> None:
        self._pictures += 1
        metadata = {"deviceWidth": 800, "deviceHeight": 600, "timestamp": made_at}
        self._tell({"data": f"picture {self._pictures}", "sessionId": self._pictures, "metadata": metadata})


async def casting(shown: list[str]) -> tuple[Chromium, ChromiumCast]:
    chromium = Chromium()
    pictures = ChromiumCast(cast("CDPSession", chromium), View(fps=20), lambda data, *_: shown.append(data))
    await pictures.begin()
    return chromium, pictures


async def test_the_page_is_sent_again_after_an_overlapping_picture() -> None:
    """The change after it was dropped, and would not be seen until the page changed again."""
    shown: list[str] = []
    chromium, pictures = await casting(shown)
    before = time.time()
    chromium.sends(made_at=before)
    await become(lambda: chromium.asked == ["start", "screencastFrameAck"])
    chromium.sends(made_at=before)
    await become(lambda: chromium.asked[2:] in (["start", "stop"], ["stop", "start"]))
    chromium.sends(made_at=before)  # by a clock that is late: of a page that rests
    await become(lambda: chromium.asked[4:] == ["screencastFrameAck"])
    assert shown == ["picture 1", "picture 2", "picture 3"]
    chromium.sends(made_at=time.time() + 1)
    await become(lambda: chromium.asked[5:] == ["screencastFrameAck"])
    await pictures.end()


async def test_a_cast_that_ends_while_it_restarts_does_not_run_next_to_its_successor() -> None:
    chromium, pictures = await casting([])
    chromium.stops.clear()
    for _ in range(4):  # more than are shown, so that Chromium is told to stop meanwhile
        chromium.sends(made_at=time.time())
    await become(lambda: chromium.asked == ["start", "stop"])
    anew = asyncio.ensure_future(pictures.anew())
    await asyncio.sleep(0)  # lets it wait for the stop
    ending = asyncio.ensure_future(pictures.end())
    await become(lambda: chromium.asked == ["start", "stop", "stop"])
    chromium.stops.set()
    await ending
    assert await anew is None
    assert "start" not in chromium.asked[1:]

"""Pushes a host's events to the front, in order."""

import asyncio
import sys
from typing import Final

from browse_together.contract.errors import BrowseError
from browser_service.carriers.link import Link
from browser_service.carriers.messages import MOST_BESIDE, MOST_EVENTS, OF_FRONT
from browser_service.carriers.wire import LinkLost
from browser_service.host.seam import SessionHost
from browser_service.waits import wait_until

_BATCHES_AT_A_TIME: Final = 8
_POLL_MS: Final = 20_000
_LAST_WITHIN_S: Final = 2.0
_NOTE: Final = OF_FRONT["note"]


class Pushed:
    """How far the front has applied a host's events, over one link after another."""

    def __init__(self) -> None:
        self._seq = 0
        self._progress = asyncio.Event()

    async def run(self, link: Link, host: SessionHost) -> None:
        """Push events, some batches ahead of the front. What it has not applied is pushed again over the next link."""
        under_way, sent = set[asyncio.Task[None]](), self._seq
        try:
            while True:
                batch = await host.events_after(sent, _POLL_MS, MOST_EVENTS)
                if batch.last_seq == sent:
                    continue
                sent, body = batch.last_seq, _NOTE.dumped(batch=batch)
                is_large = len(body) > MOST_BESIDE
                while under_way and (is_large or len(under_way) >= _BATCHES_AT_A_TIME):
                    await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                task = asyncio.create_task(self._push(link, body, sent))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                if is_large:  # it takes the other way, on which it could be overtaken
                    await asyncio.wait([task])
        finally:
            for task in under_way:
                task.cancel()

    async def _push(self, link: Link, body: bytes, last_seq: int) -> None:
        try:
            await link.call(_NOTE, "note", body)
            self._seq = max(self._seq, last_seq)
            self._progress.set()
        except (LinkLost, BrowseError) as error:
            link.end(error)

    async def last(self, host: SessionHost) -> None:
        """Wait until the front has applied the last events, if it does so in time."""
        last_seq = (await host.events_after(sys.maxsize, 0, 1)).last_seq
        await wait_until(lambda: self._seq >= last_seq, self._progress, _LAST_WITHIN_S)

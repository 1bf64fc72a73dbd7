"""Lists each client's newest downloads, including those from before the service started."""

import asyncio
import time

from browse_together.contract.background import AtMost
from browse_together.contract.calls import DownloadState
from browse_together.contract.model import Json
from browser_service.store.journal import MOST_DOWNLOADS, Journal

_MOST_OF_CLIENT = 100
_DAY_S = 86_400


class Downloads:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, DownloadState] = {}
        self.unwritten: dict[str, None] = {}
        """Those that are not in the journal yet, by id."""
        self._ended = asyncio.Event()

    async def open(self) -> None:
        self._known = {state.download_id: state for state in (await self._journal.downloads())[-MOST_DOWNLOADS:]}

    def note(self, download: DownloadState) -> None:
        """Record a download's state; the oldest downloads beyond the limits, per client and in all, are dropped."""
        self._known[download.download_id] = download
        if download.state != "running":
            self.unwritten[download.download_id] = None
            self._ended.set()
            self._ended = asyncio.Event()
        own_ids = [each.download_id for each in self._known.values() if each.client_id == download.client_id]
        for download_id in {*own_ids[:-_MOST_OF_CLIENT], *[*self._known][:-MOST_DOWNLOADS]}:
            del self._known[download_id]

    async def until_one_ends(self, client_id: str | None, seconds: float) -> None:
        """Wait until one of the client's downloads that are on their way has ended, for so long at most; None as in
        `listed`."""
        coming = self._coming(client_id)
        async with AtMost(seconds):
            while coming and coming <= self._coming(client_id):
                await self._ended.wait()

    def _coming(self, client_id: str | None) -> set[str]:
        running = (each for each in self._known.values() if each.state == "running")
        return {each.download_id for each in running if client_id in {None, each.client_id}}

    def fail(self, page_ids: set[str], reason: str) -> list[DownloadState]:
        """Note that what these pages downloaded comes no more, and return it."""
        lost = [each for each in self._known.values() if each.state == "running" and each.page_id in page_ids]
        failed = [each.model_copy(update={"state": "failed", "reason": reason}) for each in lost]
        for each in failed:
            self.note(each)
        return failed

    async def write_down(self) -> None:
        """Write finished downloads that are not in the journal yet. Raises JournalFailed."""
        for download_id in [*self.unwritten]:
            if state := self._known.get(download_id):
                await self._journal.keep_download(state)
            del self.unwritten[download_id]

    def listed(self, client_id: str | None) -> list[Json]:
        """Return the client's downloads, newest first; None means the account's owner, who sees all."""
        return [each.shown() for each in self.of_all() if client_id in {None, each.client_id}]

    def of_all(self) -> list[DownloadState]:
        """Return everybody's downloads, the newest first."""
        return [*reversed(self._known.values())]

    def urls_of(self, client_id: str) -> list[str]:
        """Return where the client's downloads came from."""
        return [each.url for each in self._known.values() if each.client_id == client_id]

    def name_of(self, artifact_id: str) -> str | None:
        return next((each.name for each in self._known.values() if each.artifact_id == artifact_id), None)

    async def clean(self, days: int) -> None:
        for download_id in await self._journal.forget_downloads(time.time() - days * _DAY_S):
            self._known.pop(download_id, None)

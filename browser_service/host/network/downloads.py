"""Follows downloads of pages to their end, and stores them for the client that holds the page."""

import asyncio
import contextlib
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from playwright.async_api import CDPSession, Download
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browse_together.contract.calls import DownloadState
from browse_together.contract.cuts import cut
from browse_together.contract.errors import BrowseError
from browse_together.contract.events import DownloadMoved
from browse_together.contract.quoting import one_line
from browse_together.contract.timestamps import iso
from browser_service.host.events import EventLog, address_of, well_formed
from browser_service.host.network.file_types import HEAD, file_type
from browser_service.host.seam import ArtifactPort

_ENDS_WITHIN_S = 3_600
_IN_USE_MS = 600_000
"""What begins longer after its page's last use is the page's own doing, and may go on for ever."""
_MOST_URL = 2_000
_MOST_NAME = 200
_MB = 1_000_000
_ELSEWHERE = "the browser that is attached to (BROWSE_CDP_URL) keeps it where its person's settings say, and not here"


class DownloadObserver(Protocol):
    """The observer of the page that began a download, which knows the acts on that page."""

    def add_download(self, active: "ActiveDownload") -> None:
        """Note that a running act began the download."""

    def will_report(self, active: "ActiveDownload") -> bool:
        """Return whether the reply of a running act will still report the download."""


class DownloadPage(Protocol):
    """The page that began a download, by whose name its client gets notices."""

    page_id: str

    @property
    def idle_ms(self) -> int: ...

    def tell(self, client_id: str, text: str) -> None: ...


@dataclass(eq=False)
class ActiveDownload:
    """A download with its present state."""

    state: DownloadState
    download: Download
    observer: DownloadObserver
    page: DownloadPage
    keeps_page: bool
    """True if its page stays open for it."""
    refused: str = ""
    reported: bool = False

    @property
    def ended(self) -> bool:
        return self.state.state != "running"

    def notify(self) -> None:
        self.page.tell(self.state.client_id, f"{self.state.page_id}: {self.report()}")

    def report(self) -> str:
        """Return its state in a line, for an act's reply or a notice. After the end, this marks it as reported."""
        self.reported = self.reported or self.ended
        return self.state.line


class Downloads:
    """All downloads of a host's pages. They need no turn of the page."""

    def __init__(self, port: ArtifactPort, log: EventLog, max_mb: int) -> None:
        self._port = port
        self._log = log
        self._max_mb = max_mb
        self._active: set[ActiveDownload] = set()
        self._background = Background()

    def follow(self, download: Download, page: DownloadPage, owner: str, observer: DownloadObserver) -> None:
        state = DownloadState(
            download_id=f"dl-{secrets.token_hex(6)}",
            client_id=owner,
            page_id=page.page_id,
            url=cut(address_of(download.url), _MOST_URL),
            name=_name(download.suggested_filename),
            began_at=iso(datetime.now(UTC), "seconds"),
        )
        active = ActiveDownload(state, download, observer, page, keeps_page=page.idle_ms < _IN_USE_MS)
        self._active.add(active)
        observer.add_download(active)
        self._log.emit(DownloadMoved(download=state))
        self._background.spawn(self._follow_to_end(active))

    def keep(self, page_id: str) -> bool:
        """Return whether a page stays open for a download that runs."""
        return any(each.state.page_id == page_id and each.keeps_page and not each.ended for each in self._active)

    def watch(self, cdp: CDPSession, tell_elsewhere: Callable[[str], None] | None) -> None:
        """Have Chromium report progress; other engines report only the end. `tell_elsewhere` announces downloads that
        an attached browser keeps for its person."""
        urls: dict[str, str] = {}

        def progressed(event: dict[str, str | float]) -> None:
            guid = str(event["guid"])
            if event["state"] != "inProgress":
                urls.pop(guid, None)
            elif (url := urls.get(guid)) is not None:
                self._progressed(url, int(float(event["receivedBytes"])), int(float(event["totalBytes"])))

        def began(event: dict[str, str]) -> None:
            urls[event["guid"]] = event["url"]
            if tell_elsewhere is not None:
                tell_elsewhere(f"download {_name(event['suggestedFilename'])!r} began; {_ELSEWHERE}")

        cdp.on("Page.downloadWillBegin", began)
        cdp.on("Page.downloadProgress", progressed)
        self._background.spawn(_enable_events(cdp))

    async def stop(self) -> None:
        """Fail all running downloads, because they are lost with the browser."""
        for active in [*self._active]:
            self._end(active, state="failed", reason="the service was stopped")
        await self._background.stop()

    def _progressed(self, url: str, received: int, total: int) -> None:
        for active in [each for each in self._active if each.download.url == url and not each.ended]:
            active.state = active.state.model_copy(update={"size": received})
            self._log.emit(DownloadMoved(download=active.state))
            if self._exceeds(max(received, total)) and not active.refused:
                active.refused = self._too_large(max(received, total))
                self._background.spawn(_cancel(active.download))

    async def _follow_to_end(self, active: ActiveDownload) -> None:
        try:
            async with asyncio.timeout(_ENDS_WITHIN_S):
                failure = await active.download.failure()
                if failure is None:
                    await self._keep(active)
                else:
                    self._end(active, state="cancelled" if failure == "canceled" else "failed", reason=failure)
        except TimeoutError:
            await _cancel(active.download)
            self._end(active, state="failed", reason=f"it did not end within {_ENDS_WITHIN_S // 60} minutes")
        except BrowseError as error:
            self._end(active, state="failed", reason=error.message)
        except (PlaywrightError, OSError) as error:
            self._end(active, state="failed", reason=str(error).splitlines()[0])
        finally:
            self._active.discard(active)

    async def _keep(self, active: ActiveDownload) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "download"
            await active.download.save_as(path)
            with contextlib.suppress(PlaywrightError):
                await active.download.delete()
            size = path.stat().st_size
            if self._exceeds(size):
                self._end(active, state="failed", reason=self._too_large(size))
                return
            mime_type = await asyncio.to_thread(_type_of, path, active.state.name)
            artifact = await self._port.take(path, mime_type, active.state.client_id, name=active.state.name)
        self._end(
            active,
            state="finished",
            size=artifact.size,
            mime_type=mime_type,
            artifact_id=artifact.artifact_id,
            file=artifact.url,
            path=artifact.path or "",
        )

    def _end(self, active: ActiveDownload, *, reason: str = "", **outcome: str | int) -> None:
        """Record its end. If no reply of an act will still report it, send a notice."""
        if active.ended:
            return
        outcome = {**outcome, "state": "failed"} if active.refused else outcome
        reason = active.refused or reason
        active.state = active.state.model_copy(update={**outcome, **({"reason": reason} if reason else {})})
        self._log.emit(DownloadMoved(download=active.state))
        if not active.observer.will_report(active):
            active.notify()

    def _exceeds(self, size: int) -> bool:
        return 0 < self._max_mb * _MB < size

    def _too_large(self, size: int) -> str:
        return f"it has {size:,} bytes, and {self._max_mb} MB are the most"


async def _enable_events(cdp: CDPSession) -> None:
    """Enable the reports without delaying the page's start: behind an open dialog, Chromium answers late."""
    with contextlib.suppress(PlaywrightError):
        await cdp.send("Page.enable")


def _type_of(path: Path, name: str) -> str:
    with path.open("rb") as file:
        return file_type(name, file.read(HEAD))


async def _cancel(download: Download) -> None:
    with contextlib.suppress(PlaywrightError):
        await download.cancel()


def _name(suggested: str) -> str:
    """Return a suggested file name as one line without a path."""
    last = well_formed(suggested).replace("\\", "/").rpartition("/")[2]
    return one_line(cut("".join(each for each in last if each.isprintable()), _MOST_NAME)) or "download"

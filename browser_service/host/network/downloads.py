"""Follows the downloads of pages to their end, and keeps them for the client that holds the page."""

import asyncio
import contextlib
import mimetypes
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from playwright.async_api import CDPSession, Download
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from browser_service.host.events import well_formed
from browser_service.host.files import ArtifactPort
from shared.calls import DownloadState
from shared.errors import BrowseError
from shared.events import DownloadMoved, HostEvent
from shared.moments import iso

_WITHIN_S = 3_600
_SHOWN_URL = 2_000
_SHOWN_NAME = 200
_MB = 1_000_000


class Watcher(Protocol):
    """Knows which acts run on the page that began a download."""

    def download(self, arriving: "ActiveDownload") -> None:
        """Note that a running act began it."""

    def awaits(self, arriving: "ActiveDownload") -> bool:
        """Say whether the reply of a running act will still report it."""


@dataclass(eq=False)
class ActiveDownload:
    """Is a download on its way, with what is known of it so far."""

    state: DownloadState
    download: Download
    watcher: Watcher
    tell: Callable[[], None]
    """Gives its owner a notice, once it has ended."""
    refused: str = ""
    reported: bool = False

    @property
    def ended(self) -> bool:
        return self.state.state != "running"

    def report(self) -> str:
        """Say how it goes, for an act's reply or a notice; its end is told once."""
        self.reported = self.reported or self.ended
        return self.state.line


class Downloads:
    """Follows all that pages of a host download. It needs no turn of the page."""

    def __init__(self, port: ArtifactPort, emit: Callable[[HostEvent], None], max_mb: int) -> None:
        self._port = port
        self._emit = emit
        self._max_mb = max_mb
        self._active: set[ActiveDownload] = set()
        self._background = Background()

    def follow(
        self, download: Download, page_id: str, owner: str, watcher: Watcher, tell: Callable[[str], None]
    ) -> None:
        """Follow a download of a page to its end, for the client that owns it; `tell` gives that client a notice."""
        state = DownloadState(
            download_id=f"dl-{secrets.token_hex(6)}",
            client_id=owner,
            page_id=page_id,
            url=well_formed(download.url)[:_SHOWN_URL],
            name=_name(download.suggested_filename),
            began_at=iso(datetime.now(UTC), "seconds"),
        )
        arriving = ActiveDownload(state, download, watcher, lambda: tell(f"{page_id}: {arriving.report()}"))
        self._active.add(arriving)
        watcher.download(arriving)
        self._emit(DownloadMoved(download=state))
        self._background.spawn(self._follow_to_end(arriving))

    def running_on(self, page_id: str) -> bool:
        """Say whether a download of the page has not ended."""
        return any(each.state.page_id == page_id and not each.ended for each in self._active)

    def watch(self, cdp: CDPSession) -> None:
        """Have Chromium report how much has come. Other engines report the end alone."""
        urls: dict[str, str] = {}

        def progressed(event: dict[str, str | float]) -> None:
            url, state = urls.get(str(event["guid"])), event["state"]
            if url is not None and state == "inProgress":
                self._progressed(url, int(float(event["receivedBytes"])), int(float(event["totalBytes"])))

        cdp.on("Page.downloadWillBegin", lambda event: urls.update({event["guid"]: event["url"]}))
        cdp.on("Page.downloadProgress", progressed)
        self._background.spawn(_enable_events(cdp))

    async def stop(self) -> None:
        """End all that has not come by now: it is lost with the browser."""
        for arriving in [*self._active]:
            self._end(arriving, state="failed", reason="the service was stopped")
        await self._background.stop()

    def _progressed(self, url: str, received: int, total: int) -> None:
        for arriving in [each for each in self._active if each.download.url == url and not each.ended]:
            arriving.state = arriving.state.model_copy(update={"size": received})
            self._emit(DownloadMoved(download=arriving.state))
            if self._exceeds(max(received, total)) and not arriving.refused:
                arriving.refused = self._too_large(max(received, total))
                self._background.spawn(_cancel(arriving.download))

    async def _follow_to_end(self, arriving: ActiveDownload) -> None:
        try:
            async with asyncio.timeout(_WITHIN_S):
                failure = await arriving.download.failure()
                if failure is None:
                    await self._keep(arriving)
                else:
                    self._end(arriving, state="cancelled" if failure == "canceled" else "failed", reason=failure)
        except TimeoutError:
            await _cancel(arriving.download)
            self._end(arriving, state="failed", reason=f"it did not end within {_WITHIN_S // 60} minutes")
        except BrowseError as error:
            self._end(arriving, state="failed", reason=error.message)
        except (PlaywrightError, OSError) as error:
            self._end(arriving, state="failed", reason=str(error).splitlines()[0])
        finally:
            self._active.discard(arriving)

    async def _keep(self, arriving: ActiveDownload) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "download"
            await arriving.download.save_as(path)
            with contextlib.suppress(PlaywrightError):
                await arriving.download.delete()
            size = path.stat().st_size
            if self._exceeds(size):
                self._end(arriving, state="failed", reason=self._too_large(size))
                return
            mime_type = mimetypes.guess_type(arriving.state.name)[0] or "application/octet-stream"
            artifact = await self._port.take(path, mime_type, arriving.state.client_id, name=arriving.state.name)
        self._end(
            arriving,
            state="finished",
            size=size,
            mime_type=mime_type,
            artifact_id=artifact.artifact_id,
            file=artifact.url,
            path=artifact.path or "",
        )

    def _end(self, arriving: ActiveDownload, *, reason: str = "", **known: str | int) -> None:
        """Record its end. The reply of the act that began it reports that if it is still to come, else a notice."""
        if arriving.ended:
            return
        known = {**known, "state": "failed"} if arriving.refused else known
        reason = arriving.refused or reason
        arriving.state = arriving.state.model_copy(update={**known, **({"reason": reason} if reason else {})})
        self._emit(DownloadMoved(download=arriving.state))
        if not arriving.watcher.awaits(arriving):
            arriving.tell()

    def _exceeds(self, size: int) -> bool:
        return 0 < self._max_mb * _MB < size

    def _too_large(self, size: int) -> str:
        return f"it has {size:,} bytes, and {self._max_mb} MB are the most (BROWSE_DOWNLOAD_MAX_MB)"


async def _enable_events(cdp: CDPSession) -> None:
    """Turn the reports on without delaying the page's start: behind an open dialog Chromium answers late."""
    with contextlib.suppress(PlaywrightError):
        await cdp.send("Page.enable")


async def _cancel(download: Download) -> None:
    with contextlib.suppress(PlaywrightError):
        await download.cancel()


def _name(suggested: str) -> str:
    """Make one line of a suggested name, and no path."""
    last = well_formed(suggested).replace("\\", "/").rpartition("/")[2]
    return "".join(each for each in last if each.isprintable())[:_SHOWN_NAME] or "download"

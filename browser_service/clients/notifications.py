"""Notifies people of requests: on this machine's desktop, and by a POST to their webhook."""

import asyncio
import html
import shutil
import sys
from collections.abc import Callable

import httpx
import structlog

from browser_service.clients.inbox import describe_request
from browser_service.rules.bounded import Bounded
from shared.model import Json
from shared.pages import PageState
from shared.wire import APP_NAME
from shared.words import own_words

_WITHIN_S = 5.0
_MOST_TEXT = 300
_MOST_NOTIFIED = 1_000
_APPLESCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")

log = structlog.get_logger(__name__)


class Notifier:
    """Notifies of each request once. Nobody waits for it, and a failure is only logged."""

    def __init__(self, *, desktop: bool, webhook: str | None, link: Callable[[str], str]) -> None:
        self._desktop = _desktop_command() if desktop else None
        self._webhook = webhook
        self._link = link
        self._notified = Bounded[str, None](_MOST_NOTIFIED)
        self._tasks: set[asyncio.Task[None]] = set()

    def notify(self, page: PageState) -> None:
        if page.person is None or page.person.is_hold or page.person.request_id in self._notified:
            return
        self._notified[page.person.request_id] = None
        task = asyncio.create_task(self._send(describe_request(page)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _send(self, request: Json) -> None:
        if self._desktop:  # without the link: other accounts of this machine can read a program's arguments
            title = f"{APP_NAME}: {request['askedBy']} asks for you"
            words = str(request["message"]) if request.get("ofRule") else own_words(str(request["message"]))
            text = f"{request['kind']}, {request['origin']}, {words}"
            await _run([*self._desktop, title[:_MOST_TEXT], html.escape(text[:_MOST_TEXT], quote=False)])
        if self._webhook:
            await _post(self._webhook, {**request, "link": self._link(str(request["requestId"]))})


async def _post(address: str, request: Json) -> None:
    try:
        async with (
            asyncio.timeout(_WITHIN_S),
            httpx.AsyncClient(trust_env=False, follow_redirects=False) as http,
            http.stream("POST", address, json={"event": "request", "request": request}) as reply,
        ):
            if not reply.is_success:
                log.warning("the webhook did not take the notification", status=reply.status_code)
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        log.warning("the webhook cannot be reached", reason=type(error).__name__)


async def _run(command: list[str]) -> None:
    """Run the program with its arguments, without a shell that would interpret them."""
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError as error:
        log.warning("the desktop cannot be notified", reason=str(error))
        return
    try:
        await asyncio.wait_for(process.wait(), _WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def _desktop_command() -> list[str] | None:
    """Return the command that shows a title and a text on this desktop; None if there is none."""
    if program := shutil.which("notify-send"):
        return [program, f"--app-name={APP_NAME}", "--"]
    if sys.platform == "darwin" and (program := shutil.which("osascript")):
        return [program, *(part for line in _APPLESCRIPT for part in ("-e", line))]
    return None

"""Notifies people of requests and of logins that end: on this machine's desktop, and by a POST to their webhook."""

import asyncio
import html
import shutil
import sys
from collections.abc import Callable

import httpx
import structlog

from browse_together.contract.background import Background
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browse_together.contract.wire import APP_NAME
from browse_together.contract.words import own_words
from browser_service.clients.inbox import describe_request
from browser_service.programs import printed_by
from browser_service.rules.bounded import Bounded

_WITHIN_S = 5.0
_MOST_TEXT = 300
_MOST_NOTIFIED = 1_000
_CLICKED_WITHIN_S = 600.0
"""How long a desktop program may wait for a click on its notification; few of them run at once."""
_MOST_WAITING = 5
_HOW = "browse-together requests"
_SIGN_IN = "browse-together login"
_APPLESCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")

log = structlog.get_logger(__name__)


class Notifier:
    """The notifications, one per request, and those of logins. Nothing waits for them, and a failure is only logged."""

    def __init__(
        self,
        *,
        desktop: bool,
        webhook: str | None,
        link: Callable[[str], str],
        open_link: Callable[[str], object],
    ) -> None:
        """`link` returns the address of a request's page, and `open_link` opens it in this person's browser."""
        self._desktop = _desktop_command() if desktop else None
        self._webhook = webhook
        self._link, self._open_link = link, open_link
        self._waiting = 0
        self._notified = Bounded[str, None](_MOST_NOTIFIED)
        self._sending = Background()

    def notify(self, page: PageState) -> None:
        if page.person is None or page.person.is_hold or page.person.request_id in self._notified:
            return
        self._notified[page.person.request_id] = None
        self._sending.spawn(self._send(describe_request(page)))

    def tell_login(self, login: Json) -> None:
        """Tell that a login ends or has ended."""
        if self._webhook:
            self._sending.spawn(_post(self._webhook, {"event": "login", "login": login}))
        if self._desktop:
            title, text = f"{APP_NAME}: your login at {login['site']}", f"{login['words']}\nRenew it: {_SIGN_IN}"
            shown = [*self._desktop[1:], title[:_MOST_TEXT], html.escape(text, quote=False)[:_MOST_TEXT]]
            self._sending.spawn(_run([self._desktop[0], *shown], _WITHIN_S))

    async def close(self) -> None:
        await self._sending.stop()

    async def _send(self, request: Json) -> None:
        link = self._link(str(request["requestId"]))
        await asyncio.gather(
            self._show(self._desktop, request, link) if self._desktop else asyncio.sleep(0),
            _post(self._webhook, {"event": "request", "request": {**request, "link": link}})
            if self._webhook
            else asyncio.sleep(0),
        )

    async def _show(self, command: list[str], request: Json, link: str) -> None:
        """Show the request, and open it when a person clicks the notification. The program never gets the link: other
        accounts on this machine can read its arguments."""
        title = f"{APP_NAME}: {request['askedBy']} asks for you"
        words = str(request["message"]) if request.get("ofRule") else own_words(str(request["message"]))
        text = ", ".join(filter(None, (str(request["kind"]), str(request["origin"]), words)))[:_MOST_TEXT]
        opens = self._waiting < _MOST_WAITING and await _takes_clicks(command[0])
        option = ["--action=default=Open", "--wait"] if opens else []
        text = text if opens else f"{text}\nSee it: {_HOW}"
        arguments = [*option, *command[1:], title[:_MOST_TEXT], html.escape(text, quote=False)]
        self._waiting += opens
        try:
            said = await _run([command[0], *arguments], _CLICKED_WITHIN_S if opens else _WITHIN_S)
        finally:
            self._waiting -= opens
        if opens and said.strip() == b"default":
            await asyncio.to_thread(self._open_link, link)


async def _takes_clicks(program: str) -> bool:
    """Return whether the desktop's program reports clicks; versions before 2022 do not."""
    return b"--action" in await _run([program, "--help"], _WITHIN_S)


async def _post(webhook: str, body: Json) -> None:
    """Send something to the webhook, which leads nowhere else. Its address is a secret, also for the log."""
    try:
        async with (
            asyncio.timeout(_WITHIN_S),
            httpx.AsyncClient(trust_env=False, follow_redirects=False) as http,
            http.stream("POST", webhook, json=body) as reply,
        ):
            if not reply.is_success:
                log.warning("the webhook did not take a notification", status=reply.status_code)
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        log.warning("the webhook cannot be notified", reason=type(error).__name__)


async def _run(command: list[str], within_s: float) -> bytes:
    """Run a command, and return its output; empty if it fails or takes too long."""
    try:
        return (await printed_by(command, within_s)).said
    except TimeoutError:
        return b""
    except OSError as error:
        log.warning("the desktop cannot be notified", reason=str(error))
        return b""


def _desktop_command() -> list[str] | None:
    """Return the command that shows a title and a text on this desktop, or None."""
    if program := shutil.which("notify-send"):
        return [program, f"--app-name={APP_NAME}", "--"]
    if sys.platform == "darwin" and (program := shutil.which("osascript")):
        return [program, *(part for line in _APPLESCRIPT for part in ("-e", line))]
    return None

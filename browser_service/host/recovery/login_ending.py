"""Tells a client whose page asks to sign in which act of another ended the login, and offers what it had typed."""

import asyncio
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from browser_service.host.call_run import CallRun
from browser_service.host.observation import Observation
from browser_service.host.page.handle import BrowserPage
from browser_service.host.recovery.logins import cookies_of
from browser_service.rules.login_ends import Cookie
from shared.cuts import cut
from shared.model import Json
from shared.next_calls import next_call
from shared.quoting import address, quoted

_SHOWN: Final = 80
_LOOKS_WITHIN_S: Final = 1.0
_REFUSALS: Final = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_FIELD: Final = "input[type=password]"


class LoginEnding:
    """Watches one act for the end of a login: its own doing, or that of another since the page came where it is."""

    def __init__(self, page: BrowserPage, run: CallRun) -> None:
        self._page, self._run = page, run
        self._before, self._since, self._url = page.session.logins.saved, page.filled_fields.began_at, page.record.url

    def note(self, observation: Observation) -> None:
        """Note the act, once the cookies are saved that it left."""
        session, call, after = self._page.session, self._run.call, self._page.session.logins.saved
        gone = _cookies(self._before) - _cookies(after) if self._before is not after else frozenset()
        action = self._run.action
        on = f" {quoted(action.requested_selector, _SHOWN)}" if action.requested_selector else ""
        act = f'{action.name()}{on} by "{call.client_label}" on {self._page.page_id}'
        who = "an act of another client on a private page" if self._page.record.private else act
        paths = [cut(address(path), _SHOWN) for path in _paths(observation)]
        session.login_ends.note(self._page.page_id, who, urlsplit(self._url).hostname or "", gone, paths)

    async def tell(self, observation: Observation) -> None:
        """Have the reply say why the page asks to sign in, if it does because of another act."""
        page, host = self._page, urlsplit(self._url).hostname or ""
        end = page.session.login_ends.latest(host, self._since, page.page_id) if observation.visited_urls else None
        if end is None or not (observation.status in _REFUSALS or await self._asks()):
            return
        ago = f"{time.monotonic() - end.at:.0f} s ago"
        line = f"the page asks to sign in: the login at {host} was ended {ago} by {end.who} ({end.how})"
        page.filled_fields.offer_left(self._run.call.client_id)
        offer = page.filled_fields.offer(self._run.call.client_id, page.page_id)
        if place := page.filled_fields.place:
            back = next_call("goto", page_id=page.page_id, url=place)
            line += f"; what you had filled may not have been taken: sign in, {back}, then {offer}"
        page.add_observation(line)

    async def _asks(self) -> bool:
        """Say if the page has a field for a password."""
        try:
            async with asyncio.timeout(_LOOKS_WITHIN_S):
                return await self._page.playwright.locator(_FIELD).count() > 0
        except (TimeoutError, PlaywrightError):
            return False


def _cookies(state: Json) -> frozenset[Cookie]:
    return frozenset((str(each.get("name")), str(each.get("domain"))) for each in cookies_of(state))


def _paths(observation: Observation) -> Iterator[str]:
    for request in [*observation.writes, *observation.answered_documents]:
        yield urlsplit(request.url).path

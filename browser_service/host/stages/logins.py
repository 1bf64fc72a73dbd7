"""The logins of a session after an act."""

import asyncio
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Request

from browse_together.contract.background import AtMost
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import address, quoted
from browser_service.host.sessions.logins import cookies_of
from browser_service.host.stages.act import Act
from browser_service.host.tabs.observation import Observation
from browser_service.rules.login_cookies import signs_in
from browser_service.rules.login_ends import Cookie

_SHOWN: Final = 80
_LOOKS_WITHIN_S: Final = 1.0
_REFUSALS: Final = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_FIELD: Final = "input[type=password]"


class LoginsLeft:
    """The saving of logins after an act; and, if a page asks to sign in, a line about the act that ended its login."""

    def __init__(self, act: Act) -> None:
        self.act, self.page, self.run, self.action = act, act.page, act.run, act.action
        page = act.page
        self._before, self._since, self._url = page.session.logins.saved, page.filled_fields.began_at, page.record.url
        self._saving: asyncio.Future[None] | None = None

    async def after(self) -> None:
        """Begin to save while the reply is made, unless a script may still make a login of a response."""
        observation = self.act.observation
        if observation.visited_urls and self.action.asked_reply.awaits:
            await self._tell(observation)
        if self.act.changed and observation.visited_urls and not observation.writes:
            self._saving = asyncio.ensure_future(self._save(observation))

    async def end(self) -> None:
        observation = self.act.observation
        if self._saving is not None:
            await self._saving
        elif self.act.changed and (observation.writes or observation.visited_urls):
            await self._save(observation)

    async def _save(self, observation: Observation) -> None:
        """Save the logins, which may have changed."""
        await self.page.session.logins.save_cookies()
        self._note(observation)

    def _note(self, observation: Observation) -> None:
        """Note the act and the cookies that it removed, once the cookies are saved."""
        page, session, call = self.page, self.page.session, self.run.call
        session.login_ends.see(session.logins.cookies)
        gone = (
            _cookies(self._before) - _cookies(after)
            if self._before is not (after := session.logins.saved)
            else frozenset()
        )
        selector = self.action.aim.selector
        on = f" {quoted(selector, _SHOWN)}" if selector else ""
        act = f'{self.action.name()}{on} by "{call.client_label}" on {page.page_id}'
        who = "an act of another client on a private page" if page.record.private else act
        paths = [cut(address(path), _SHOWN) for path in _paths(observation)]
        session.login_ends.note(page.page_id, who, urlsplit(self._url).hostname or "", gone, paths)

    async def _tell(self, observation: Observation) -> None:
        """Add to the reply why the page asks to sign in, if another act is the reason."""
        page, host = self.page, urlsplit(self._url).hostname or ""
        end = page.session.login_ends.latest(host, self._since, page.page_id)
        if end is None:
            self._tell_over(observation)
            return
        if not (observation.status in _REFUSALS or await self._asks()):
            return
        ago = f"{time.monotonic() - end.at:.0f} s ago"
        line = f"the page asks to sign in: the login at {host} was ended {ago} by {end.who} ({end.how})"
        page.filled_fields.offer_left(self.run.call.client_id)
        offer = page.filled_fields.offer(self.run.call.client_id, page.page_id)
        if place := page.filled_fields.place:
            back = next_call("goto", page_id=page.page_id, url=place)
            line += f"; what you had filled may not have been taken: sign in, {back}, then {offer}"
        page.observer.add_lines(line)

    def _tell_over(self, observation: Observation) -> None:
        """Add to the reply, and tell the person, that a login seems to be over: a page led to where one signs in."""
        page, ends = self.page, self.page.session.login_ends
        ends.see(cookies_of(self._before))
        if observation.status != HTTPStatus.UNAUTHORIZED and not _signs_in(page.url):
            return
        asked = [url for each in observation.answered_documents if not _signs_in(url := _first_url(each))]
        if site := ends.site_of(urlsplit(asked[0]).hostname or "") if asked else "":
            ask = next_call("request_human", page_id=page.page_id, kind="login", message=f"Sign in again at {site}")
            page.observer.add_lines(f"the login at {site} seems to be over; a person signs in again: {ask}")
            page.session.tell_login_over(site)

    async def _asks(self) -> bool:
        """Say if the page has a password field."""
        async with AtMost(_LOOKS_WITHIN_S, PlaywrightError):
            return await self.page.playwright.locator(_FIELD).count() > 0
        return False


def _first_url(request: Request) -> str:
    """Return the address that was asked for before redirects led elsewhere."""
    while request.redirected_from is not None:
        request = request.redirected_from
    return request.url


def _signs_in(url: str) -> bool:
    parts = urlsplit(url)
    return signs_in(f"{parts.netloc}{parts.path}")


def _cookies(state: Json) -> frozenset[Cookie]:
    return frozenset((str(each.get("name")), str(each.get("domain"))) for each in cookies_of(state))


def _paths(observation: Observation) -> Iterator[str]:
    for request in [*observation.writes, *observation.answered_documents]:
        yield urlsplit(request.url).path

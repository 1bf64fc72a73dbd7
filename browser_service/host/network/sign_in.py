"""Signs in to sites that ask for a name and a password by HTTP authentication, and keeps both out of page addresses."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import quote
from weakref import WeakSet

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.userinfo import split_userinfo, without_userinfo
from browser_service.rules.bounded import Bounded
from browser_service.security.http_logins import SIGNED_OUT, Challenge, Credentials, HttpLogins
from browser_service.security.urls import origin_of

_DOCUMENT: Final = "Document"
_MOST_TRIED: Final = 500
_MOST_REALM: Final = 200


class Challenged(Protocol):
    """A page, with the sign-in that its site asks for."""

    challenge: Challenge | None


class SignIns:
    """The sign-in on all pages of one session."""

    def __init__(self, logins: HttpLogins) -> None:
        self.logins = logins
        self._pages = WeakSet[SignIn]()

    def on_page(self, page: Page) -> "SignIn":
        sign_in = SignIn(self.logins, page)
        self._pages.add(sign_in)
        return sign_in

    @asynccontextmanager
    async def trying(self, origin: str, credentials: Credentials, page: Challenged) -> AsyncIterator[None]:
        """Use the credentials for an origin, and keep them unless the site still asks at the end of the block."""
        before = self.logins.kept(origin)
        await self._keep(origin, credentials)
        try:
            yield
        finally:
            if (asked := page.challenge) is not None and asked.origin == origin:
                await self._keep(origin, before)

    async def remove(self, concerns: Callable[[str], bool]) -> dict[str, Credentials]:
        """Remove and return the logins of the origins that `concerns` accepts."""
        removed = self.logins.remove(concerns)
        await self._refresh()
        return removed

    async def put_back(self, logins: Mapping[str, Credentials]) -> list[str]:
        """Restore removed logins, except for origins that have others by now. Returns the restored origins."""
        back = [origin for origin in logins if self.logins.kept(origin) is None]
        for origin in back:
            self.logins.keep(origin, logins[origin])
        await self._refresh()
        return back

    async def _keep(self, origin: str, credentials: Credentials | None) -> None:
        self.logins.keep(origin, credentials)
        await self._refresh()

    async def _refresh(self) -> None:
        await asyncio.gather(*(each.refresh() for each in self._pages), return_exceptions=True)


class SignIn:
    """The answers to sites that ask one page for a login.

    A document of another site in a frame gets no login, and neither do requests by other sites: they would act with it.
    Only documents, and requests to origins with a login, are paused. Workers and popups send requests that no page's
    session sees; for those, Chromium itself remembers a document's login.
    """

    def __init__(self, logins: HttpLogins, page: Page) -> None:
        self.on_challenge: Callable[[Challenge | None], None] = lambda _: None
        """Called with the site's challenge if it asked for the page's own document and got no login; called with None
        each time that document is requested."""
        self.target_id = ""
        self._logins, self._page = logins, page
        self._session: CDPSession | None = None
        self._watched: tuple[str, ...] = ()
        self._tried = Bounded[str, None](_MOST_TRIED)
        self._background = Background()

    async def attach(self, session: CDPSession) -> None:
        """Have Chromium pause documents and report challenges."""
        self._session = session
        session.on("Fetch.authRequired", lambda event: self._background.spawn(self._answer(session, event)))
        await self._watch(session)

    async def refresh(self) -> None:
        """Pause requests to the origins that have a login now."""
        if self._session is not None and self._watched != self._logins.origins:
            await self._watch(self._session)

    async def _watch(self, session: CDPSession) -> None:
        self._watched = self._logins.origins
        patterns: list[Json] = [{"urlPattern": "*", "resourceType": _DOCUMENT}]
        patterns += [{"urlPattern": f"{origin}/*"} for origin in self._watched]
        await session.send("Fetch.enable", {"patterns": patterns, "handleAuthRequests": True})

    def command(self, event: Json, url: str) -> tuple[str, Json] | None:
        """Return the command for a permitted paused request that is not simply sent, else None."""
        if event.get("resourceType") != _DOCUMENT:
            return None
        if is_own := event.get("frameId") == self.target_id:
            self.on_challenge(None)
        plain, username, password = split_userinfo(url)
        origin = origin_of(plain) or ""
        if plain != url:
            if is_own:
                self._logins.offer(origin, Credentials(username, password))
            location: Json = {"name": "Location", "value": plain}
            status = HTTPStatus.TEMPORARY_REDIRECT.value
            return "Fetch.fulfillRequest", {"responseCode": status, "responseHeaders": [location]}
        if is_own and (given := self._logins.take_replaced(origin)):
            if given is not SIGNED_OUT:
                self._tried[str(event["requestId"])] = None
            return "Fetch.continueRequest", {"url": with_userinfo(url, given)}
        return None

    async def _answer(self, session: CDPSession, event: Json) -> None:
        """Answer `Fetch.authRequired`. Challenges of proxies are left to the browser."""
        asked, request_id = event["authChallenge"], str(event["requestId"])
        if not isinstance(asked, dict):
            return
        response: Json = {"response": "Default" if asked.get("source") == "Proxy" else "CancelAuth"}
        if asked.get("source") != "Proxy":
            origin = origin_of(str(asked["origin"])) or ""
            is_own = event.get("frameId") == self.target_id and event.get("resourceType") == _DOCUMENT
            may_have = is_own or origin_of(self._page.url) == origin
            given = self._logins.of(origin) if may_have and request_id not in self._tried else None
            if given is not None:
                self._tried[request_id] = None
                response = {"response": "ProvideCredentials", **given._asdict()}
            elif is_own:
                self._note(event, asked, origin)
        try:
            await session.send("Fetch.continueWithAuth", {"requestId": request_id, "authChallengeResponse": response})
        except PlaywrightError:
            return  # the page is gone

    def _note(self, event: Json, asked: Json, origin: str) -> None:
        request = event["request"]
        url = without_userinfo(str(request["url"])) if isinstance(request, dict) else ""
        scheme, realm = cut(str(asked.get("scheme", "")), _MOST_REALM), cut(str(asked.get("realm", "")), _MOST_REALM)
        refused = str(event["requestId"]) in self._tried
        self.on_challenge(Challenge(url, origin, scheme.capitalize(), realm, refused=refused))


def with_userinfo(url: str, given: Credentials) -> str:
    """Return an address with a name and a password in it, which only browsers get."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{quote(given.username, safe='')}:{quote(given.password, safe='')}@{rest}"

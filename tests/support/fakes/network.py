"""Sends the fake browser's requests over real HTTP, with the cookies of a context."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import TypedDict
from urllib.parse import urlsplit

import httpx


class Cookie(TypedDict):
    name: str
    value: str
    domain: str
    path: str
    expires: float
    httpOnly: bool
    secure: bool
    sameSite: str


@dataclass(eq=False)
class FakeRequest:
    """A request, with Playwright's names for its facts."""

    url: str
    method: str
    resource_type: str
    frame: object
    post_data_buffer: bytes | None = None
    failure: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    existing_response: "FakeResponse | None" = None
    redirected_from: "FakeRequest | None" = None

    def is_navigation_request(self) -> bool:
        return self.resource_type == "document"


@dataclass(eq=False)
class FakeResponse:
    request: FakeRequest
    status: int
    headers: Mapping[str, str]
    text: str
    from_service_worker: bool = False

    async def body(self) -> bytes:
        return self.text.encode()

    @property
    def url(self) -> str:
        return self.request.url


@dataclass(eq=False)
class FakeRoute:
    """A request about which a handler decides before it is sent."""

    request: FakeRequest
    refused: str = ""

    async def abort(self, reason: str) -> None:
        self.refused = reason

    async def fallback(self) -> None:
        self.refused = ""


class CookieJar:
    """Cookies by host and path, which are all the rules that tests without a browser need."""

    def __init__(self, cookies: list[Cookie]) -> None:
        self.cookies = [*cookies]

    def for_url(self, url: str) -> list[Cookie]:
        parts = urlsplit(url)
        return [
            each
            for each in self.cookies
            if each["domain"] == parts.hostname and (parts.path or "/").startswith(each["path"])
        ]

    def header(self, url: str) -> dict[str, str]:
        pairs = "; ".join(f"{each['name']}={each['value']}" for each in self.for_url(url))
        return {"Cookie": pairs} if pairs else {}

    def take(self, url: str, headers: httpx.Headers) -> None:
        """Keep what an answer sets."""
        for header in headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(header).items():
                self.add(
                    Cookie(
                        name=name,
                        value=morsel.value,
                        domain=urlsplit(url).hostname or "",
                        path=morsel["path"] or "/",
                        expires=-1,
                        httpOnly=bool(morsel["httponly"]),
                        secure=bool(morsel["secure"]),
                        sameSite="Lax",
                    )
                )

    def add(self, cookie: Cookie) -> None:
        self.remove(cookie["name"], cookie["domain"], cookie["path"])
        self.cookies.append(cookie)

    def remove(
        self, name: str | None = None, domain: str | re.Pattern[str] | None = None, path: str | None = None
    ) -> None:
        """Forget the cookies that match all of these."""
        hosts = re.compile(f"^{re.escape(domain)}$") if isinstance(domain, str) else domain or re.compile("")
        self.cookies = [
            each
            for each in self.cookies
            if not (name in {None, each["name"]} and hosts.search(each["domain"]) and path in {None, each["path"]})
        ]

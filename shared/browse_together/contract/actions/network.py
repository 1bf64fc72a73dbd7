"""The network of a page: what it sends, and what it is answered."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field, StringConstraints

from browse_together.contract.actions.arguments import Part
from browse_together.contract.actions.base import AN_ACTION, ArmedWait, Carried, PageAct, PageAction, SessionAct
from browse_together.contract.actions.reading import Budget, Cursor
from browse_together.contract.actions.traits import Cookies, GivenScript, Lane, computed
from browse_together.contract.next_calls import next_call

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_COOKIES = frozenset({"cookie", "set-cookie"})
_FORBIDDEN = frozenset({"host", "content-length", "connection", "transfer-encoding", "upgrade", "te", "trailer"})


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header")
        if name.lower() in _FORBIDDEN:
            raise ValueError(f"{name} is set by the browser itself")
        if any(sign in value for sign in "\r\n\0"):
            raise ValueError(f"the value of {name} has a line break")
    return headers


Headers = Annotated[dict[str, str], Field(max_length=200), AfterValidator(_sendable)]
Pattern = Annotated[str, Field(min_length=1, max_length=2_000)]
ResourceType = Literal[
    "image",
    "stylesheet",
    "font",
    "script",
    "xhr",
    "fetch",
    "document",
    "media",
    "eventsource",
    "manifest",
    "ping",
    "other",
]
Method = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z]+$", to_upper=True), Field(description="Only this HTTP method.")
]


def _cookies(action: "MockResponse | SetSessionHeaders | SetExtraHeaders") -> Cookies:
    return Cookies.TOUCHES if any(name.lower() in _COOKIES for name in action.headers or {}) else Cookies.NONE


def _answer(action: "MockResponse") -> GivenScript:
    return GivenScript(later=True, pattern=action.pattern)


class MockResponse(PageAct):
    """Answer the page's requests that match, instead of the server.

    The latest match counts."""

    everyday = ("status", "body")
    limiting_fields = ("method",)
    runs_script = computed(GivenScript(later=True), _answer)  # what it answers may be a script, or a document with one
    cookie_use = computed(Cookies.NONE, _cookies)
    loggable_arguments = frozenset({"pattern", "contentType"})

    pattern: Pattern = Field(description="Glob (* is any text, scheme optional) or /regex/flags.")
    method: Literal["GET", "POST", "PUT", "DELETE", "PATCH"] | None = Field(
        default=None, description="HTTP method; all without."
    )
    status: int = Field(default=200, ge=100, le=599, description="HTTP status.")
    headers: Headers | None = Field(default=None, description="Response headers.")
    body: str = Field(default="", max_length=500_000, description="Response body.")
    content_type: str = Field(default="application/json", description="Content-Type.")
    delay: int = Field(default=0, ge=0, le=60_000, description="Milliseconds before the answer.")

    def response_headers(self) -> dict[str, str]:
        """Return the response's headers, with `content_type` unless only `headers` has a type. No cache stores the
        response, because other pages of the site would get it from there, unless `headers` says so."""
        headers = {name.lower(): value for name, value in (self.headers or {}).items()}
        if "content_type" in self.model_fields_set or "content-type" not in headers:
            headers["content-type"] = self.content_type
        return {"cache-control": "no-store", **headers}


class BlockRequests(PageAct):
    """Block the page's requests by URL or type.

    Also those answered by caches and service workers; WebSockets by glob or type. Adds to earlier blocks."""

    gives = False
    loggable_arguments = frozenset({"patterns"})

    patterns: list[Pattern] | None = Field(
        default=None, max_length=200, description="Globs (* is any text, scheme optional) or /regex/flags."
    )
    resource_types: list[Literal[ResourceType, "websocket"]] | None = Field(
        default=None, max_length=20, description="Types."
    )


class ListRoutes(PageAction):
    """List the page's mocks and blocks, with how often each matched, the names of its extra headers, and its init
    scripts."""

    lane = Lane.BESIDE
    needs_open_page = False


class RemoveRoutes(PageAct):
    """Remove mocks and blocks of the page: some, or all."""

    gives = False

    route_ids: list[str] | None = Field(default=None, max_length=100, description="Only these of list_routes.")


class SetSessionHeaders(SessionAct):
    """Send extra headers with every request of a session; {} removes them.

    Also for later pages; replaces earlier ones. For one page: set_extra_headers."""

    everyday = ()
    cookie_use = computed(Cookies.NONE, _cookies)

    headers: Headers = Field(description="Names and values.")

    @property
    def sends_anywhere(self) -> bool:
        return bool(self.headers)

    def narrower_calls(self) -> str:
        return (
            f"{next_call('set_extra_headers', page_id='...', headers={...})} is for one page; "
            + super().narrower_calls()
        )


class SetExtraHeaders(PageAct):
    """Send extra headers with every request of the page; {} removes them.

    Replaces earlier ones. With sessionId and no pageId: for the whole session, later pages included."""

    everyday = ()
    cookie_use = computed(Cookies.NONE, _cookies)

    headers: Headers = Field(description="Names and values.")
    affect_others: bool = Field(default=False, description="For a session: even if others hold pages there.")

    @property
    def sends_anywhere(self) -> bool:
        return bool(self.headers)

    def for_session(self) -> SessionAct | None:
        given = {"sessionId": self.session_id, "headers": self.headers, "affectOthers": self.affect_others}
        return SetSessionHeaders.model_validate(given)


class LogDetails(Part):
    """How much of each request a reply contains."""

    include_headers: bool = Field(default=False, description="Headers too.")
    include_bodies: bool = Field(default=False, description="Bodies too, as far as the browser has them.")
    include_secrets: bool = Field(default=False, description="Values of Cookie, Authorization and the like too.")


class GetNetworkLog(LogDetails, PageAction):
    """List the page's last 500 requests, oldest first.

    Only the client that held the page when a request was sent gets its headers and body."""

    everyday = ("pattern", "status")
    lane = Lane.BESIDE
    needs_open_page = False
    text_key = "log"
    extra_keys = ("matching", "hidden")
    untrusted = True

    pattern: Pattern | None = Field(default=None, description="Only these URLs: glob or /regex/flags.")
    method: Method | None = None
    resource_types: list[ResourceType] | None = Field(default=None, max_length=20, description="Only these.")
    status: str | None = Field(
        default=None, pattern=r"^([1-5]xx|[1-5]\d\d|failed|pending)$", description="404, 5xx, failed or pending."
    )
    since: int | None = Field(default=None, ge=0, description="Only those after this number.")
    limit: int = Field(default=100, ge=1, le=500, description="At most this many, the latest.")
    format: Literal["text", "records"] = Field(default="text", description="Lines, or objects.")
    budget: Budget = None
    cursor: Cursor = None


Awaited = Annotated[
    Pattern | None,
    Field(
        validation_alias=AliasChoices("pattern", "url"),
        description="Its URL: glob (* is any text, scheme optional) or /regex/flags.",
    ),
]


class NetworkWait(LogDetails):
    """What all waits for a request take. They begin before the act which causes what they wait for."""

    during: Carried | None = Field(
        default=None, description=f'{AN_ACTION} Done once the wait is armed: {{"action": "click", "selector": "#go"}}.'
    )
    pattern: Awaited = None
    method: Method | None = None
    resource_types: list[ResourceType] | None = Field(default=None, max_length=20, description="Only these.")


class WaitForRequest(NetworkWait, ArmedWait):
    """Wait until the page sends a request that matches."""


class WaitForResponse(NetworkWait, ArmedWait):
    """Wait until a request of the page that matches is answered."""

    status: str | None = Field(default=None, pattern=r"^[1-5](xx|\d\d)$", description="404 or 5xx.")


class ExportHar(PageAction):
    """Export the page's last 500 requests as a HAR 1.2 file. Requests sent while you did not hold the page come without
    headers and bodies."""

    everyday = ("content",)
    lane = Lane.BESIDE
    needs_open_page = False

    content: Literal["omit", "embed", "attach"] = Field(
        default="omit", description="Bodies, as far as the browser has them; attach: a zip with them as files."
    )
    mode: Literal["full", "minimal"] = Field(default="full", description="minimal: what a replay needs.")
    url_filter: Pattern | None = Field(default=None, description="Only these URLs: glob or /regex/flags.")
    include_secrets: bool = Field(default=False, description="Values of Cookie, Authorization and the like too.")
    timeout: int = Field(default=30_000, ge=1, le=120_000, description="Milliseconds it may take.")

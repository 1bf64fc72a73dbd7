"""Sessions: separate sets of cookies and logins, and what concerns all pages of one."""
# Longer than 300 lines, because a module is a category of tools, and what concerns sessions is one.

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, StringConstraints

from browse_together.contract.actions.arguments import Part, Quotable, SessionId
from browse_together.contract.actions.base import ServiceAction, SessionAct, SessionAction
from browse_together.contract.actions.reading import Budget
from browse_together.contract.actions.traits import Alias, Closing, Cookies, Effect, Scope, StoredLogins, computed
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Engine, Permission
from browse_together.contract.wire import DEFAULT_SESSION

_STORAGE_MS = 30_000
"""To read or write what sites have stored: the browser visits each that the session has been to."""


Label = Annotated[str, StringConstraints(max_length=100), Quotable]


class Viewport(Part):
    width: int = Field(default=1920, ge=1, le=10_000, description="px")
    height: int = Field(default=1080, ge=1, le=10_000, description="px")


class SessionProxy(Part):
    server: str = Field(
        pattern=r"^((https?|socks[45])://)?[^\s/@]+$", description="http://host:port, or socks5://host:port."
    )
    username: str | None = Field(default=None, description="Where it asks for one.")
    password: str | None = Field(default=None, repr=False, description="Told to nobody.")


Origin = Annotated[
    str,
    StringConstraints(
        pattern=r"^https?://([^/?#@*:\[\]\s]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?/?$",
        max_length=300,
    ),
]


def _cookies_copied(action: "CreateSession") -> Cookies:
    return Cookies.TOUCHES if action.source is not None else Cookies.NONE


class CreateSession(ServiceAction):
    """Create a session of your own, which only you can use until you share it: signed in nowhere, or `from` another.

    With `from` it begins with a copy of that session's cookies, and of the storage of `sites`. A site that rotates its
    tokens may then sign the other session out.
    """

    everyday = ("name", "persistent", "viewport")
    effect = Effect.ACTS
    serves_reading = True
    makes_session = True
    id_fields = ("source",)
    cookie_use = computed(Cookies.NONE, _cookies_copied)
    loggable_arguments = frozenset({"name", "locale", "timezone", "browserType", "from", "sites"})

    session_id: SessionId | None = Field(default=None, description="Its id; by default a free one.")
    user_id: Label | None = Field(default=None, description="Whom it is for; list_sessions filters by it.")
    called: Label | None = Field(default=None, alias="name", description="A name for people.")
    persistent: bool = Field(default=False, description="Keep it, with its logins, when the service ends.")
    guarded: bool = Field(
        default=False, description="What you read at one site goes to no other until a person allows it."
    )
    ttl: int = Field(default=86_400_000, ge=1, le=31_536_000_000, description="Lifetime in milliseconds.")
    browser_type: Engine = Field(default="chromium", description="Engine.")
    viewport: Viewport = Field(default=Viewport(), description="Size of its pages.")
    user_agent: str | None = Field(default=None, min_length=1, max_length=500, description="User agent of its pages.")
    locale: str = Field(
        default="en-US", pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", description="Such as de-DE."
    )
    timezone: str | None = Field(default=None, description="Such as Europe/Rome; by default the machine's.")
    permissions: list[Permission] = Field(default=[], max_length=20, description="What its pages are granted.")
    proxy: SessionProxy | None = Field(default=None, description="Proxy of its pages.")
    own_browser: bool = Field(default=False, description="A browser of its own: nothing there touches the shared one.")
    headless: bool | None = Field(default=None, description="true: without windows.")
    source: SessionId | None = Field(
        default=None, alias="from", description="Session whose cookies it begins with; default is the shared login."
    )
    sites: list[Origin] = Field(
        default=[], max_length=20, description="With from: origins whose storage is copied too."
    )

    @property
    def sends_anywhere(self) -> bool:
        return bool(self.proxy or self.user_agent) or self.locale != type(self).model_fields["locale"].default

    @property
    def named_urls(self) -> tuple[str, ...]:
        """Return where its proxy is, which sees all that its pages send, and the sites whose logins it copies: any."""
        proxy = (self.proxy.server,) if self.proxy is not None else ()
        return (*proxy, "", *self.sites) if self.source is not None else proxy


class GetSession(ServiceAction):
    """Get what a session is: owner, options, when it was made and last used, its pages, calls and errors."""

    id_fields = ("session_id",)

    session_id: SessionId = Field(default=DEFAULT_SESSION, description="The session; leave out for the shared login.")


class ListSessions(ServiceAction):
    """List the sessions: whose each is, whether you may use it, and how many pages it has."""

    user_id: Label | None = Field(default=None, description="Only those that were created for this user.")
    persistent: bool | None = Field(default=None, description="Only persistent ones, or only the others.")


class ExtendSession(ServiceAction):
    """Let a session of yours last longer: so many milliseconds from now."""

    effect = Effect.ACTS
    id_fields = ("session_id",)

    session_id: SessionId = Field(description="The session.")
    ttl: int = Field(default=86_400_000, ge=1, le=31_536_000_000, description="Milliseconds from now.")


class ShareSession(ServiceAction):
    """Say whether others may use a session of yours (act) or not (private)."""

    effect = Effect.ACTS
    id_fields = ("session_id",)

    session_id: SessionId = Field(description="The session.")
    access: Literal["private", "act"] = Field(default="act", description="What others may do in it.")


class CloseSession(ServiceAction):
    """Close a session of yours with all of its pages.

    Its logins are kept for a day: the reply has the call that opens it again with them. What save_session_state saved
    of it is gone."""

    ends_logins = True
    effect = Effect.DESTROYS
    serves_reading = True
    closes = Closing(Scope.SESSION)
    aliases = (Alias("destroy_session"),)
    id_fields = ("session_id",)

    session_id: SessionId = Field(description="The session.")


class GrantPermissions(SessionAct):
    """Grant a site (one origin) permissions in all pages of the session; [] takes them back.

    Replaces earlier grants. All pages share one clipboard."""

    everyday = ()
    gives = False
    loggable_arguments = frozenset({"permissions", "origin"})

    permissions: list[Permission] = Field(max_length=20, description="Which; [] for none.")
    origin: Origin = Field(description="Such as https://example.com.")

    @property
    def named_urls(self) -> tuple[str, ...]:
        return (self.origin,)

    def concerns(self, url: str) -> bool:
        return _origin(url) == _origin(self.origin)

    def narrower_calls(self) -> str:
        return "Nobody feels what is granted to another origin; " + super().narrower_calls()


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.lower())
    except ValueError:  # an address that is none, which no page is at
        return "", url
    return parts.scheme, parts.netloc.removesuffix({"http": ":80", "https": ":443"}.get(parts.scheme, "-"))


class GetCookies(SessionAction):
    """Get the cookies of a session.

    Of all sites or some. Values of the shared login are shown only if the token allows it."""

    everyday = ("domain", "name")
    untrusted = True
    cookie_use = Cookies.TOUCHES

    urls: list[str] | None = Field(
        default=None, max_length=100, description="Only cookies that would be sent to these URLs."
    )
    domain: str | None = Field(default=None, min_length=1, description="Only of this domain and those below it.")
    cookie: str | None = Field(default=None, alias="name", min_length=1, description="Only with this name.")
    path: str | None = Field(default=None, min_length=1, description="Only with this path.")
    budget: Budget = None

    @property
    def only_hosts(self) -> tuple[str, ...] | None:
        return tuple(_host(url) for url in self.urls) if self.urls else (self.domain,) if self.domain else None

    @property
    def named_urls(self) -> tuple[str, ...]:
        return tuple(self.urls or ())


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # an address that is none
        return ""


class Cookie(Part):
    """A cookie, for a URL or for a domain."""

    cookie: str = Field(alias="name", min_length=1, max_length=4_096, description="Its name.")
    value: str = Field(max_length=4_096, description="Its value.")
    url: str | None = Field(default=None, pattern=r"^https?://", description="For this URL's host; or give domain.")
    domain: str | None = Field(default=None, min_length=1, description="Such as .example.com, for those below it too.")
    path: str | None = Field(default=None, pattern="^/", description="/ by default.")
    expires: float | None = Field(default=None, description="Unix time in s; without, it ends with the browser.")
    http_only: bool | None = Field(default=None, description="Hidden from scripts.")
    secure: bool | None = Field(default=None, description="Only over https.")
    same_site: Literal["Strict", "Lax", "None"] | None = Field(default=None, description="None needs secure.")
    partition_key: str | None = Field(default=None, description="Top-level site of a partitioned cookie.")

    @property
    def host(self) -> str:
        """Return the host that gets the cookie; a dot in front means that its subdomains get it too."""
        return self.domain or (urlsplit(self.url or "").hostname or "")

    def given(self) -> dict[str, JsonValue]:
        """Return the cookie as Playwright takes it."""
        given = self.model_dump(exclude_none=True)
        return given if self.url else {"path": "/", **given}

    def problem(self) -> str | None:
        """Return why the cookie cannot be set, where several of its fields do not fit together; else None."""
        if (self.url is None) == (self.domain is None):
            return "needs 'url' or 'domain', and not both"
        if self.url is not None and self.path is not None:
            return "'path' goes with 'domain'; a 'url' has its own"
        return "sameSite None needs secure" if self.same_site == "None" and not self.secure else None


class SetCookies(SessionAct):
    """Set cookies in a session, each for a url or a domain.

    Refused while others hold pages that would send them, unless affectOthers."""

    everyday = ()
    cookie_use = Cookies.TOUCHES
    loggable_arguments = frozenset({"domain", "name", "path"})

    cookies: list[Cookie] = Field(min_length=1, max_length=500, description="Each for a url, or for a domain.")

    def concerns(self, url: str) -> bool:
        host = urlsplit(url).hostname or ""
        return any(
            is_below(host, cookie.host) if cookie.host.startswith(".") else host == cookie.host.lower()
            for cookie in self.cookies
        )

    @property
    def only_hosts(self) -> tuple[str, ...] | None:
        return tuple(cookie.host for cookie in self.cookies)

    @property
    def named_urls(self) -> tuple[str, ...]:
        return tuple(cookie.url or "" for cookie in self.cookies)

    def narrower_calls(self) -> str:
        return "Cookies of another domain concern nobody there; " + super().narrower_calls()


def is_below(host: str, domain: str) -> bool:
    """Return whether a host is the domain itself or a subdomain of it."""
    host, domain = host.lower().lstrip("."), domain.lower().lstrip(".")
    return host == domain or host.endswith(f".{domain}")


class ClearCookies(SessionAct):
    """Delete cookies of a session: all, or those of a domain, name or path. Whoever works there may be logged out.

    Without a name or path this also removes logins by HTTP that `goto` was given there. What was there is kept for a
    day, and the reply has the call that puts it back.
    """

    everyday = ("domain", "name")
    gives = False
    ends_logins = True
    effect = Effect.DESTROYS
    cookie_use = Cookies.TOUCHES
    loggable_arguments = frozenset({"domain", "name", "path"})

    domain: str | None = Field(default=None, min_length=1, description="Only of this domain and those below it.")
    cookie: str | None = Field(default=None, alias="name", min_length=1, description="Only with this name.")
    path: str | None = Field(default=None, min_length=1, description="Only with this path.")

    @property
    def only_hosts(self) -> tuple[str, ...] | None:
        return (self.domain,) if self.domain else None

    def concerns(self, url: str) -> bool:
        return self.domain is None or is_below(urlsplit(url).hostname or "", self.domain)

    def narrower_calls(self) -> str:
        return f"{next_call('clear_cookies', domain='example.com')} concerns one site; " + super().narrower_calls()


SavedName = Annotated[str, StringConstraints(min_length=1, max_length=60), Quotable]


class SaveSessionState(SessionAction):
    """Save the logins of a session (cookies, local storage, IndexedDB) under a name, encrypted, to restore later."""

    gives = False
    effect = Effect.ACTS
    within_ms = _STORAGE_MS
    text_key = "observed"
    cookie_use = Cookies.TOUCHES
    loggable_arguments = frozenset({"name"})

    called: SavedName = Field(default="saved", alias="name", description="Name to save it under.")

    @property
    def stored_logins(self) -> StoredLogins:
        return StoredLogins(self.called, restores=False)


class RestoreSessionState(SessionAct):
    """Put the logins of a session back as they were saved. What changed since is lost.

    Also those that an act of the last day ended, by the name in its reply. A session that you closed opens again."""

    everyday = ("name",)
    gives = False
    ends_logins = True
    effect = Effect.DESTROYS
    within_ms = _STORAGE_MS
    cookie_use = Cookies.TOUCHES
    loggable_arguments = frozenset({"name"})

    called: SavedName = Field(default="saved", alias="name", description="Its name.")

    @property
    def stored_logins(self) -> StoredLogins:
        return StoredLogins(self.called, restores=True)


class ExportSession(SessionAction):
    """Write the logins of a session to a file that import_login takes.

    In Playwright's format. Whoever has the file is signed in. So the shared login is exported only if the token allows
    it, and never while a page is private to another client."""

    gives = False
    effect = Effect.ACTS
    shows_all_pages = True
    within_ms = _STORAGE_MS
    text_key = "observed"
    cookie_use = Cookies.EXPORTS

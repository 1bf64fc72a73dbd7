"""How logins come into a session, by a person in a window of their own or from another browser; and which are there."""

from urllib.parse import urlsplit

from pydantic import Field

from browse_together.contract.actions.arguments import Address
from browse_together.contract.actions.base import SessionAct, SessionAction
from browse_together.contract.actions.traits import Cookies, Lane, PersonAsked
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import MAX_MESSAGE_BYTES

_A_DAY_MS = 86_400_000


class Login(SessionAct):
    """Have a person at the service's machine sign in, in an ordinary window, where a site refuses automated browsers.
    Tell them first.

    The window opens with the shared login, and you wait until they close it. Meanwhile no page can be used
    (HUMAN_IN_CONTROL); afterwards each is back under its pageId, with the new login."""

    everyday = ("url",)
    lane = Lane.BESIDE
    asks_person = PersonAsked()
    brings_logins = True
    lasts = True

    url: Address | None = Field(
        default=None, min_length=1, description="Where the window opens, such as the login page."
    )

    def allowed_ms(self) -> int:
        """Return a day, because the service's own limit ends the call sooner."""
        return _A_DAY_MS

    def narrower_calls(self) -> str:
        return f"Wait until they are done: {next_call('list_pages', all=True)} shows when each acted."


class ImportLogin(SessionAct):
    """Bring a login into a session from a Playwright storage state (JSON) or a cookies.txt.

    Cookies and storage of another browser. Says what could not be brought and why; values are never shown."""

    everyday = ("site",)
    ends_logins = True
    brings_logins = True
    cookie_use = Cookies.TOUCHES
    loggable_arguments = frozenset({"site"})

    content: str = Field(min_length=1, max_length=MAX_MESSAGE_BYTES, description="What the file has in it.")
    site: str | None = Field(
        default=None, min_length=1, description="Only this host and its subdomains, such as example.com."
    )

    def allowed_ms(self) -> int:
        return 45_000

    def concerns(self, url: str) -> bool:
        host = urlsplit(url).hostname or ""
        return (
            self.site is None or f".{host}".endswith(f".{self.site.lower()}") or host == self.site.strip("[]").lower()
        )

    def narrower_calls(self) -> str:
        return f"{next_call('import_login', ..., site='example.com')} concerns one site; " + super().narrower_calls()


class ListLogins(SessionAction):
    """List the sites where a session seems to be signed in, by its cookies: last used when, until when, by whom.

    A cookie counts if its value is too long to be guessed, and scripts cannot read it or its name says that it is a
    login. `bound` logins work in this browser alone, whoever has their cookies. Values are never shown."""

    everyday = ()
    cookie_use = Cookies.TOUCHES
    lists_logins = True

    urls: list[str] | None = Field(
        default=None, max_length=100, description="Only by cookies that would be sent to these URLs."
    )

    @property
    def only_hosts(self) -> tuple[str, ...] | None:
        return tuple(urlsplit(url).hostname or "" for url in self.urls) if self.urls else None

    @property
    def named_urls(self) -> tuple[str, ...]:
        return tuple(self.urls or ())

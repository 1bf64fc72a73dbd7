"""Sessions: separate sets of cookies and logins, and what concerns all pages of one."""

from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from shared.actions.base import Action, Effect, Lane, SessionAct, SessionAction, SessionId


class CreateSession(Action):
    """Create a session of your own: no cookies, no logins, and only you can use it until you share it."""

    effect = Effect.ACTS
    lane = Lane.BESIDE

    session_id: SessionId | None = Field(default=None, description="A name for it; a free one is made without.")


class ListSessions(Action):
    """List the sessions: whose each is, whether you may use it, and how many pages it has."""

    lane = Lane.BESIDE


class ShareSession(Action):
    """Say whether others may use a session of yours (act) or not (private)."""

    effect = Effect.ACTS
    lane = Lane.BESIDE
    session_fields = ("session_id",)
    idempotent = True

    session_id: SessionId = Field(description="The session.")
    access: Literal["private", "act"] = Field(default="act", description="What others may do in it.")


class CloseSession(Action):
    """Close a session of yours with all of its pages. Its cookies and logins are gone."""

    effect = Effect.DESTROYS
    lane = Lane.BESIDE
    session_fields = ("session_id",)

    session_id: SessionId = Field(description="The session.")


class GetCookies(SessionAction):
    """Get the cookies of a session, of all sites or of some URLs."""

    untrusted = True

    urls: list[str] | None = Field(default=None, description="Only cookies that would be sent to these URLs.")


class ClearCookies(SessionAct):
    """Delete cookies of a session: all, or those of a domain, name or path. Whoever works there may be logged out."""

    effect = Effect.DESTROYS
    idempotent = True
    told = frozenset({"domain", "name", "path"})

    domain: str | None = Field(default=None, min_length=1, description="Only of this domain, such as example.com.")
    cookie: str | None = Field(default=None, alias="name", min_length=1, description="Only with this name.")
    path: str | None = Field(default=None, min_length=1, description="Only with this path.")

    def concerns(self, url: str) -> bool:
        host = urlsplit(url).hostname or ""
        domain = (self.domain or "").lstrip(".")
        return not domain or host == domain or fnmatchcase(host, f"*.{domain}")

    def narrower(self) -> str:
        return 'clear_cookies {"domain": "example.com"} concerns one site; ' + super().narrower()

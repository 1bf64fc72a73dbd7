"""Who may look at the live wall: short-lived links that let in one viewer each, and the viewers that came."""

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import jwt

from browse_together.contract.errors import Forbidden, RateLimited, Unauthorized
from browse_together.contract.model import Json
from browse_together.contract.wire import TOKEN_ALGORITHM, VIEWER_AUDIENCE
from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock

LINK_LIVES_S: Final = 60.0
VIEWER_LIVES_S: Final = 8 * 3_600.0
TICKET_LIVES_S: Final = 3_600.0
_WINDOW: Final = f"{VIEWER_AUDIENCE}/window"
MOST_SOCKETS: Final = 100
MOST_SOCKETS_EACH: Final = 10
MOST_A_SECOND: Final = 200
"""Limit of messages per second from one viewer, over all sockets. A long message counts once more per 1,000
characters."""
_COMING_IS: Final = 20
"""A new connection counts as this many messages."""
_MOST_ANSWERED_AT_ONCE: Final = 8
SHOW: Final = "Get in with a new link: browse-together show"
_MOST_LINKS: Final = 200
_MOST_VIEWERS: Final = 1_000
_LINKS_TOLD_FOR_S: Final = 3_600.0
"""For this long, an expired link gets a different error than an invented one."""


@dataclass(eq=False)
class Viewer:
    """Somebody in front of the wall: the account's person, or a reader."""

    name: str
    read_only: bool
    expires_at: float
    viewer_id: str = ""
    proof: str = field(default="", repr=False)
    """Digest of what the wall's own page sends besides the cookie."""
    left: bool = False
    sockets: int = 0
    hidden: int = 0
    """How many of these show the wall in a window that is not in view."""
    answered: int = 0
    """Requests of the viewer that are being answered."""
    second: int = 0
    came: int = 0
    """Messages within this second."""


@dataclass(eq=False)
class _Link:
    viewer: Viewer
    works_until: float
    used: bool = False


class Revoked(Protocol):
    """Who is let in no more, also by later runs of the service."""

    def holds(self, token_id: str, /) -> bool: ...

    async def token(self, token_id: str, at: float, /) -> None:
        """Revoke a token by its id."""


class Entry(NamedTuple):
    """What a viewer gets for a link."""

    viewer: Viewer
    cookie: str
    proof: str


class Viewing:
    """The viewers. Codes of links are kept as digests and in memory, so they end with the service. A cookie is signed
    with the account's secret, so a service that starts anew knows its viewers."""

    def __init__(self, secret: str, revoked: Revoked, clock: Clock = time.monotonic) -> None:
        self._secret, self._revoked, self._clock = secret, revoked, clock
        self._links = Bounded[str, _Link](_MOST_LINKS, ttl_s=_LINKS_TOLD_FOR_S, clock=clock)
        self._viewers = Bounded[str, Viewer](_MOST_VIEWERS, ttl_s=VIEWER_LIVES_S, clock=clock)
        self._guests = Bounded[str, Viewer](_MOST_VIEWERS, ttl_s=VIEWER_LIVES_S, clock=clock)
        self._sockets = 0

    def make_link(self, name: str, *, read_only: bool) -> str:
        """Return the code of a new link."""
        code, now = secrets.token_urlsafe(24), self._clock()
        self._links[digest(code)] = _Link(Viewer(name, read_only, now + VIEWER_LIVES_S), now + LINK_LIVES_S)
        return code

    def enter(self, code: str) -> Entry:
        """Let in a viewer by the code of a link. Raises Unauthorized, which says why the link does not work."""
        self._links.trim()
        link, now = self._links.get(digest(code)), self._clock()
        if link is None:
            raise _refused("This link is not one of this service, which may have started anew since.")
        if link.used:
            raise _refused("This link was used already; each works once.")
        if now > link.works_until:
            raise _refused(f"This link came too late: it worked for {LINK_LIVES_S:.0f} s.")
        link.used = True
        viewer, proof = link.viewer, secrets.token_urlsafe(24)
        viewer.viewer_id, viewer.proof = f"viewer-{secrets.token_urlsafe(12)}", digest(proof)
        return Entry(viewer, self.renewed(viewer), proof)

    def renewed(self, viewer: Viewer) -> str:
        """Return a viewer's cookie, for the full time from now on."""
        viewer.expires_at = self._clock() + VIEWER_LIVES_S
        self._viewers[viewer.viewer_id] = viewer
        claims = {
            "aud": VIEWER_AUDIENCE,
            "sub": viewer.viewer_id,
            "exp": time.time() + VIEWER_LIVES_S,
            "name": viewer.name,
            "readOnly": viewer.read_only,
            "proof": viewer.proof,
        }
        return jwt.encode(claims, self._secret, TOKEN_ALGORITHM)

    def guest(self, request_id: str, name: str) -> Viewer:
        """Return the viewer who came by the link of a request, with its key in place of a cookie."""
        if (viewer := self._guests.get(request_id)) is None or self.left_s(viewer) <= 0:
            viewer = Viewer(name, read_only=False, expires_at=self._clock() + VIEWER_LIVES_S)
            self._guests[request_id] = viewer
        return viewer

    def viewer(self, cookie: str) -> Viewer:
        """Return the viewer with this cookie. Raises Unauthorized, which says why there is none."""
        if not cookie:
            raise _refused("You are not signed in to the wall.")
        viewer = self._signed_in(cookie)
        if viewer.left or self._revoked.holds(viewer.viewer_id) or self.left_s(viewer) <= 0:
            raise _refused("Your time at the wall is over.")
        return viewer

    def _signed_in(self, cookie: str) -> Viewer:
        """Return the viewer whom a cookie proves, maybe to an earlier run of the service. Raises Unauthorized."""
        try:
            claims = self._proven(cookie, VIEWER_AUDIENCE)
        except jwt.ExpiredSignatureError:
            raise _refused("Your time at the wall is over.") from None
        except jwt.InvalidTokenError:
            raise _refused("You are not signed in to the wall of this service.") from None
        viewer_id = str(claims["sub"])
        if (viewer := self._viewers.get(viewer_id)) is None:
            left_s = float(str(claims["exp"])) - time.time()
            facts = (str(claims["name"]), claims["readOnly"] is True, self._clock() + left_s)
            viewer = self._viewers[viewer_id] = Viewer(*facts, viewer_id=viewer_id, proof=str(claims["proof"]))
        return viewer

    def check_proof(self, viewer: Viewer, proof: str) -> None:
        """Raise Forbidden for a request that the wall's own page did not send. Cookies ignore ports, so any server on
        this machine may receive this one's."""
        if not secrets.compare_digest(viewer.proof, digest(proof)):
            raise Forbidden("What was sent is not from the wall's own page.", hint=f"{SHOW}.")

    @property
    def watched(self) -> bool:
        """Return whether a viewer who sees the agents' lines looks at the wall now."""
        return any(viewer.sockets > viewer.hidden and not viewer.read_only for viewer in self._viewers.values())

    def left_s(self, viewer: Viewer) -> float:
        """Return for how many more seconds a viewer may look."""
        return viewer.expires_at - self._clock()

    async def leave(self, viewer: Viewer) -> None:
        """End a viewer's visit at once, and for later runs of the service too."""
        viewer.left = True
        await self._revoked.token(viewer.viewer_id, time.time())

    def ticket(self, viewer: Viewer, what: str, of: str) -> str:
        """Return what opens a file or a replay in a window of its own, for this viewer alone and for a while."""
        claims = {"aud": _WINDOW, "sub": viewer.viewer_id, "exp": time.time() + TICKET_LIVES_S}
        return jwt.encode({**claims, "what": what, "of": of}, self._secret, TOKEN_ALGORITHM)

    def opened(self, viewer: Viewer, ticket: str) -> tuple[str, str]:
        """Return what a ticket of this viewer opens. Raises Unauthorized."""
        try:
            claims = self._proven(ticket, _WINDOW, viewer.viewer_id)
        except jwt.InvalidTokenError:
            raise Unauthorized("This window is older than an hour.", hint="Open it from the wall again.") from None
        return str(claims["what"]), str(claims["of"])

    def _proven(self, token: str, audience: str, subject: str | None = None) -> Json:
        """Return the claims of a token of this account. Raises InvalidTokenError."""
        claims: Json = jwt.decode(
            token,
            self._secret,
            algorithms=[TOKEN_ALGORITHM],
            audience=audience,
            subject=subject,
            options={"require": ["sub", "aud", "exp"]},
        )
        return claims

    @contextmanager
    def watching(self, viewer: Viewer) -> Iterator[None]:
        """Count an open socket of the viewer. Raises RateLimited for one too many."""
        self.receive(viewer, _COMING_IS * 1_000)
        if viewer.sockets >= MOST_SOCKETS_EACH:
            raise RateLimited(f"You look at the wall {MOST_SOCKETS_EACH} times already.", hint="Close one of its tabs.")
        if self._sockets >= MOST_SOCKETS:
            raise RateLimited(f"{MOST_SOCKETS} viewers look at the wall already.", hint="Close one of them.")
        self._sockets += 1
        viewer.sockets += 1
        try:
            yield
        finally:
            self._sockets -= 1
            viewer.sockets -= 1

    def receive(self, viewer: Viewer, length: int) -> None:
        """Count a message of `length` characters. Raises RateLimited if too many come."""
        second = int(self._clock())
        viewer.second, viewer.came = second, viewer.came if viewer.second == second else 0
        viewer.came += 1 + length // 1_000
        if viewer.came > MOST_A_SECOND:
            raise RateLimited(f"More than {MOST_A_SECOND} messages came within a second.", hint="Load it anew.")

    @contextmanager
    def answering(self, viewer: Viewer) -> Iterator[None]:
        """Count a viewer's request until it is answered. Raises RateLimited for too many at once."""
        if viewer.answered >= _MOST_ANSWERED_AT_ONCE:
            raise RateLimited(
                f"{_MOST_ANSWERED_AT_ONCE} things that you asked for are under way.", hint="Wait a moment."
            )
        viewer.answered += 1
        try:
            yield
        finally:
            viewer.answered -= 1


def digest(text: str) -> str:
    """Return what is kept of a code, which itself is kept nowhere."""
    return hashlib.sha256(text.encode()).hexdigest()


def _refused(problem: str) -> Unauthorized:
    return Unauthorized(problem, hint=f"{SHOW}.")

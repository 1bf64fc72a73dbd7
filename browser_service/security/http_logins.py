"""The names and passwords with which a session answers HTTP authentication, each for one origin only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from pydantic import JsonValue

from browse_together.contract.model import Json
from browse_together.contract.quoting import quoted
from browser_service.rules.bounded import Bounded

_STATE: Final = "httpLogins"
BOUND: Final = "boundHosts"
"""Key of the hosts that bind logins to their browser."""
"""Key of these logins within a session's saved logins, beside Playwright's keys."""
_MOST: Final = 100


class Credentials(NamedTuple):
    username: str
    password: str

    def __repr__(self) -> str:
        return "Credentials(...)"


SIGNED_OUT: Final = Credentials("signed-out", "")
"""Given to a site whose login was removed: the browser forgets only what is refused."""


class Challenge(NamedTuple):
    """A site's demand for a name and password, before it shows a page."""

    url: str
    origin: str
    scheme: str
    realm: str
    refused: bool
    """Whether it refused the ones that it was given."""

    @property
    def words(self) -> str:
        refused = ", and refused those that it was given" if self.refused else ""
        return (
            f"{self.origin} asks for a name and a password by HTTP ({self.scheme}, realm {quoted(self.realm)}){refused}"
        )


@dataclass(eq=False)
class HttpLogins:
    """Credentials by origin. Those that pages carry in addresses are offered, but never saved."""

    on_change: Callable[[], None] = lambda: None
    _kept: Bounded[str, Credentials] = field(default_factory=lambda: Bounded(_MOST))
    _offered: Bounded[str, Credentials] = field(default_factory=lambda: Bounded(_MOST))
    _replaced: set[str] = field(default_factory=set)
    """Origins to which the browser would still send the previous credentials."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the origins with kept credentials."""
        return tuple(self._kept)

    def of(self, origin: str) -> Credentials | None:
        """Return the credentials for an origin that asks for some."""
        return self._kept.get(origin) or self._offered.get(origin)

    def kept(self, origin: str) -> Credentials | None:
        return self._kept.get(origin)

    def keep(self, origin: str, credentials: Credentials | None) -> None:
        """Use these credentials for an origin from now on; None means none."""
        before = self.of(origin)
        if before is not None and credentials is not None and before != credentials:
            self._replaced.add(origin)
        self._offered.pop(origin, None)
        if credentials is not None:
            self._kept[origin] = credentials
        else:
            self._kept.pop(origin, None)
        if self._kept.get(origin) != before:
            self.on_change()

    def remove(self, concerns: Callable[[str], bool]) -> dict[str, Credentials]:
        """Forget the credentials of all origins for which `concerns` is true, and return them."""
        removed = {origin: kept for origin, kept in self._kept.items() if concerns(origin)}
        for origin in removed:
            self.keep(origin, None)
            self._replaced.add(origin)
        return removed

    def offer(self, origin: str, credentials: Credentials) -> None:
        """Remember credentials from the address of a link or redirect, in case that site asks for some."""
        self._offered[origin] = credentials

    def take_replaced(self, origin: str) -> Credentials | None:
        """Return, once, an origin's new credentials if the browser would still send earlier ones, so that its next
        document is requested with the new ones. If they were removed, these are SIGNED_OUT."""
        if origin not in self._replaced:
            return None
        self._replaced.discard(origin)
        return self._kept.get(origin, SIGNED_OUT)

    def state(self) -> Json:
        """Return the credentials as a part of the session's saved logins."""
        kept: list[JsonValue] = [[origin, *each] for origin, each in self._kept.items()]
        return {_STATE: kept} if kept else {}

    def restore(self, state: Json) -> None:
        """Restore the credentials from saved logins that contain what `state` returned."""
        for origin, *each in cast("list[list[str]]", state.get(_STATE) or []):  # as `state` wrote it
            self._kept[origin] = Credentials(*each)


def of_playwright(state: Json) -> Json:
    """Return saved logins without our own keys, for Playwright."""
    return {name: value for name, value in state.items() if name not in {_STATE, BOUND}}

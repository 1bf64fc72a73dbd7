"""Keeps the names and passwords with which a session signs in to sites that ask for them by HTTP, each for one origin
alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from pydantic import JsonValue

from browser_service.rules.bounded import Bounded
from shared.model import Json
from shared.quoting import quoted

_STATE: Final = "httpLogins"
"""Names them within a session's saved logins, beside what Playwright has there."""
_MOST: Final = 100


class Credentials(NamedTuple):
    username: str
    password: str

    def __repr__(self) -> str:
        return "Credentials(...)"


class Challenge(NamedTuple):
    """What a site asks for before it shows a page."""

    url: str
    origin: str
    scheme: str
    realm: str
    refused: bool
    """It refused what it was given."""

    @property
    def words(self) -> str:
        refused = ", and refused those that it was given" if self.refused else ""
        return (
            f"{self.origin} asks for a name and a password by HTTP ({self.scheme}, realm {quoted(self.realm)}){refused}"
        )


@dataclass(eq=False)
class HttpLogins:
    """Knows what each origin may be given. What pages themselves had in an address is never saved."""

    on_change: Callable[[], None] = lambda: None
    _kept: Bounded[str, Credentials] = field(default_factory=lambda: Bounded(_MOST))
    _offered: Bounded[str, Credentials] = field(default_factory=lambda: Bounded(_MOST))
    _replaced: set[str] = field(default_factory=set)
    """Origins to which the browser would still send what was given before."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Return those for which something is kept."""
        return tuple(self._kept)

    def of(self, origin: str) -> Credentials | None:
        """Return what an origin is given when it asks."""
        return self._kept.get(origin) or self._offered.get(origin)

    def kept(self, origin: str) -> Credentials | None:
        return self._kept.get(origin)

    def keep(self, origin: str, credentials: Credentials | None) -> None:
        """Give these to an origin from now on, in place of others; None gives it nothing."""
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

    def offer(self, origin: str, credentials: Credentials) -> None:
        """Note what the address of a link or a redirect had in it, for when that site asks."""
        self._offered[origin] = credentials

    def take_replaced(self, origin: str) -> Credentials | None:
        """Return what the next document of an origin is to be asked for with, though others were given before."""
        if origin not in self._replaced:
            return None
        self._replaced.discard(origin)
        return self._kept.get(origin)

    def state(self) -> Json:
        """Return what is kept, as a part of the session's saved logins."""
        kept: list[JsonValue] = [[origin, *each] for origin, each in self._kept.items()]
        return {_STATE: kept} if kept else {}

    def restore(self, state: Json) -> None:
        """Take up what `state` returned, out of saved logins."""
        for origin, *each in cast("list[list[str]]", state.get(_STATE) or []):  # as `state` wrote it
            self._kept[origin] = Credentials(*each)


def of_playwright(state: Json) -> Json:
    """Return the part of saved logins that Playwright knows."""
    return {name: value for name, value in state.items() if name != _STATE}

"""Chooses the host of a session: the one with the most free memory that can have it."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from browse_together.contract.errors import BrowserLaunchFailed, ResourceExhausted, ServiceUnavailable
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import SessionOptions

LOCAL: Final = "local"
"""The name of the host in the front's own process."""
CONTEXT_MB: Final = 100
BROWSER_MB: Final = 400
"""What a session takes at first in a browser that others share, and with a browser to itself."""


class Needs(NamedTuple):
    """What a session asks of its host."""

    engine: str
    windows: bool = False
    """Its browser has windows, which needs a display."""
    own_browser: bool = False

    @property
    def memory_mb(self) -> int:
        return BROWSER_MB if self.own_browser else CONTEXT_MB

    def __str__(self) -> str:
        return self.engine + (" with windows" if self.windows else "")


def needs_of(options: SessionOptions, engine: str, *, windows: bool) -> Needs:
    """Return what a session with these options needs; `engine` and `windows` are the service's own choice."""
    shown = windows if options.headless is None else not options.headless
    return Needs(options.browser_type or engine, shown, options.own_browser)


@dataclass(frozen=True)
class HostFacts:
    """What the front knows of a host now: what that said of itself, and what was decided since."""

    name: str
    engines: frozenset[str]
    display: bool
    free_mb: int | None
    """None is no limit."""
    draining: bool = False
    other_catalogue: bool = False
    """Another version's, which may only end what it has."""
    gone: bool = False
    """Nothing is heard of it, though its lease may last."""

    @property
    def room_mb(self) -> float:
        return inf if self.free_mb is None else self.free_mb

    def hinders(self, needs: Needs) -> str:
        """Return why the host cannot have such a session now; empty if it can."""
        hindrances = {
            "not connected": self.gone,
            "draining": self.draining,
            "of another version": self.other_catalogue,
            f"without {needs.engine}": needs.engine not in self.engines,
            "without a display": needs.windows and not self.display,
            f"{max(0.0, self.room_mb):.0f} MB free, and {needs.memory_mb} are needed": self.room_mb < needs.memory_mb,
        }
        return next((reason for reason, hinders in hindrances.items() if hinders), "")

    def is_made_for(self, needs: Needs) -> bool:
        """Return whether the host could have such a session if it had the room."""
        return needs.engine in self.engines and self.display >= needs.windows


def place(needs: Needs, hosts: Iterable[HostFacts]) -> HostFacts:
    """Return the host for a session. Raises ServiceUnavailable, BrowserLaunchFailed or ResourceExhausted, which name
    what is in the way on each host."""
    known = [*hosts]
    fitting = [each for each in known if not each.hinders(needs)]
    if fitting:
        return max(fitting, key=lambda each: (each.room_mb, each.name))
    if all(each.gone for each in known):
        raise ServiceUnavailable(
            "No host is connected.", hint="Hosts connect again by themselves. `browse-together hosts` lists them."
        )
    reasons = _reasons(needs, known)
    if not any(each.is_made_for(needs) for each in known):
        raise BrowserLaunchFailed(
            f"No host has {needs} ({reasons}).",
            hint=f"Start one with it (`browse-together host`), or use a session of another kind: "
            f"{next_call('create_session')}.",
        )
    raise ResourceExhausted(
        f"No host has room for the session ({reasons}).",
        hint=f"Close what is done ({next_call('close_page', ...)}, {next_call('close_session', ...)}), or start "
        "another host (`browse-together host`); then repeat the call.",
    )


def hinders_draining(host: HostFacts, sessions: Iterable[Needs], hosts: Iterable[HostFacts]) -> str:
    """Return why one of a host's sessions has nowhere else to go now; empty if each has."""
    others = [each for each in hosts if each is not host]
    for needs in {*sessions}:
        if all(each.hinders(needs) for each in others):
            return f"no other host can have its sessions ({_reasons(needs, others) or 'there is none'})"
    return "" if any(not each.draining for each in others) else "there is no other host"


def _reasons(needs: Needs, hosts: Iterable[HostFacts]) -> str:
    return "; ".join(f"{each.name}: {each.hinders(needs)}" for each in hosts)

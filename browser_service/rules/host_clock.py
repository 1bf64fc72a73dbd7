"""The rule on a host's clock: its one-time codes and times are told by it, and believed by the service."""

from typing import Final

from browse_together.contract.errors import Forbidden

MOST_APART_S: Final = 30
"""Codes are hidden this long before they hold, because a host's clock may be ahead by this."""
_WARNED_OF_S: Final = 5


def check_clock(host_ms: int, own_ms: int) -> str:
    """Compare a host's Unix time with the service's, both in milliseconds. Returns a warning, or "" if they agree.
    Raises Forbidden if they are too far apart."""
    apart_s = abs(host_ms - own_ms) / 1000
    if apart_s <= _WARNED_OF_S:
        return ""
    found = f"The host's clock is {apart_s:,.0f} s {'behind' if host_ms < own_ms else 'ahead of'} the service's"
    if apart_s > MOST_APART_S:
        raise Forbidden(
            f"{found}, and {MOST_APART_S} s are the most.",
            hint="Have a time server set the clocks of both machines, then start the host again.",
        )
    return f"{found}: have a time server set both."

"""Declares what `doctor` says of one thing."""

from typing import NamedTuple


class Check(NamedTuple):
    """Says what was found; `advice` what to do about it."""

    name: str
    ok: bool
    found: str
    advice: str = ""

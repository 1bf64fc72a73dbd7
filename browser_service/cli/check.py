"""The results of checks."""

from typing import NamedTuple


class Check(NamedTuple):
    """A finding, and what to do about it."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def sound(name: str, found: str, advice: str = "") -> Check:
    return Check(name, ok=True, found=found, advice=advice)


def wrong(name: str, found: str, advice: str = "") -> Check:
    return Check(name, ok=False, found=found, advice=advice)

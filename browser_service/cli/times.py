"""Parses the times that options give."""

import re
import time
from datetime import datetime
from typing import Final

import typer

_UNITS: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def end(text: str, option: str = "--expires") -> float:
    """Return when something ends, as Unix time. Raises BadParameter if the text is neither a duration nor a date."""
    if span := re.fullmatch(r"([0-9]{1,6}) ?([mhdw])", text.strip()):
        return time.time() + int(span[1]) * _UNITS[span[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except (ValueError, OverflowError):
        problem = f"{text[:40]!r} is neither a duration nor a date: give 30m, 12h, 30d, 8w, or 2027-01-31."
        raise typer.BadParameter(problem, param_hint=option) from None

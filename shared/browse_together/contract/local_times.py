"""Spells times as a clock on the wall shows them: by the clock and in the zone of the service's machine.

A host elsewhere has other ones, so it writes the seconds from now between two marks (`leave_to_front`), and the front
puts the words in their place (`worded`).
"""

import re
from datetime import datetime, timedelta
from typing import Final

CLOCK: Final = "%H:%M:%S"
STAMP: Final = "%Y%m%d-%H%M%S"
_FORMS: Final = (CLOCK, STAMP)
_BEGINS, _ENDS = "\ufdd2", "\ufdd3"
"""Unicode reserves these two characters for internal use by programs."""
_MARKED: Final = re.compile(f"{_BEGINS}(-?[0-9]{{1,9}}) ([01]){_ENDS}".encode())
_left_to_front = False


def leave_to_front() -> None:
    """Have this process, a host elsewhere, leave the words to its front."""
    global _left_to_front  # noqa: PLW0603 - a process is one or the other, from its start on
    _left_to_front = True


def local_time(in_s: float = 0.0, form: str = CLOCK) -> str:
    """Return the local time so many seconds from now, such as 14:05:09."""
    if _left_to_front:
        return f"{_BEGINS}{round(in_s)} {_FORMS.index(form)}{_ENDS}"
    return (datetime.now().astimezone() + timedelta(seconds=in_s)).strftime(form)


def worded(text: bytes) -> bytes:
    """Return a host's text with words in place of its marked times."""
    if text.isascii() or _BEGINS.encode() not in text:  # the first is quick, and true of pictures
        return text
    return _MARKED.sub(lambda found: local_time(int(found[1]), _FORMS[int(found[2])]).encode(), text)

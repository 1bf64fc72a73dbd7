"""Removes names and passwords from addresses, as browsers parse them. Addresses shown to others have none."""

import re
from typing import Final
from urllib.parse import unquote

_AUTHORITY: Final = re.compile(r"(\s*(?:https?|wss?):[/\\]*)([^/\\?#]*)@", re.IGNORECASE)
_IGNORED: Final = str.maketrans("", "", "\t\n\r")
"""Characters that browsers ignore anywhere in an address."""


def without_userinfo(url: str) -> str:
    """Return an address without its name and password."""
    return split_userinfo(url)[0] if "@" in url else url  # most have none


def split_userinfo(url: str) -> tuple[str, str, str]:
    """Return an address without its name and password, and these two."""
    if "@" not in url:  # quick way for the usual case
        return url, "", ""
    plain = url.translate(_IGNORED)
    found = _AUTHORITY.match(plain)
    if found is None:
        return url, "", ""
    username, _, password = found[2].partition(":")
    return found[1] + plain[found.end() :], unquote(username), unquote(password)

"""Takes names and passwords out of addresses, as browsers read them: what others are shown of an address has none."""

import re
from typing import Final
from urllib.parse import unquote

_AUTHORITY: Final = re.compile(r"(\s*(?:https?|wss?):[/\\]*)([^/\\?#]*)@", re.IGNORECASE)
_IGNORED: Final = str.maketrans("", "", "\t\n\r")
"""Browsers leave these out wherever they stand in an address."""


def without_userinfo(url: str) -> str:
    """Return an address without the name and the password in it."""
    return split_userinfo(url)[0]


def split_userinfo(url: str) -> tuple[str, str, str]:
    """Return an address without the name and the password in it, and the two."""
    if "@" not in url:  # the usual case costs nothing
        return url, "", ""
    plain = url.translate(_IGNORED)
    found = _AUTHORITY.match(plain)
    if found is None:
        return url, "", ""
    username, _, password = found[2].partition(":")
    return found[1] + plain[found.end() :], unquote(username), unquote(password)

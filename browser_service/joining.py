"""Says how a host joins: where, with which token, and under which identity."""

import contextlib
import json
import os
import re
import secrets
import string
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

import psutil

from browse_together.client.credentials import token_claims
from browse_together.contract.data_files import HOST_ID_FILE, draft
from browse_together.contract.loopback import is_loopback
from browse_together.contract.wire import HOST_AUDIENCE, INSTANCE_FILE

_ID_CHARACTERS: Final = string.ascii_lowercase + string.digits
_ID_LENGTH: Final = 12
_ID: Final = f"[{_ID_CHARACTERS}]{{{_ID_LENGTH}}}"
_MOVES_WITHIN_S: Final = 15.0
"""A host notes each second that it moves."""
_MAKE_ONE: Final = "Where the service runs: browse-together token host POOL > FILE."


class CannotJoin(Exception):
    """The host cannot join; the message says why, and what to do."""


@dataclass(frozen=True)
class Join:
    """What the command line says of the service to join."""

    url: str
    """Its origin."""
    token_file: Path
    name: str = ""
    """The host's name; by default made of the pool and the hostId."""
    allow_loopback: bool = False
    """Whether pages may open what listens on this machine."""
    refuses: frozenset[str] = frozenset()
    """Addresses that no page reaches, at no port."""


def check_platform(platform: str) -> None:
    """Raise CannotJoin on Windows, where a host could neither be asked to drain nor begin anew in its place."""
    if platform == "win32":
        raise CannotJoin("A host needs Linux or macOS. On Windows, run it in WSL or in a container.")


def address(text: str, *, plain_http: bool) -> str:
    """Return the origin of the service to join. Raises CannotJoin, which names the option."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise CannotJoin(f"--join {text}: {error}. Give an address such as https://server:8888.") from None
    if "@" in text:
        raise CannotJoin("--join has a name or password before the host. Leave it out: the token is in --token-file.")
    if parts.scheme not in {"http", "https"} or "//" not in text:
        raise CannotJoin(f"--join {text} does not begin with https://. Write https://{text.rpartition('//')[2]}.")
    origin = _origin(parts, host, port)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise CannotJoin(f"--join {text} has a path. Give the service's address alone: {origin}.")
    if parts.scheme == "http" and not plain_http and not is_loopback(host or ""):
        raise CannotJoin(
            f"--join {text} is another machine, to which http sends the token and all logins in plain sight. Write "
            "https://, or give --plain-http where nobody else is on the network."
        )
    return origin


def _origin(parts: SplitResult, host: str | None, port: int | None) -> str:
    if not host:
        raise CannotJoin("--join names no host. Give an address such as https://server:8888.")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}"


def read_token(file: Path) -> str:
    """Return the token in a file, which may be another one each time. Raises CannotJoin if it admits no host."""
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CannotJoin(f"--token-file {file} cannot be read: {reason}. {_MAKE_ONE}") from None
    claims = token_claims(token)
    if claims.get("aud") != HOST_AUDIENCE:
        kind = "has a token for callers" if claims else "has no token" if token else "is empty"
        raise CannotJoin(f"--token-file {file} {kind}, which admits no host. {_MAKE_ONE}")
    if float(str(claims.get("exp", 0))) <= time.time():
        raise CannotJoin(f"--token-file {file} has a token that has expired. {_MAKE_ONE}")
    return token


def host_id(data_dir: Path) -> str:
    """Return the lasting id of this data directory's host, made at its first start. Raises CannotJoin."""
    path = data_dir / HOST_ID_FILE
    try:
        if path.exists() and re.fullmatch(_ID, found := path.read_text(encoding="utf-8", errors="replace").strip()):
            return found
        found = "".join(secrets.choice(_ID_CHARACTERS) for _ in range(_ID_LENGTH))
        draft(path, found.encode()).replace(path)
    except OSError as error:
        raise CannotJoin(
            f"{path} cannot be used: {error.strerror or error}. Free space there, or choose another directory by "
            "--data-dir."
        ) from None
    return found


def note_state(data_dir: Path, join: Join, name: str, *, linked: bool) -> None:
    """Note for `host_state` what this process does. With a full disk, what was noted before stays."""
    state = {"pid": os.getpid(), "host": name, "joins": join.url, "linked": linked}
    with contextlib.suppress(OSError):
        path = data_dir / INSTANCE_FILE
        draft(path, json.dumps(state).encode()).replace(path)


def note_moves(data_dir: Path) -> None:
    """Note for `host_state` that this process moves, which takes no room on a disk."""
    with contextlib.suppress(OSError):
        os.utime(data_dir / INSTANCE_FILE)


def host_state(data_dir: Path, *, must_be_linked: bool) -> tuple[bool, str]:
    """Return whether a data directory's host is healthy, and a sentence about it."""
    path = data_dir / INSTANCE_FILE
    try:
        state, age_s = json.loads(path.read_text(encoding="utf-8")), time.time() - path.stat().st_mtime
        pid, url = int(state["pid"]), state["joins"]
    except (OSError, ValueError, KeyError, TypeError):
        return False, f"No host runs (data directory {data_dir})."
    if not psutil.pid_exists(pid):
        return False, f"No host runs (data directory {data_dir}); process {pid} was killed."
    what = f"{state['host'] or 'The host'} (process {pid})"
    if age_s > _MOVES_WITHIN_S:
        return False, f"{what} has not moved for {age_s:.0f} s."
    if state["linked"]:
        return True, f"{what} is linked to {url}."
    return not must_be_linked, f"{what} dials {url}, and has no link."

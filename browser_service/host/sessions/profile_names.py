"""Tells which profile of a person's browser agents work in, and which account it has, as far as its own files do."""

import json
from pathlib import Path
from typing import Final

from browse_together.contract.model import Json, list_at, object_at
from browse_together.contract.quoting import one_line, quoted

_MOST: Final = 60


def profile_of(directory: Path) -> str:
    """Return the name and account of the profile that was used last; of several in use all, because the file may be ten
    seconds old. Empty if it names none."""
    profiles = object_at(_read(directory / "Local State"), "profile")
    known, last = object_at(profiles, "info_cache"), profiles.get("last_used")
    in_use = [each for each in list_at(profiles, "last_active_profiles") if isinstance(each, str) and each in known]
    if not in_use:
        in_use = [last] if isinstance(last, str) and last in known else [*known][:1]
    named = [_named(directory / each, object_at(known, each)) for each in in_use]
    if len(named) > 1:
        return f"the profile used last of {', '.join(named)}"
    return f"profile {named[0]}" if named else ""


def _named(directory: Path, profile: Json) -> str:
    account = profile.get("user_name")
    if not account:
        accounts = list_at(_read(directory / "Preferences"), "account_info")
        account = next((each.get("email") for each in accounts if isinstance(each, dict) and each.get("email")), "")
    return quoted(str(profile.get("name", "")), _MOST) + (f" of {one_line(str(account), _MOST)}" if account else "")


def _read(file: Path) -> Json:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

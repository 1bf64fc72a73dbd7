"""Names the variables of the environment that set the service, for programs that see them and do not read them."""

from collections.abc import Iterable, Mapping
from typing import Final

from shared import setting_names
from shared.similarity import nearest

PREFIX: Final = "BROWSE_"
OF_SERVICE: Final = frozenset(f"{PREFIX}{name.upper()}" for name in setting_names.SERVICE)
REMOVED: Final = {"page_events_per_second": "a page that makes too many events is heard less, and not ended for it"}
"""Maps settings that there were to why there are none. One that somebody still has is no reason not to start."""
_FILE: Final = f"{PREFIX}CONFIG"
"""Names the file of settings, and is none itself."""
_SIMILARITY: Final = 0.6
_MOST_NAMED: Final = 10


def misspelt(environment: Mapping[str, str], known: Iterable[str]) -> list[str]:
    """Return a line for each variable of ours that no program reads, with the nearest that one does."""
    names = {name.removeprefix(PREFIX) for name in OF_SERVICE | {_FILE, *known}}
    strange = sorted(name for name in environment if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in names)
    return [_line(name, names) for name in strange[:_MOST_NAMED]]


def no_more(name: str) -> str:
    """Say of a setting that was removed what holds now."""
    return f"is no setting any more, and has no effect: {REMOVED[name]}."


def _line(variable: str, names: set[str]) -> str:
    if (name := variable.removeprefix(PREFIX).lower()) in REMOVED:
        return f"{variable} {no_more(name)}"
    near = nearest(variable.removeprefix(PREFIX), sorted(names), similarity=_SIMILARITY)
    advice = f"Did you mean {PREFIX}{near[0]}?" if near else "docs/settings.md lists the settings."
    return f"{variable} is no setting, and has no effect. {advice}"

"""Refuses options that a list does not have, before Playwright waits for them as long as the call may take."""

from collections.abc import Mapping
from typing import Final

from playwright.async_api import Locator
from typing_extensions import TypedDict

from browse_together.contract.errors import ElementNotInteractable
from browse_together.contract.quoting import quoted
from browser_service.host import world
from browser_service.host.scripts import results, script
from browser_service.host.stages.explanation import offered

_THERE: Final = results.bounded(script("options_there"))
_KINDS: Final = ("value", "label", "index")
_LATE_MS: Final = 1_000
"""A list may get its options by what was chosen in another."""


class _There(TypedDict):
    """The result of _THERE."""

    missing: list[str]
    options: list[str]


async def check_there(found: Locator, given: Mapping[str, object], selector: str, timeout_ms: float) -> None:
    """Raise ElementNotInteractable if a list has not all of the given options, by value, label or index."""
    wanted = [[kind, each] for kind in _KINDS for each in _several(given.get(kind))]
    answer = await world.evaluate(found, _THERE, [wanted, min(_LATE_MS, timeout_ms)], timeout_ms=timeout_ms)
    there = results.read(_There, answer)
    if not there["missing"]:
        return
    raise ElementNotInteractable(
        f"{selector} has no option {', '.join(map(quoted, there['missing']))}.",
        hint=offered(there["options"]),
        details={"selector": selector},
    )


def _several(value: object) -> list[object]:
    return [*value] if isinstance(value, list) else [] if value is None else [value]

"""Explains by the page itself why an element could not be acted on, which Playwright's words leave open."""

from typing import Any, Final

from browser_service.host.scripts import script
from shared.errors import ElementNotInteractable
from shared.next_calls import next_call

_OPTIONS_SHOWN: Final = 12

STATE: Final = script("obstacles")


def with_cause(
    error: ElementNotInteractable,
    act: str,
    frame: str | None,
    state: dict[str, Any],  # Any: what STATE tells
) -> ElementNotInteractable:
    """Return the same error with the cause that the element shows."""
    was, said, hint = _cause(error.message, state) or ("", "", "")
    message, advice = error.message.replace(was, said, 1), hint or error.advice
    if state["label"] and not state["disabled"]:
        message = f"{message.removesuffix('.')}; its label would take the click."
        where = {"selector": state["label"], **({"frame": frame} if frame else {})}
        advice = f"{next_call(act, **where)}."
    return ElementNotInteractable(message, hint=advice, details=error.details)


def _cause(message: str, state: dict[str, Any]) -> tuple[str, str, str] | None:  # Any: as there
    """Return the words to replace, their replacement, and the next call."""
    if "is covered by another element" in message and state["untouchable"]:
        start = message.index("is covered by")
        return (
            message[start : message.index(" (waited")],
            "takes no pointer events (pointer-events: none)",
            (
                "The page has it switched off for the mouse. Try the keyboard: "
                f"{next_call('press', selector='...', key='Enter')}."
            ),
        )
    if "is not visible" in message and state["unseen"]:
        return "is not visible", f"is not visible: {state['unseen']}", ""
    if state["options"] and "option" in message:
        shown = "; ".join(map(repr, state["options"][:_OPTIONS_SHOWN]))
        more = len(state["options"]) - _OPTIONS_SHOWN
        offers = f"It offers {shown}{f' and {more} more' if more > 0 else ''}."
        return "", "", offers
    return None

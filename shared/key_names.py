"""Maps callers' spellings of keys to the browser's names."""

import re
from typing import Final

_NAMED: Final = (
    *("Shift", "Control", "Alt", "Meta", "ControlOrMeta", "Enter", "Escape", "Tab", "Space", "Backspace", "Delete"),
    *("Insert", "Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("CapsLock", "NumLock", "ContextMenu", *(f"F{number}" for number in range(1, 13))),
)
_OTHER_NAMES: Final = {
    "ctrl": "Control",
    "cmd": "ControlOrMeta",
    "command": "ControlOrMeta",
    "option": "Alt",
    "return": "Enter",
    "esc": "Escape",
    "spacebar": "Space",
    "del": "Delete",
    "ins": "Insert",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
}
_NAMES: Final = {name.casefold(): name for name in _NAMED} | _OTHER_NAMES
_BETWEEN_KEYS: Final = re.compile(r"(?<=.)\+(?=.)")


def browser_key(key: str) -> str:
    """Return a key, or a chord of several keys, in the browser's names: `ctrl+a` becomes `Control+a`."""
    return "+".join(_named(each) for each in _BETWEEN_KEYS.split(key))


def _named(key: str) -> str:
    name = key.strip() or key
    return _NAMES.get(name.casefold(), name)

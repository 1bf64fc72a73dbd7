"""Acting on elements as a person would: click, type, choose."""

import re
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, model_validator

from browse_together.contract.actions.arguments import LONG_TEXT, Part, Position, SecretRef, Selector, Several
from browse_together.contract.actions.base import ElementAction, PageAct, TickingAction
from browse_together.contract.actions.traits import Alias, Input, Keys, Reports
from browse_together.contract.named_secrets import MOST_CHARACTERS

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


def commands(key: str) -> bool:
    """Return whether a key, or a chord of several keys, is a command and writes nothing."""
    *held, last = _BETWEEN_KEYS.split(key)
    writes = {*held} <= {"Shift"} and last not in _NAMED
    return not writes and {*held} <= {*_NAMED} and (last in _NAMED or len(last) == 1)


def _named(key: str) -> str:
    name = key.strip() or key
    return _NAMES.get(name.casefold(), name)


LongText = Annotated[str, Field(max_length=LONG_TEXT)]
Modifier = Annotated[
    Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"],
    BeforeValidator(lambda key: browser_key(key) if isinstance(key, str) else key),
]
Key = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(browser_key)]

Force = Annotated[bool, Field(description="Skip the checks that the element can be acted on.")]
NoWaitAfter = Annotated[bool, Field(description="Do not wait for a navigation that the act starts.")]
Trial = Annotated[bool, Field(description="Check that it could be done, and do nothing.")]
At = Annotated[Position | None, Field(description="Where in the element, px from its top left corner.")]
Scroll = Annotated[Literal["auto", "none"], Field(description="`none` leaves the scroll position as it is.")]
Modifiers = Annotated[list[Modifier] | None, Field(max_length=10, description="Keys held down meanwhile.")]


class Pointing(Part):
    """How to use the mouse on an element."""

    position: At = None
    force: Force = False
    no_wait_after: NoWaitAfter = False
    trial: Trial = False
    scroll: Scroll = "auto"


class HowToClick(Pointing):
    """How to click."""

    button: Literal["left", "right", "middle"] = Field(default="left", description="Mouse button.")
    click_count: int = Field(default=1, ge=1, le=3, description="2 is a double click.")
    delay: float | None = Field(default=None, ge=0, le=10_000, description="Ms between mouse down and up.")
    modifiers: Modifiers = None
    steps: int | None = Field(default=None, ge=1, le=1_000, description="Mouse moves on the way to the element.")


class Click(HowToClick, ElementAction):
    """Click an element. Double: params {"clickCount": 2}.

    The reply tells of a navigation, requests sent, a popup, what changed, or that there was nothing."""

    everyday = ("params",)
    input = Input.POINTER
    aliases = (Alias("double_click", presets={"clickCount": 2}), Alias("right_click", presets={"button": "right"}))


class Fill(ElementAction):
    """Set the value of a field, replacing what it has.

    Of an input, a textarea or an editable element, at once. The reply has the value that the page shows afterwards,
    unless it is the given one."""

    everyday = ("params",)
    aliases = (Alias("clear", presets={"value": ""}),)
    reports = Reports.EVERYTHING

    value: LongText | SecretRef = Field(
        validation_alias=AliasChoices("value", "text"), description='Text, or {"secret": NAME}.'
    )
    force: Force = False
    no_wait_after: NoWaitAfter = False

    @property
    def given_texts(self) -> tuple[str, ...]:
        return (self.value,) if isinstance(self.value, str) and self.value else ()


class Type(PageAct):
    """Type text key by key where the focus is. Prefer `fill`.

    It is for pages that listen for keys. It comes after what is there: in a paragraph of an editor at its end, and
    without a selector where the caret is."""

    everyday = ("selector",)
    input = Input.KEYS
    reports = Reports.VALUE

    text: str | SecretRef = Field(
        validation_alias=AliasChoices("text", "value"), description='Text, or {"secret": NAME}.'
    )
    selector: Selector | None = Field(default=None, description="Focused first.")
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=True, description="false takes the first of several.")
    delay: float = Field(default=0, ge=0, le=1_000, description="Ms between keys.")
    no_wait_after: NoWaitAfter = False

    @property
    def presses(self) -> Keys:
        return Keys(text=self.text if isinstance(self.text, str) else "")

    def allowed_ms(self) -> int:
        characters = len(self.text) if isinstance(self.text, str) else MOST_CHARACTERS
        return self.timeout + round(self.delay * characters)


class Press(PageAct):
    """Press a key where the focus is.

    Control+v pastes what you copied by Control+c or Control+x in this session: the browser's own clipboard has what
    others copy too, and is not pasted."""

    everyday = ("selector",)
    input = Input.KEYS

    key: Key = Field(description="Such as Enter or Control+a.")
    selector: Selector | None = Field(default=None, description="Focused first.")
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=True, description="false takes the first of several.")
    delay: float | None = Field(default=None, ge=0, le=10_000, description="Ms between key down and up.")
    no_wait_after: NoWaitAfter = False

    @property
    def copies(self) -> bool:
        """Return whether the key copies or cuts what is selected."""
        return self._chord in {"control+c", "control+x", "control+insert", "control+numpad0", "shift+delete"}

    @property
    def presses(self) -> Keys:
        return Keys(self.key, pastes=self.pastes)

    @property
    def pastes(self) -> bool:
        """Return whether the key puts what was copied where the focus is."""
        return self._chord in {"control+v", "control+shift+v", "shift+insert"}

    @property
    def _chord(self) -> str:
        """Return the key with what is held, in one spelling: of either side, as a sign or by its place."""
        *held, key = self.key.casefold().replace("meta", "control").split("+")
        names = {name for name in ("control", "shift", "alt") if any(each.startswith(name) for each in held)}
        return "+".join([*sorted(names), key.removeprefix("key")])


class Hover(Pointing, ElementAction):
    """Move the mouse over an element."""

    everyday = ()
    gives = False
    input = Input.HOVER

    modifiers: Modifiers = None


class SelectOption(ElementAction):
    """Choose options of a select element; [] chooses none.

    By value, label or index. The reply has the values selected afterwards."""

    everyday = ("value",)
    input = Input.KEYS
    reports = Reports.READ_BACK

    value: str | Several[str] | None = Field(default=None, description="Values, or visible labels.")
    label: str | Several[str] | None = Field(default=None, description="Visible labels.")
    index: int | Several[int] | None = Field(default=None, description="Positions, from 0.")
    force: Force = False
    no_wait_after: NoWaitAfter = False

    @model_validator(mode="after")
    def _something_to_choose(self) -> Self:
        if self.value is None and self.label is None and self.index is None:
            raise ValueError("needs 'value', 'label' or 'index'")
        return self

    @property
    def given_texts(self) -> tuple[str, ...]:
        chosen = [[each] if isinstance(each, str) else [*(each or ())] for each in (self.value, self.label)]
        return tuple(text for texts in chosen for text in texts if text)


class Check(Pointing, TickingAction):
    """Tick a checkbox or radio button; one that is ticked already stays so."""


class Uncheck(Pointing, TickingAction):
    """Untick a checkbox; one that is not ticked stays so."""

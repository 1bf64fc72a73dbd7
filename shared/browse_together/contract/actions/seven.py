"""Seven tools for a browser of one's own, as small servers have them: one page, which browser_launch opens."""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from browse_together.contract.actions.arguments import LONG_TEXT, Address, Part, Selector
from browse_together.contract.actions.base import OwnPageAction, ServiceAction, VisitingAction
from browse_together.contract.actions.interaction import Click, Fill, HowToClick, Type
from browse_together.contract.actions.selectors import check_selector
from browse_together.contract.actions.traits import Effect, computed
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.filenames import FileName

SelectorType = Annotated[Literal["css", "text", "role", "testId"], Field(description="Type of selector")]

_OF_ROLES: Final = ("checked", "disabled", "expanded", "include_hidden", "level", "pressed", "selected")
_PLAIN: Final = re.compile(r"[^\"'/>\\][^>\\]*[^\"'/>\\]")
"""A text that can stand after `text=` without quotes."""
_TAKES: Final = {"role": {"name", "exact", *_OF_ROLES}, "text": {"exact"}, "label": {"exact"}}


_CHECK: Final = "Check if element exists and is actionable"
_OF_ELEMENTS: Final = MappingProxyType(
    {
        "ELEMENT_NOT_FOUND": _CHECK,
        "ELEMENT_NOT_INTERACTABLE": _CHECK,
        "AMBIGUOUS_SELECTOR": "Repeat it with one of these selectors, without selectorType and options",
    }
)


class LocatorOptions(Part):
    """What narrows a selector, by the names of Playwright's getByRole and getByText."""

    name: str | None = Field(default=None, description="Accessible name; with role.")
    exact: bool | None = Field(default=None, description="Whole text and its case; with role or text.")
    checked: bool | None = Field(default=None, description="With role.")
    disabled: bool | None = Field(default=None, description="With role.")
    expanded: bool | None = Field(default=None, description="With role.")
    include_hidden: bool | None = Field(default=None, description="With role: hidden elements too.")
    level: int | None = Field(default=None, ge=1, le=9, description="Of a heading; with role.")
    pressed: bool | None = Field(default=None, description="With role.")
    selected: bool | None = Field(default=None, description="With role.")


class ClickOptions(HowToClick, LocatorOptions):
    """The same, and how to click."""

    timeout: int | None = Field(default=None, ge=1, le=120_000, description="Milliseconds the click may take.")


class Viewport(Part):
    width: int = Field(default=1280, ge=100, le=10_000, description="px.")
    height: int = Field(default=720, ge=100, le=10_000, description="px.")


class BrowserLaunch(ServiceAction):
    """Launch a Playwright browser (chromium, firefox, or webkit): a page of your own in the shared browser, with its
    login.

    A browser of another kind has no login."""

    effect = Effect.ACTS
    serves_reading = True
    text_key = "text"
    activity_phrase = "launching browser"

    browser_type: Literal["chromium", "firefox", "webkit"] = Field(
        default="chromium", description="Type of browser to launch"
    )
    headless: bool = Field(default=True, description="Run browser in headless mode")
    viewport: Viewport | None = Field(default=None, description="Viewport size")

    def allowed_ms(self) -> int:
        return 60_000


def _launches(action: "BrowserNavigate") -> bool:
    return action.launch


class BrowserNavigate(VisitingAction, OwnPageAction):
    """Navigate to a URL, in the page of your browser."""

    everyday = ("waitUntil",)
    activity_phrase = "navigating"
    launches = computed(False, _launches)  # noqa: FBT003 - the class's value

    url: Address = Field(min_length=1, description="URL to navigate to (must include protocol)")
    wait_until: Literal["load", "domcontentloaded", "networkidle"] = Field(
        default="load", description="When to consider navigation succeeded"
    )
    launch: bool = Field(default=True, description="Open the page in the shared browser if browser_launch did not.")


class BrowserFind(OwnPageAction):
    """Find elements, and say whether the first can be used.

    How many match, and whether the first can be seen and used."""

    activity_phrase = "finding element"
    hints = _OF_ELEMENTS

    selector: Selector = Field(description="CSS selector, text, or role selector")
    selector_type: SelectorType = "css"
    options: LocatorOptions | None = Field(
        default=None, description="Additional locator options (e.g., { name: 'Submit' })"
    )

    def located(self) -> str:
        return located(self.selector, self.selector_type, self.options)

    def selector_text(self) -> str:
        """Return the selector as the reply repeats it to the caller."""
        if self.selector_type == "css":
            return self.selector
        name = f"[name={_quoted(self.options.name)}]" if self.options and self.options.name is not None else ""
        return f"{self.selector_type}={self.selector}{name}"


class BrowserClick(OwnPageAction):
    """Click an element of the page."""

    effect = Effect.ACTS
    activity_phrase = "clicking element"
    hints = _OF_ELEMENTS

    selector: Selector = Field(description="Selector for the element to click")
    selector_type: SelectorType = "css"
    options: ClickOptions | None = Field(default=None, description="Click options (button, clickCount, etc.)")

    def canonical(self) -> Click:
        given = self.options.model_dump(by_alias=True, exclude_unset=True) if self.options else {}
        how = {key: value for key, value in given.items() if key not in _LOCATING}
        selector = located(self.selector, self.selector_type, self.options)
        return Click.model_validate({"timeout": self.timeout, **how, "selector": selector})

    def allowed_ms(self) -> int:
        return (self.options and self.options.timeout) or self.timeout


class BrowserType(OwnPageAction):
    """Type text into an input.

    In the page, instead of what it has or after it."""

    effect = Effect.ACTS
    activity_phrase = "typing into element"
    hints = _OF_ELEMENTS

    selector: Selector = Field(description="Selector for the input element")
    text: str = Field(max_length=LONG_TEXT, description="Text to type")
    selector_type: Literal["css", "text", "role", "testId", "label"] = Field(
        default="css", description="Type of selector"
    )
    clear: bool = Field(default=True, description="Clear existing text before typing")

    def canonical(self) -> Fill | Type:
        kind = Fill if self.clear else Type
        selector = located(self.selector, self.selector_type, None)
        return kind.model_validate({"selector": selector, "text": self.text, "timeout": self.timeout})


class BrowserScreenshot(OwnPageAction):
    """Take a screenshot of the page or of one element."""

    activity_phrase = "taking screenshot"
    hints = _OF_ELEMENTS

    selector: Selector | None = Field(default=None, description="Optional: selector for element to screenshot")
    full_page: bool = Field(default=False, description="Capture full scrollable page")
    path: FileName | None = Field(default=None, description="Optional: file path to save screenshot")


class BrowserQuit(ServiceAction):
    """Close your browser: the page that browser_launch opened. The shared login stays."""

    effect = Effect.DESTROYS
    serves_reading = True
    text_key = "text"
    activity_phrase = "closing browser"
    unmetered: ClassVar[bool] = True


_LOCATING: Final = frozenset(field.alias or name for name, field in LocatorOptions.model_fields.items())


def located(selector: str, kind: str, options: LocatorOptions | None) -> str:
    """Return the selector that finds the same as Playwright's getByRole, getByText, getByLabel or getByTestId.

    Raises ValidationFailed for an option that the type of selector does not have, or a role with a pattern.
    """
    given = options.model_dump(include=set(LocatorOptions.model_fields), exclude_none=True) if options else {}
    if unfit := [name for name in given if name not in _TAKES.get(kind, ())]:
        raise ValidationFailed(
            f'options.{unfit[0]} does not go with selectorType "{kind}".',
            hint='It narrows a role: {"selector": "button", "selectorType": "role", "options": {"name": "Submit"}}.',
            details=field_details(f"options.{unfit[0]}"),
        )
    if kind == "role":
        try:
            check_selector(f"role={selector}")
        except ValueError as error:
            raise ValidationFailed(f"selector: {error}", details=field_details("selector")) from None
        states = "".join(f"[{key.replace('_', '-')}={json.dumps(given[key])}]" for key in _OF_ROLES if key in given)
        return f"role={selector}{states}{_name(given)}"
    if kind == "testId":
        return f"[data-testid={_quoted(selector)}]"
    if kind == "css":
        return selector
    plain = kind == "text" and "exact" not in given and _PLAIN.fullmatch(selector)
    return f"text={selector}" if plain else f"internal:{kind}={_quoted(selector)}{'s' if given.get('exact') else 'i'}"


def _name(given: Mapping[str, object]) -> str:
    """Return the selector's condition on the name: any part of it in any case, or exactly the name."""
    if "name" not in given:
        return ""
    return f"[name={_quoted(given['name'])}]" if given.get("exact") else f"[name*={_quoted(given['name'])}i]"


def _quoted(text: object) -> str:
    return json.dumps(text, ensure_ascii=False)

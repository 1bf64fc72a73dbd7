"""Waiting for time to pass, for an element, or for what a caller expects, beside the turns of the page."""

from typing import Annotated, Final, Literal, Self

from pydantic import AliasChoices, Field, model_validator

from browse_together.contract.actions.arguments import LONG_TEXT, Selector, WaitUntil
from browse_together.contract.actions.base import PageAction, WaitingAction
from browse_together.contract.actions.traits import Lane


class WaitForSelector(WaitingAction):
    """Wait until an element is there, or gone.

    `state` chooses: visible, hidden, attached or detached."""

    everyday = ("state",)

    selector: Selector = Field(description="Ref (e12), CSS or role=...")
    state: Literal["attached", "detached", "visible", "hidden"] = Field(
        default="visible", description="What to wait for."
    )
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=False, description="Refuse when several match.")


UrlGlob = Annotated[
    str, Field(min_length=1, max_length=2_000, description="Glob (`*` is any text), /path, or /regex/flags.")
]


class WaitForNavigation(WaitingAction):
    """Wait for the page's next navigation to load.

    One that began after your own last act on the page counts too."""

    everyday = ("url",)

    pattern: UrlGlob | None = Field(default=None, alias="url", description="Only to a URL that matches.")
    wait_until: WaitUntil = "load"


class WaitForUrl(WaitingAction):
    """Wait until the page is at a URL that matches, and has loaded."""

    everyday = ()

    pattern: UrlGlob = Field(alias="url")
    wait_until: WaitUntil = "load"


class WaitForLoad(WaitingAction):
    """Wait until the page's document has loaded."""

    state: Literal["load", "domcontentloaded", "networkidle"] = Field(
        default="load",
        validation_alias=AliasChoices("state", "waitUntil"),
        description="networkidle: no requests for 500 ms.",
    )


class Wait(PageAction):
    """Wait for a duration. Prefer wait_for_selector, which goes on as soon as it can."""

    lane = Lane.BESIDE
    hears_person = True
    lasts = True
    text_key = "observed"

    duration: int = Field(ge=0, le=60_000, description="Milliseconds.")

    def allowed_ms(self) -> int:
        return self.duration + 1_000

    @property
    def wakes_page(self) -> bool:
        return False


_COMPARED: Final = frozenset({"text", "value", "count"})
"""What needs a `value` to be compared with."""
_REQUEST: Final = r"^([A-Z]+ +)?\S+$"


class Expect(WaitingAction):
    """Check an element, the page's URL or a request, as soon as it is so; if it never is, the error has what is there.

    A request counts from your own last act on the page. Of several elements, the first visible one is checked."""

    everyday = ("selector", "to", "value", "url", "request")

    selector: Selector | None = Field(default=None, description="Ref (e12), CSS or role=...")
    pattern: UrlGlob | None = Field(default=None, alias="url", description="The page is at a URL that matches.")
    request: Annotated[str, Field(min_length=1, max_length=2_000, pattern=_REQUEST)] | None = Field(
        default=None, description="The page has sent one, such as `POST /api/orders`: method, if any, and URL glob."
    )
    to: Literal[
        "visible", "hidden", "attached", "detached", "enabled", "disabled", "checked", "unchecked", "text", "value",
        "count",
    ] = Field(default="visible", description="What the element must be or have; text: anywhere in it.")  # fmt: skip
    value: Annotated[str, Field(max_length=LONG_TEXT)] | int | None = Field(
        default=None, description="The text, the field's value or the count."
    )
    status: Annotated[str, Field(pattern=r"^([1-5][0-9][0-9]|[1-5]xx)$")] | None = Field(
        default=None, description="The request's answer: 201, 2xx."
    )
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    timeout: int = Field(default=5_000, ge=1, le=120_000, description="Milliseconds to wait at most.")

    @model_validator(mode="after")
    def _is_one_check(self) -> Self:
        if sum(each is not None for each in (self.selector, self.pattern, self.request)) != 1:
            raise ValueError("give one of selector, url and request: each call checks one thing")
        if self.selector is None and self.model_fields_set & {"to", "value", "frame"}:
            raise ValueError("to, value and frame are of an element: give its selector")
        if self.status is not None and self.request is None:
            raise ValueError("status is of a request: give request")
        if (self.to in _COMPARED) != (self.value is not None):
            needs = f'"to": "{self.to}" needs value' if self.to in _COMPARED else "value is for to: text, value, count"
            raise ValueError(needs)
        if self.to == "count" and not isinstance(self.value, int):
            raise ValueError('value is a number with "to": "count"')
        return self

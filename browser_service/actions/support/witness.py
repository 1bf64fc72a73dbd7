"""Watches whether a click reaches its element, with listeners that the page has from just before the mouse goes
down."""

import asyncio
import contextlib
import secrets
from typing import Any, Final, Self

from playwright.async_api import ElementHandle, Frame, Locator, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, JsonValue, TypeAdapter

from browse_together.contract.cuts import shown_of
from browse_together.contract.errors import WithoutEffect
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import element_name, quoted
from browser_service.host.elements.filled_fields import Lasting
from browser_service.host.elements.locators import evaluate_all
from browser_service.host.scripts import script

_WATCH_RESULT_S: Final = 0.1
_SHOWN: Final = 3
_VERDICT_S: Final = 1.0

_WATCH: Final = script("click_witness")
_WATCH_AND_LOOK: Final = script("click_and_state")

_VERDICT: Final = script("click_verdict")
_LASTING: Final = script("lasting_pressed")
_PRESSED_MS: Final = 10_000

_MISS_REASONS: Final = {
    "disabled": "it is disabled, and takes no clicks",
    "replaced": "the page replaced it while the mouse was down",
    "stopped": "a script of the page stopped it on its way",
    "moved": "it moved away while the mouse was down, and {by} received it",
    "taken": "{by} received it",
}
_MOUSE_DOWN_EFFECTS: Final = {
    "disabled": "the page disabled it at the mouse down, and no click followed",
    "covered": "the page put {by} over it at the mouse down, which received the rest of the click",
}
_MISS_HINTS: Final = {
    "disabled": f"Something has to enable it first: {next_call('snapshot')}.",
    "replaced": (
        f"Repeat it with a selector, or with a ref of a new {next_call('snapshot')}: the new one may take the click."
    ),
    "stopped": f"Try the keyboard: {next_call('press', selector='...', key='Enter')}.",
}
_OBSTACLE_HINT: Final = (
    f"Act on what is in the way first, or close it, maybe by {next_call('press', key='Escape')}. See it: "
    f"{next_call('snapshot')}."
)


class Verdict(BaseModel):
    """What the page saw of a click; empty if its document went, or a frame took the click."""

    missed: str = ""
    then: str = ""
    """What the page did at the mouse down that prevented a click."""
    by: str = ""
    left: bool = False
    stopped: str = ""
    invalid: list[tuple[str, str]] = []
    state: list[JsonValue] | None = None
    """The page's state after the click, if requested, and if nothing more is to come of the click."""
    refused: str = ""
    """What the page's content security policy refused."""
    lasting: Lasting | None = None
    """How its element is found again."""
    asks: bool = False
    """Whether the page asks for files; the browser reports the chooser somewhat later."""
    saves: bool = False
    """Whether a link saves what it leads to; the browser reports the download somewhat later."""

    def check(self, selector: str, *, acted: bool) -> None:
        """Raise WithoutEffect if the click missed its element. `acted` means that the mouse down had an effect."""
        if self.missed and not (self.missed == "replaced" and acted):
            reason = _MISS_REASONS[self.missed].format(by=element_name(self.by))
            raise WithoutEffect(
                f"The click did not reach the element matching '{selector}': {reason}.",
                hint=_MISS_HINTS.get(self.missed, _OBSTACLE_HINT),
                details={"selector": selector, "context": {"reason": self.missed, "receivedBy": self.by or None}},
            )

    def lines(self) -> list[str]:
        """Describe the other effects."""
        left = ["it went away at the mouse down, before the click"] if self.left or self.missed else []
        then = [_MOUSE_DOWN_EFFECTS[self.then].format(by=element_name(self.by))] if self.then else []
        shown = shown_of(len(self.invalid), _SHOWN)
        invalid = [f"{quoted(name)}: {quoted(message)}" for name, message in self.invalid[:shown]]
        if len(self.invalid) > shown:
            invalid.append(f"and {len(self.invalid) - shown} more")
        refused = [f"refused by the page's content security policy: {quoted(self.refused)}"] if self.refused else []
        return [*left, *then, *refused, *([f"the form was not sent: {'; '.join(invalid)}"] if invalid else [])]

    @property
    def silence(self) -> str:
        """Say why the click may have had no effect."""
        return f"a script of the page stopped what the {self.stopped} does (preventDefault)" if self.stopped else ""


class Witness:
    """The watch over one act on an element."""

    def __init__(
        self,
        element: Locator | ElementHandle,
        frame: Page | Frame | None,
        *,
        kind: str = "click",
        force: bool = False,
        asked: list[JsonValue] | None = None,
    ) -> None:
        """`frame` is the element's own, if known. `asked` is the question about the page's state, if that is wanted
        too."""
        self._element = element
        self._frame = None if force else frame
        self._request: dict[str, JsonValue] = {
            "kind": kind,
            "force": force,
            "first": self._frame is None,
            "name": secrets.token_hex(8),
        }
        self._looks = asked is not None and self._frame is not None
        if self._looks:
            self._request["asked"] = asked

    async def __aenter__(self) -> Self:
        """Start watching before the act.

        In a known frame, it is enough to send the request before the act's own messages, because Playwright then checks
        the element for some animation frames. Otherwise this waits until the element is watched.
        """
        self._watching = asyncio.ensure_future(self._watch())
        self._describing = asyncio.ensure_future(self._describe())
        if self._frame is None:
            await asyncio.wait({self._watching}, timeout=_VERDICT_S)
        else:
            await asyncio.sleep(0)  # lets the task send its request before the act
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (self._watching, self._describing):
            task.cancel()
            if task.done() and not task.cancelled():
                task.exception()

    async def _watch(self) -> Any:  # Any: JSON from the page
        if self._frame is not None:
            watch = _WATCH_AND_LOOK if self._looks else _WATCH
            return await evaluate_all(object, self._frame, watch, self._request)
        return await self._evaluate(_WATCH, self._request)

    async def _describe(self) -> Any:  # Any: JSON from the page
        """Return how the element is found again, before the click; None if its frame is not known."""
        if self._frame is None:
            return None
        return await evaluate_all(object, self._frame, _LASTING, _PRESSED_MS)

    async def _evaluate(self, source: str, arg: object) -> Any:  # Any: JSON from the page
        return await evaluate_all(object, self._element, source, arg)

    async def verdict(self) -> Verdict:
        """Return the verdict after the act."""
        await asyncio.wait({self._watching}, timeout=_WATCH_RESULT_S)
        result: Any = None  # Any: JSON from the page
        early: Any = None  # Any: as above
        with contextlib.suppress(PlaywrightError, TimeoutError):
            if self._watching.done():
                result = self._watching.result()
            if result is None or "early" in result:
                early = result and result["early"]
                async with asyncio.timeout(_VERDICT_S):
                    result = await self._evaluate(_VERDICT, self._request["name"])
        with contextlib.suppress(PlaywrightError):
            if self._describing.done():
                early = early or self._describing.result()
        verdict = Verdict.model_validate(result or {})
        verdict.lasting = early and TypeAdapter(Lasting).validate_python(early)
        return verdict

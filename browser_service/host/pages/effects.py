"""The observed effects of the act that runs on a page, for its call and the reply."""

from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.base import Action
from browse_together.contract.cuts import cut
from browser_service.host import errors
from browser_service.host.network.traffic import Traffic
from browser_service.host.pages.current_tab import CurrentTab
from browser_service.host.tabs.observation import Observation

_NAMED: Final = 60


class Effects:
    """The effects of one client's acts on a page; there are none while the page has no tab."""

    def __init__(self, current: CurrentTab, traffic: Traffic, client_id: str) -> None:
        self._current, self._traffic, self._client_id = current, traffic, client_id

    @property
    def navigating_to(self) -> str:
        """Return the URL of a navigation whose server has not answered yet; "" for none."""
        return observer.navigating_to if (observer := self._current.observer) else ""

    @property
    def moves(self) -> int:
        """Return how often the tab has navigated."""
        return observer.moves if (observer := self._current.observer) else 0

    @property
    def had_effect(self) -> bool:
        """True if the running act had an observed effect besides changes to the page's content."""
        return (observer := self._current.observer) is not None and observer.had_effect

    def observe(self, action: Action, shown: str) -> Observation | None:
        """Begin to observe an act, named by its action and its element. `shown` is the element's name as the client saw
        it, if any."""
        if (observer := self._current.observer) is None:
            return None
        selector = action.aim.selector or ""
        by = f"{action.name()} on {cut(shown or selector, _NAMED)}" if selector else action.name()
        idle = action.text_key != "observed"  # its reply reports something else, so late effects need no wait
        return observer.begin(navigates=bool(action.navigates), idle=idle, by=by, client_id=self._client_id)

    def add(self, *lines: str, silence: str = "") -> None:
        """Add lines to what was observed of the running act; `silence` says why no more may be observed."""
        if (observer := self._current.observer) is not None:
            observer.add_lines(lines, silence)

    def expect_download(self) -> None:
        """Note that a download follows from the running act."""
        if (observer := self._current.observer) is not None:
            observer.expect_download()

    def cause_since(self, moment: float) -> str:
        """Name the earlier act that had an effect since `moment` (monotonic clock); "" for none."""
        observer = self._current.observer
        if observer is None or (cause := observer.late.earlier.cause_since(moment)) is None:
            return ""
        return f"{'your' if cause.client_id == self._client_id else 'the'} {cause.by}"

    def pending(self, *, whole: bool = False) -> list[str]:
        """Return the URLs of the page's pending requests, without those that it repeats. With `whole`, a request is
        pending until its whole response is there."""
        observer, traffic = self._current.observer, self._traffic
        waits = [
            sent
            for sent in traffic.pending(whole=whole)
            if observer is None or not observer.polling.includes(sent.request)
        ]
        return [sent.url(self._client_id) for sent in waits]

    def outlasted_by_navigation(self, error: PlaywrightError) -> bool:
        """Say whether an act that timed out was done, and only the navigation that it began still runs."""
        observer = self._current.observer
        return (
            observer is not None
            and errors.is_timeout(error)
            and errors.began(error)
            and observer.outlasted_by_navigation()
        )

    def note_idle(self) -> None:
        """Note that the page's scripts scheduled nothing for after the running act."""
        if (observer := self._current.observer) is not None:
            observer.note_idle()

    async def wait_for_motion(self) -> bool:
        """Wait for animations that end soon. Returns whether there were any."""
        return (observer := self._current.observer) is not None and await observer.late.motion()

    async def wait_for_effects(self, seconds: float) -> bool:
        """Wait for callbacks that the running act's scripts scheduled for soon, and for responses to its requests: both
        may change the page. Returns whether any came."""
        return (observer := self._current.observer) is not None and await observer.wait_for_effects(seconds)

"""What the act that runs on a page is seen to do, as its call may ask and tell."""

from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.network.traffic import Traffic
from browser_service.host.pages.current_tab import CurrentTab
from browser_service.host.tabs.observation import Observation
from shared.actions.base import Action
from shared.cuts import cut

_NAMED: Final = 60


class Effects:
    """The effects of one client's acts on a page; none are seen while it has no tab."""

    def __init__(self, current: CurrentTab, traffic: Traffic, client_id: str) -> None:
        self._current, self._traffic, self._client_id = current, traffic, client_id

    @property
    def navigating_to(self) -> str:
        """Return the URL that the page navigates to, whose server has not answered yet."""
        return observer.navigating_to if (observer := self._current.observer) else ""

    @property
    def moves(self) -> int:
        """Return how often the tab has navigated."""
        return observer.moves if (observer := self._current.observer) else 0

    @property
    def had_effect(self) -> bool:
        """True where the running act was seen to do anything besides what it may have changed on the page."""
        return (observer := self._current.observer) is not None and observer.had_effect

    def observe(self, action: Action, shown: str) -> Observation | None:
        """Begin the record of an act, which is named by its element: as the client was `shown` that, if it was."""
        if (observer := self._current.observer) is None:
            return None
        selector = action.aim.selector or ""
        by = f"{action.name()} on {cut(shown or selector, _NAMED)}" if selector else action.name()
        idle = action.text_key != "observed"  # it tells something else, for which nobody waits
        return observer.begin(navigates=bool(action.navigates), idle=idle, by=by, client_id=self._client_id)

    def add(self, *lines: str, silence: str = "") -> None:
        """Note what else was seen of the running act; `silence` says why nothing else may be."""
        if (observer := self._current.observer) is not None:
            observer.add_lines(lines, silence)

    def cause_since(self, moment: float) -> str:
        """Name the earlier act of which something came since a moment of the monotonic clock; "" for none."""
        observer = self._current.observer
        if observer is None or (cause := observer.late.earlier.cause_since(moment)) is None:
            return ""
        return f"{'your' if cause.client_id == self._client_id else 'the'} {cause.by}"

    def pending(self, *, whole: bool = False) -> list[str]:
        """Return the URLs of requests that the page waits for, without those that it sends again and again; `whole`:
        also for the rest of their answers."""
        observer, traffic = self._current.observer, self._traffic
        waits = [
            sent
            for sent in traffic.pending(whole=whole)
            if observer is None or not observer.polling.includes(sent.request)
        ]
        return [sent.url(self._client_id) for sent in waits]

    def outlasted_by_navigation(self, error: PlaywrightError) -> bool:
        """Say whether an act that did not end in time was done: only the navigation that it began goes on."""
        observer = self._current.observer
        return (
            observer is not None
            and errors.is_timeout(error)
            and errors.began(error)
            and observer.outlasted_by_navigation()
        )

    def note_idle(self) -> None:
        """Note that scripts of the page asked for nothing that comes later than the running act's end."""
        if (observer := self._current.observer) is not None:
            observer.note_idle()

    async def wait_for_motion(self) -> bool:
        """Wait for animations that end soon. Returns whether there were any."""
        return (observer := self._current.observer) is not None and await observer.late.motion()

    async def wait_for_effects(self, seconds: float) -> bool:
        """Wait for what the running act's scripts asked to be called for soon, and for responses to its requests, which
        may change what it left. Returns whether any came."""
        return (observer := self._current.observer) is not None and await observer.wait_for_effects(seconds)

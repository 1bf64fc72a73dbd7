"""A person who works at the window in which an agent acts."""

from operator import attrgetter
from typing import Final

from browser_service.host.stages.act import Act, Stage
from browser_service.host.tabs.presses import STILL_S, ActPresses
from shared.errors import HumanInControl
from shared.next_calls import next_call

_WAITS_S: Final = 15.0
"""How long an act waits for a person to be still."""


class PersonAtWindow(Stage):
    """The respect for a person in an attached browser: an act waits until they have been still for a moment, and tells
    of what they did while it ran."""

    needs = attrgetter("page.session.attached")

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._presses = self.page.current.tab.presses if self.page.current.tab is not None else None
        self._during: ActPresses | None = None

    async def before(self) -> None:
        if self._presses is None:
            return
        try:
            async with self.run.cancel.within(_WAITS_S):
                await self._presses.until_still()
        except TimeoutError:
            self.run.check_not_cancelled()
            name = self.action.name()
            raise HumanInControl(
                f"A person is typing or clicking in {self.page.page_id}. {name} waited {_WAITS_S:.0f} s for them to be "
                "still, and did not happen.",
                hint=f"Repeat it later, or work elsewhere meanwhile: {next_call('open_page', url='...')}.",
            ) from None
        self._during = self._presses.begin_act()

    async def end(self) -> None:
        """Tell of it however the act ended: it may have failed for that reason."""
        if self._presses is None or self._during is None:
            return
        if done := await self._presses.end_act(self._during):
            page_id, name = self.page.page_id, self.action.name()
            self.page.tell(
                self.run.call.client_id,
                f"A person {' and '.join(done)} in {page_id} while {name} ran: look at it before you go on. Your next "
                f"act there waits until they have been still for {STILL_S:.0f} s.",
            )

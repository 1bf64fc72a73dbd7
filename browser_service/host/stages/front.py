"""A page that shares its window with others."""

from browser_service.host.stages.act import Stage
from shared.actions.traits import Effect


class Front(Stage):
    """The step to the front of a shared window before an act: a page behind another gets no animation frames."""

    async def check(self) -> None:
        acts = self.action.effect is Effect.ACTS and self.action.needs_open_page
        if acts and self.page.record.shares_window:
            await self.page.playwright.bring_to_front()

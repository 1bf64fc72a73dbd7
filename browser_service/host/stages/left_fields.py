"""The fields that earlier acts of a client filled."""

import asyncio

from browser_service.host.stages.act import Act, Stage
from browser_service.host.tabs.observer import Observer


class LeftFields(Stage):
    """The report of values that earlier acts of the client left in fields and the page has since taken back."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._looking: asyncio.Task[None] | None = None

    async def before(self) -> None:
        """Look at the fields. If the act's own message is sent behind this question, only begin: its answer comes
        first."""
        page = self.page
        if page.observer is None or page.record.dialog or page.tab.field_watch.is_empty:
            return
        follows = self.action.input and page.tab.field_watch.by_selectors
        self._looking = asyncio.create_task(self._report(page.observer))
        await (asyncio.sleep(0) if follows else self._looking)

    async def after(self) -> None:
        """Look at the last field once more if the act may only have taken the focus from it."""
        page, observation = self.page, self.act.observation
        if page.observer is None or observation is None or observation.had_effect or page.record.dialog:
            return
        selector, client_id = self.action.aim.selector, self.run.call.client_id
        for report in await page.tab.field_watch.check_last(client_id, page.observer.moves, selector):
            page.tell(client_id, report)

    async def end(self) -> None:
        if self._looking is not None:
            await self._looking

    async def _report(self, observer: Observer) -> None:
        client_id = self.run.call.client_id
        for report in await self.page.tab.field_watch.check(client_id, observer.moves, acts=self.act.observed):
            self.page.tell(client_id, report)

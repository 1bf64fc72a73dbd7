"""The owner's rules about acts."""

from browser_service.host.stages import guard
from browser_service.host.stages.act import Stage
from browser_service.host.stages.act_check import check_act


class Leave(Stage):
    """Lets the page's requests pass the owner's rules while a person acts, or an act that one has confirmed is done."""

    async def before(self) -> None:
        call = self.run.call
        self.page.record.has_leave = call.by_person or bool({*call.confirmed} - {guard.KEY})

    async def end(self) -> None:
        self.page.record.has_leave, self.page.record.loading = False, None


class OwnersRules(Stage):
    """Keeps an act from being done that a rule refuses, or leaves to a person."""

    async def check(self) -> None:
        if self.page.act_rules:
            await check_act(self.page, self.action)

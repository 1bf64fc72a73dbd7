"""The owner's rules about acts."""

from browser_service.host.stages import guard
from browser_service.host.stages.act import Stage
from browser_service.host.stages.act_check import check_act


class Leave(Stage):
    """The leave that the owner's rules give the page's requests while a person acts, or if a person confirmed the
    act."""

    async def before(self) -> None:
        call = self.run.call
        self.page.record.has_leave = call.by_person or bool({*call.confirmed} - {guard.KEY})

    async def end(self) -> None:
        self.page.record.has_leave, self.page.record.loading = False, None


class OwnersRules(Stage):
    """The check that no rule of the owner's refuses an act or leaves it to a person."""

    async def check(self) -> None:
        if self.page.act_rules:
            await check_act(self.page, self.action)

"""How the elements that a call names are found again, for whoever repeats it later."""

from operator import attrgetter

from browser_service.host.stages.act import Stage


class Targets(Stage):
    """The note of what the client was shown of each element. A handler whose script meets the element adds to it."""

    needs = attrgetter("action.aim.selectors")

    async def check(self) -> None:
        for selector in self.action.aim.selectors:
            self.page.note_target(selector, self.action.aim.frame)

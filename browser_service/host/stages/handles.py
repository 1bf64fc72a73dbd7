"""The element handles that one act takes from Playwright."""

from contextlib import ExitStack

from browser_service.host.elements.handles import let_go
from browser_service.host.stages.act import Act, Stage


class Handles(Stage):
    """The handles that an act took, released once it is done: otherwise Playwright keeps each, and its element, as long
    as the page."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._taken = ExitStack()

    async def before(self) -> None:
        self._taken.enter_context(let_go())

    async def after(self) -> None:
        self._taken.close()

    async def end(self) -> None:
        self._taken.close()

"""Pictures of acts: for viewers, and for the record."""

from browser_service.host.pages.screencast import ShownCall
from browser_service.host.pages.thumbnails import Pictured
from browser_service.host.stages.act import Act, Stage


class Pictures(Stage):
    """The act that viewers see, and the picture of what a whole call did to the page."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._shown: ShownCall | None = None
        self._pictured: Pictured | None = None

    async def before(self) -> None:
        if self.action.needs_open_page and not self.run.is_part:
            self._shown = self.page.screencast.show(self.run)
            self._pictured = self.page.thumbnails.begin(self._shown)

    async def end(self) -> None:
        if self._shown is None:
            return
        self.page.screencast.finish(self._shown, failed=not self.act.done)
        if self._pictured is not None:
            self.page.thumbnails.finish(self._pictured)

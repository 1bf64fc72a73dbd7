"""The page's title after an act."""

from browser_service.host.stages.act import Stage


class Title(Stage):
    """The update of the title: at once if the document changed and nobody has looked at it since, else after the
    reply."""

    async def end(self) -> None:
        page, observation = self.page, self.act.observation
        if not self.act.changed:
            return
        if observation is not None and observation.visited_urls and not page.looks.looked_since(self.act.began_at):
            await page.titles.read()
        elif page.current.live:
            page.titles.read_soon()

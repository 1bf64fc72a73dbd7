"""The fields that hold secrets which the site was given."""

from browser_service.host.stages.act import Stage


class SecretFields(Stage):
    """The guard of such fields, before an act meets them and before its reply tells what it made of them."""

    async def before(self) -> None:
        await self._guard()

    async def after(self) -> None:
        if self.act.observed:
            await self._guard()

    async def _guard(self) -> None:
        page = self.page
        if page.current.live and not page.record.dialog:
            await page.session.given_secrets.guard(page.playwright)

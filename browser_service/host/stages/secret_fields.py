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
        page, given = self.page, self.page.session.given_secrets
        if given and page.current.live and not page.record.dialog:
            await given.guard(page.playwright)

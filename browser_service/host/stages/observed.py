"""The observed effects of an act."""

from browser_service.host.stages.act import Stage
from browser_service.host.tabs.observation import Observation
from shared.errors import UnknownOutcome, WithoutEffect
from shared.next_calls import next_call


class Observed(Stage):
    """The record of an act's effects, once the page shows them. The act counts in the page's revision."""

    async def before(self) -> None:
        page, record = self.page, self.page.record
        self.act.observation = page.effects.observe(self.action, page.looks.name_of(self.action.aim.selector or ""))
        page.looks.state_after_act = None
        record.last_act = (self.run.call.client_id, record.navigations)
        record.requests_before_act = page.settings.network.traffic.count
        if page.current.tab is not None:
            page.current.tab.acted_on = True

    async def after(self) -> None:
        observation, current = self.act.observation, self.page.current
        if observation is None:
            return
        if self.action.asked_reply.awaits:
            await self._settle(observation)
        if not current.live and not current.gone:
            raise self._unfinished()

    async def failed(self, error: Exception) -> Exception:
        """Add the observed effects to the error of an act that was done, but without the effect it was meant for."""
        observation = self.act.observation
        if not isinstance(error, WithoutEffect) or observation is None:
            return error
        await self._settle(observation)
        effects = "; ".join(observation.lines())
        message = f"{error.message} Observed: {effects}." if effects else error.message
        return WithoutEffect(message, hint=error.advice, details=error.details)

    async def end(self) -> None:
        page, observation = self.page, self.act.observation
        if observation is not None and page.observer is not None:
            page.observer.end(observation)
            self.run.requests = observation.requests()
            self.run.popups += observation.popups
            self.run.dialogs += observation.dialogs
            if self.run.cancel.requested:
                await page.current.interrupt()
        if self.act.changed:
            page.record.revision += 1

    async def _settle(self, observation: Observation) -> None:
        try:
            async with self.run.cancel.within():
                if self.page.observer is not None:
                    await self.page.observer.settle(observation)
        except TimeoutError:
            raise self.run.cancelled_error() from None
        if self.page.current.gone:
            observation.notes.append(f"the page closed. {self.page.record.opener_hint}".rstrip(" ."))

    def _unfinished(self) -> UnknownOutcome:
        page, cause = self.page.record, self.page.current.cause() or "the page ended"
        return UnknownOutcome(
            f"{self.action.name()} was done, and then {cause}: its effect was not seen.",
            hint=f"Look first ({next_call('snapshot', page_id=page.page_id)} reopens the page at {page.url}), then "
            "decide whether to repeat it.",
            details={"url": page.url, "context": {"lastUrl": page.url}},
        )

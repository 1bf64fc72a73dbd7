"""Runs a batch whose steps span several pages: each step is its own call, under all rules."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Batching, Scope, Unaddressed
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import BrowseError, Cancelled, Relayed, TimedOut, UnknownOutcome
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browse_together.contract.wire import INLINE_BYTES, MAX_MESSAGE_BYTES
from browser_service.rules.partial import with_account
from browser_service.sessions.directory import Directory
from browser_service.spine.addressing import Addressing
from browser_service.spine.call import FrontCall, Go
from browser_service.spine.register import Record, Reply

_STOPS_WITHIN_S: Final = 5.0


Begin = Callable[[FrontCall], Record | Reply]
"""Begins a call, or refuses it."""
CancelCall = Callable[[str, str], Awaitable[str]]


@dataclass(eq=False)
class SeparateSteps:
    """The steps of a batch that spans several pages, each as a call of its own."""

    addressing: Addressing
    directory: Directory
    begin: Begin
    cancel: CancelCall

    async def apart(self, call: FrontCall, go: Go) -> Outcome:
        """Run the steps of a batch one after another, if they are calls of their own."""
        if call.action.batching is not Batching.SEPARATE_CALLS:
            return await go(call)
        self.addressing.check_touched(call.action, call.caller)
        return await _BatchRun(call, self).run()


class _BatchRun:
    """One such batch of one client."""

    def __init__(self, call: FrontCall, steps: SeparateSteps) -> None:
        self._call, self._steps = call, steps
        self._record = call.record
        self._batch = call.action
        self._inline_text = call.inline_text or MAX_MESSAGE_BYTES // 2
        self._page: PageState | None = None
        """The previous step's page, used by a step that names no page if the batch names none either."""
        self._done: list[Json] = []
        self._inlined = 0

    async def run(self) -> Outcome:
        """Run the steps until one fails."""
        batch = self._batch
        ends_at = asyncio.get_running_loop().time() + batch.allowed_ms() / 1000
        for at, part in enumerate(batch.parts()):
            try:
                call_id = f"{self._record.call_id}.{at + 1}"
                is_last = at == len(batch.parts()) - 1
                step = self._begin(batch, part, call_id, continues=not is_last)
                reply = await self._wait(step, batch, ends_at)
                self._done.append(self._step_result(part, reply))
            except BrowseError as error:
                error.details.pop("tool", None)  # the caller called the batch
                failed = with_account(batch, self._done, at, error)
                return Outcome(call_id=self._record.call_id, error=failed.body(), page=self._page)
        return Outcome(call_id=self._record.call_id, result={"steps": [*self._done]}, page=self._page)

    def _begin(self, batch: Action, part: Action, call_id: str, *, continues: bool) -> Record | Reply:
        if self._record.cancel.requested:
            raise Cancelled("The call was cancelled before this step; it did not happen.")
        share = sum(each.text_key != "observed" for each in batch.parts()) or 1
        step = FrontCall(
            self._call.caller,
            self._with_address(batch, part),
            call_id=call_id,
            inline_text=max(1, self._inline_text // share),
            continues=continues,
            request_id=call_id,
            counted=False,
        )
        return self._steps.begin(step)

    def _with_address(self, batch: Action, part: Action) -> Json:
        """Return the step's body, with page, session and agent of the batch where it names none."""
        body = part.wire_body()
        if part.scope is Scope.SESSION and batch.addressed.session:
            return {"sessionId": batch.addressed.session, **body}
        if part.scope is not Scope.PAGE:
            return body
        address: Json = {"as": batch.addressed.agent} if batch.addressed.agent else {}
        if not {"pageId", "sessionId"} & body.keys() and part.unaddressed is not Unaddressed.OWN_PAGE:
            page_id = batch.addressed.page or (self._page.page_id if self._page else None)
            if batch.addressed.session:
                address["sessionId"] = batch.addressed.session
            if page_id and part.unaddressed is not Unaddressed.ANOTHER_PAGE:  # such a step works on another page
                address["pageId"] = page_id
        return {**address, **body}

    async def _wait(self, step: Record | Reply, batch: Action, ends_at: float) -> Reply:
        if isinstance(step, Reply):
            return step
        try:
            async with self._record.cancel.within(max(0.0, ends_at - asyncio.get_running_loop().time())):
                await asyncio.wait({step.task})
        except TimeoutError:
            await self._stop(step, batch)
        return step.reply

    async def _stop(self, step: Record, batch: Action) -> None:
        """Cancel a step that is out of time. Return if it succeeded nevertheless, else raise its error."""
        await self._steps.cancel(step.client_id, step.call_id)
        await asyncio.wait({step.task}, timeout=_STOPS_WITHIN_S)
        if not step.task.done():
            raise UnknownOutcome(f"{step.action} was told to stop, and has not ended yet.")
        try:
            step.reply.result()
        except Relayed as error:
            if self._record.cancel.requested:
                raise
            late = f"batch did not end within {batch.allowed_ms()} ms."
            if error.relayed.code == Cancelled.code:
                raise TimedOut(late, hint="Give it longer with `timeout` (ms), or fewer steps.") from None
            body = error.relayed.model_copy(update={"message": f"{late} {error.relayed.message}"})
            raise Relayed(body) from None

    def _step_result(self, part: Action, reply: Reply) -> Json:
        """Return a step's result for the reply of the batch. Raises the step's error."""
        page = reply.body.get("page")
        place: Json = {}
        if isinstance(page, dict):
            page_id, state = str(page["pageId"]), self._steps.directory.get(str(page["pageId"]))
            if state is not None:
                self._page = self._steps.directory.seen_by(state, self._call.client_id)
            elif self._page is not None and self._page.page_id == page_id:
                self._page = None
            place = {"pageId": page_id, **({"url": page["url"]} if part.untrusted else {})}
        result = {**place, **reply.result()}
        if isinstance(artifact := result.get("artifact"), dict):
            result["artifact"] = self._bounded(artifact)
        return {**result, "action": part.name()}

    def _bounded(self, artifact: Json) -> Json:
        """Return the artifact, without its bytes if the reply has no room for them."""
        size = sum(len(str(artifact.get(key, ""))) for key in ("data", "preview"))
        if self._inlined + size > INLINE_BYTES * 4 // 3:
            return {key: value for key, value in artifact.items() if key not in {"data", "preview"}}
        self._inlined += size
        return artifact

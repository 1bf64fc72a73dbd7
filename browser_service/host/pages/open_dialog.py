"""A dialog that a page shows: its descriptions for clients and people, how to answer it, and the replies about it."""

import asyncio
import json
import time
from dataclasses import dataclass, field

from playwright.async_api import Dialog
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.background import AtMost
from browse_together.contract.calls import Outcome
from browse_together.contract.cuts import cut
from browse_together.contract.errors import DialogOpen, NoDialog, TimedOut
from browse_together.contract.frames import ShownDialog
from browse_together.contract.local_times import local_time
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.calls import CallRun
from browser_service.host.events import sendable, well_formed
from browser_service.host.record.record import PageRecord
from browser_service.host.tabs.tab import Tab

CLOSED = "closed in the browser"
_ANSWER_S = 5
_FACT_CHARACTERS = 5_000
_SHOWN_CHARACTERS = 1_000


@dataclass(eq=False)
class OpenDialog:
    """An open dialog, with the calls that wait for its answer."""

    dialog: Dialog
    page: PageRecord
    tab: Tab
    until: float
    """When it is dismissed, on the monotonic clock."""
    persons: bool = False
    """True if no agent caused it, in a person's own tab. Nobody answers it for them."""
    calls: list[CallRun] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    answering: str = ""

    @property
    def named(self) -> str:
        """Describe the dialog in the page's own words."""
        return self.shown.named

    @property
    def shown(self) -> ShownDialog:
        """Describe the dialog for people, cut to what a glance takes in."""
        message = well_formed(cut(self.dialog.message, _SHOWN_CHARACTERS))
        default = well_formed(cut(self.dialog.default_value, _SHOWN_CHARACTERS))
        return ShownDialog(kind=self.dialog.type, message=message, default=default)

    def named_to(self, client_id: str) -> str:
        """Describe the dialog for a client; by its type alone if its page is private to another client."""
        return self.dialog.type if self.page.private_from(client_id) else self.named

    def facts_for(self, client_id: str) -> Json:
        """Describe the dialog for a client's programs; by its type alone if its page is private to another client."""
        return {"type": self.dialog.type} if self.page.private_from(client_id) else self.facts

    @property
    def facts(self) -> Json:
        """Describe the dialog for programs."""
        found: Json = {
            "type": self.dialog.type,
            "message": cut(self.dialog.message, _FACT_CHARACTERS),
            "pageId": self.page.page_id,
        }
        return sendable(found | ({"defaultValue": self.dialog.default_value} if self.dialog.type == "prompt" else {}))

    @property
    def live(self) -> bool:
        """True while the browser that showed the dialog runs, and has the tab."""
        return self.tab.usable

    async def end(self, *, accept: bool, text: str | None) -> None:
        """Answer the dialog. Raises NoDialog if it is already closed, TimedOut if the browser does not close it."""
        self.answering = past_answer(accept=accept)
        try:
            async with asyncio.timeout(_ANSWER_S):
                if accept:  # without a text Playwright would answer a prompt with an empty one
                    await self.dialog.accept(self.dialog.default_value if text is None else text)
                else:
                    await self.dialog.dismiss()
        except PlaywrightError as error:
            raise NoDialog(f"{self.named} of {self.page.page_id} was {CLOSED}.") from error
        except TimeoutError as error:
            self.answering = ""
            raise TimedOut(f"The browser did not close {self.named} of {self.page.page_id}.") from error

    def may_be_answered_by(self, client_id: str) -> bool:
        return not self.persons and (self.page.lease is None or self.page.lease.client_id == client_id)

    def next_call(self, client_id: str) -> str:
        """Say what a client can do about the dialog."""
        if self.persons:
            return "It is the person's own, and they answer it in their browser. Repeat the call later."
        page_id, at = self.page.page_id, local_time(self.until - time.monotonic())
        if self.page.private_from(client_id):
            return f"Only who holds that page may answer it; unanswered it is dismissed at {at}."
        if self.page.lease is not None and not self.may_be_answered_by(client_id):
            holder = self.page.lease.label or "another client"
            return f'Only "{holder}", who uses {page_id}, may answer it; unanswered it is dismissed at {at}.'
        text = {"prompt_text": "..."} if self.dialog.type == "prompt" else {}
        means = " (true leaves the page, false stays)" if self.dialog.type == "beforeunload" else " (or false)"
        answer = next_call("handle_dialog", page_id=page_id, accept=True, **text)
        return f"Answer it: {answer}{means}; unanswered it is dismissed at {at}."


def refusal(dialog: OpenDialog, page: PageRecord, client_id: str) -> DialogOpen:
    """Make the error for a call on a page that a dialog blocks."""
    own = dialog.page is page
    where = "" if own else f" on {dialog.page.named_to(client_id)}, a window of the same site"
    return DialogOpen(
        f'"{page.page_id}" waits for the answer to a dialog{where}: {dialog.named_to(client_id)}. Nothing else can be '
        "done there.",
        hint=dialog.next_call(client_id),
        details={"url": page.url, "context": {"dialog": dialog.facts_for(client_id)}},
    )


def past_answer(*, accept: bool) -> str:
    return "accepted" if accept else "dismissed"


def related(page: PageRecord, other: PageRecord) -> bool:
    """Say if a dialog of one page blocks the other, or the pages are the same."""
    return page.family == other.family and page.session_id == other.session_id


async def dismiss(dialog: Dialog) -> None:
    """Dismiss a dialog that belongs to no page."""
    async with AtMost(_ANSWER_S, PlaywrightError):  # it went with its page
        await dialog.dismiss()


# --- replies ---------------------------------------------------------------------------------------------------------


def result_after(acts: list[CallRun], fields: Json, answer: str) -> Json:
    """Return the result of the first call that waited for the dialog, with the answer added."""
    first, *others = acts
    more = "".join(f"; {other.action.name()}: {get_call_of(other)}" for other in others)
    fields |= {"callId": first.client_call_id}
    if not first.ended:
        return {**fields, "observed": f"{answer}; {first.action.name()} still runs: {get_call_of(first)}{more}"}
    outcome = first.outcome.result()
    if outcome.error is not None:
        failure = outcome.error.model_dump(mode="json", by_alias=True, include={"code", "message", "hint", "details"})
        what = f"{outcome.error.code}: {outcome.error.message} {outcome.error.hint or ''}".strip()
        return {**fields, "error": failure, "observed": f"{answer}; {first.action.name()} failed: {what}{more}"}
    result = outcome.result or {}
    return {**result, **fields, **_with_outcome(answer, first.action, result, more)}


def _with_outcome(answer: str, action: Action, result: Json, more: str) -> Json:
    """Return the answer followed by what the call observed. A value that it read goes to `gave`, as it is the page's
    text."""
    if action.text_key == "observed":
        what = str(result.get("observed") or "done")
        before = "" if answer in what else f"{answer}; "
        return {"observed": f"{before}{action.name()}: {what}{more}"}
    value = result.get(action.text_key, result)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"observed": f"{answer}; {action.name()} gave a value{more}", "gave": text}


def suspended_outcome(run: CallRun, page: PageRecord, dialog: OpenDialog) -> Outcome:
    """Make the outcome of a call that waits for the answer to a dialog; a call that only reads is refused."""
    outcome, client_id = Outcome(call_id=run.call.call_id, page=page.state()), run.call.client_id
    if run.action.effect is Effect.READS:
        outcome.error = refusal(dialog, page, client_id).body()
        return outcome
    name, shown = run.action.name(), f"{dialog.page.named_to(client_id)} shows {dialog.named_to(client_id)}"
    observed = f"{shown}, and {name} waits for its answer. {dialog.next_call(client_id)}"
    outcome.result = {
        "dialog": dialog.facts_for(client_id),
        "suspended": True,
        "callId": run.client_call_id,
        "observed": observed,
    }
    outcome.suspended = True
    run.tell_repeatably(outcome)
    return outcome


def with_next_dialog(reply: Json, dialog: OpenDialog | None, client_id: str) -> Json:
    """Add the dialog that the page shows after an answer, if there is one."""
    if dialog is None:
        return reply
    shown = f"{dialog.page.named_to(client_id)} shows {dialog.named_to(client_id)}"
    observed = f"{reply['observed']}. Now {shown}. {dialog.next_call(client_id)}"
    return {**reply, "dialog": dialog.facts_for(client_id), "observed": observed}


def no_dialog_error(page: PageRecord, other: OpenDialog | None, client_id: str) -> NoDialog:
    """Make the error for an answer to a page that shows no dialog. `other` is another page's dialog that blocks it, if
    any."""
    hint = (
        f"{other.page.named_to(client_id)} shows one. {other.next_call(client_id)}" if other else "Go on with the page."
    )
    return NoDialog(f"{page.page_id} shows no dialog: none was opened, or it is answered.", hint=hint)


def get_call_of(run: CallRun) -> str:
    """Name the get_call call that fetches the outcome of `run`."""
    return next_call("get_call", call_id=run.client_call_id)

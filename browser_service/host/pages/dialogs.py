"""The dialogs of pages (alert, confirm, prompt, beforeunload). They stay open until answered, but no call waits for
them."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from playwright.async_api import Dialog, Page

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.dialogs import HandleDialog
from browse_together.contract.actions.traits import Effect
from browse_together.contract.background import Background
from browse_together.contract.calls import Call
from browse_together.contract.errors import NoDialog, TimedOut, ValidationFailed, field_details
from browse_together.contract.model import Json
from browser_service.host.calls import CallRun
from browser_service.host.pages.open_dialog import (
    CLOSED,
    OpenDialog,
    dismiss,
    get_call_of,
    no_dialog_error,
    past_answer,
    refusal,
    related,
    result_after,
    suspended_outcome,
    with_next_dialog,
)
from browser_service.host.record.record import DialogPolicy, PageRecord
from browser_service.host.tabs.tab import Tab
from browser_service.rules.turns import PageQueue, Turn
from browser_service.waits import wait_until

_GONE = "gone with its page"


class AskingPage(Protocol):
    """The part of a page that its dialogs need."""

    @property
    def record(self) -> PageRecord: ...

    @property
    def queue(self) -> PageQueue: ...


class Dialogs:
    """The open dialogs of a host. Opening, answering and forgetting them needs no turn in a page's queue."""

    def __init__(
        self,
        pages: Mapping[str, AskingPage],
        running: Mapping[str, CallRun],
        within_ms: int,
    ) -> None:
        self._pages = pages
        self._running = running
        self._within_s = within_ms / 1000
        self._open: list[OpenDialog] = []
        self._early: dict[Page, Dialog] = {}
        self._changed = asyncio.Event()
        self._background = Background()

    @property
    def open(self) -> int:
        """Return how many dialogs wait for an answer."""
        return len(self._open)

    # --- events of the browser -----------------------------------------------------------------------------------

    def note_opened(self, page: Page | None, dialog: Dialog, *, persons: bool = False) -> None:
        """Note a dialog; one of the `persons` is theirs to answer. A popup may show one before it has a pageId; if it
        gets none, dismiss the dialog."""
        owner = next((each for each in self._pages.values() if each.record.shows(page)), None)
        if owner is not None and owner.record.tab is not None:
            self._open_dialog(owner.record, owner.record.tab, dialog, persons=persons)
        elif page is None:
            self._background.spawn(dismiss(dialog))
        else:
            self._early[page] = dialog
            asyncio.get_running_loop().call_later(self._within_s, self._dismiss_early, page)

    def note_adopted(self, page: PageRecord, tab: Tab) -> None:
        """Note that a tab belongs to a page from now on; its dialog may have opened before."""
        dialog = self._early.pop(tab.page, None)
        if dialog is not None and page.guarded:
            self._open_dialog(page, tab, dialog)

    def note_closed(self, dialog: Dialog) -> None:
        """Note that a dialog is closed: by an answer of ours, by a person, or by a navigation."""
        for open_dialog in [open_dialog for open_dialog in self._open if open_dialog.dialog is dialog]:
            self._remove(open_dialog, open_dialog.answering or CLOSED)
            if not open_dialog.answering:
                self._report(open_dialog, f"was {CLOSED}")

    # --- calls ---------------------------------------------------------------------------------------------------

    def open_beside(self, page: PageRecord) -> OpenDialog | None:
        """Return the dialog that blocks a page: its own, or one of a window whose scripts can reach the page; None if
        none does."""
        if not self._open:
            return None
        family = (o for o in self._open if related(o.page, page))
        return next((dialog for dialog in family if dialog.live), None)

    def check(self, page: PageRecord, call: Call, action: Action) -> None:
        """Raise DialogOpen if an open dialog would block the call."""
        if not self._open or not action.asks_page:
            return
        dialog = self.open_beside(page)
        if dialog is not None:
            raise refusal(dialog, page, call.client_id)

    async def answer(self, page: PageRecord, call: Call, action: HandleDialog) -> Json:
        """Answer the page's dialog. Returns the result of the act that waited for it, if any, and the next dialog, if
        any."""
        dialog = next((o for o in self._open if o.page is page and not o.answering), None)
        if dialog is None or not dialog.live:
            raise no_dialog_error(page, self.open_beside(page), call.client_id)
        if dialog.persons and not call.by_person:
            raise refusal(dialog, page, call.client_id)
        if action.prompt_text is not None and not (action.accept and dialog.dialog.type == "prompt"):
            raise ValidationFailed(
                f"promptText is for a prompt that is accepted; {page.page_id} shows {dialog.named}.",
                hint="Leave it out.",
                details=field_details("promptText"),
            )
        acts = [r for r in dialog.calls if r.call.client_id == call.client_id and r.action.effect is not Effect.READS]
        answered: Json = {"answered": {**dialog.facts, "accepted": action.accept}}
        if not acts:
            reply = answered | await self._answer_observed(dialog, self._running[call.call_id], action)
            if call.by_person:
                self._report(dialog, f'was {past_answer(accept=action.accept)} by a person, "{call.client_label}"')
            return with_next_dialog(reply, self.open_beside(page), call.client_id)
        await self._answer(dialog, accept=action.accept, text=action.prompt_text)
        await self._until(lambda: self.open_beside(page) or all(r.ended for r in acts), acts, action.timeout / 1000)
        self._running[call.call_id].take_effects_of(r for r in acts if r.ended)
        result = result_after(acts, answered, f"{dialog.named} was {past_answer(accept=action.accept)}")
        return with_next_dialog(result, self.open_beside(page), call.client_id)

    def dismiss_for(self, run: CallRun) -> None:
        """Dismiss the dialogs that a cancelled call waits for, if its client may."""
        for dialog in [o for o in self._open if run in o.calls and o.may_be_answered_by(run.call.client_id)]:
            self._background.spawn(self._dismiss(dialog))

    def dismiss_all(self) -> None:
        for dialog in [each for each in self._open if not each.persons]:
            self._background.spawn(self._dismiss(dialog))

    # --- inside --------------------------------------------------------------------------------------------------

    def _open_dialog(self, page: PageRecord, tab: Tab, dialog: Dialog, *, persons: bool = False) -> None:
        open_dialog = OpenDialog(dialog, page, tab, time.monotonic() + self._within_s, persons)
        if not persons and (policy := page.automatic_answer()) is not None:
            tab.observer.expect_dialog()
            self._background.spawn(self._answer_by_policy(open_dialog, policy))
            return
        if not persons:
            expire = lambda: self._background.spawn(self._expire(open_dialog))  # noqa: E731 - one expression
            open_dialog.timer = asyncio.get_running_loop().call_later(self._within_s, expire)
        self._open.append(open_dialog)
        page.dialog = open_dialog.shown
        tab.page.once("close", lambda _: self._remove_lost(open_dialog))
        tab.page.once("crash", lambda _: self._remove_lost(open_dialog))
        self._interrupt_calls(open_dialog)
        page.tell_changed()
        self._changed.set()

    def _interrupt_calls(self, dialog: OpenDialog) -> None:
        """Refuse the calls queued for the pages that a dialog blocks, and suspend those that run there. Notify the
        holder unless one of their replies does."""
        page = dialog.page
        family = [each for each in self._pages.values() if related(each.record, page)]
        waiting = {turn.call.call_id for member in family for turn in self._refuse_queued(dialog, member)}
        runs = self._calls_on({member.record.page_id for member in family})
        concerned = [each for each in runs if each.call.call_id not in waiting]
        informed = {each.call.client_id for each in concerned if self._suspend(each, dialog)}
        informed |= {each.call.client_id for each in self._running.values() if each.action.answers_dialog}
        holder = page.holder_id if page.person is None else ""  # else the person answers it
        if holder and holder not in informed:
            page.tell(holder, f"{page.page_id} shows {dialog.named}. {dialog.next_call(holder)}")

    def _refuse_queued(self, dialog: OpenDialog, asking: AskingPage) -> list[Turn]:
        return asking.queue.line.refuse(lambda turn: refusal(dialog, asking.record, turn.call.client_id))

    def _calls_on(self, ids: set[str]) -> list[CallRun]:
        """Return the calls that run on these pages and that a dialog may block."""
        return [run for run in self._running.values() if run.call.page_id in ids and run.action.asks_page]

    def _suspend(self, run: CallRun, dialog: OpenDialog) -> bool:
        """Reply at once, and let the call go on waiting: cancelling would lose its value. Returns False if it had
        replied already."""
        run.suspend()
        dialog.calls.append(run)
        if run.reply.done():
            return False
        page = self._pages[run.call.page_id or ""].record
        run.reply.set_result(suspended_outcome(run, page, dialog))
        return True

    async def _answer_observed(self, dialog: OpenDialog, run: CallRun, action: HandleDialog) -> Json:
        """Answer a dialog that no call waits for, and observe what the page does."""
        observer = dialog.tab.observer
        observation = observer.begin()
        try:
            await self._answer(dialog, accept=action.accept, text=action.prompt_text)
            await dialog.tab.responds()
            await observer.settle(observation)
        finally:
            observer.end(observation)
        run.requests = observation.requests()
        return {"observed": "; ".join(observation.lines()), **observation.facts()}

    async def _answer(self, dialog: OpenDialog, *, accept: bool, text: str | None = None) -> None:
        """Answer a dialog. Raises NoDialog if it is already closed, TimedOut if the browser does not close it."""
        try:
            await dialog.end(accept=accept, text=text)
        except NoDialog:
            self._remove(dialog, CLOSED)
            raise
        self._remove(dialog, dialog.answering)

    async def _answer_by_policy(self, dialog: OpenDialog, policy: DialogPolicy) -> None:
        """Answer a dialog at once, so that it holds up no call. The reply of the act that opened it reports this, or
        else a notice."""
        how = f"{past_answer(accept=bool(policy.accept))} by the page's dialog policy"
        try:
            text = policy.prompt_text if dialog.dialog.type == "prompt" else None
            await self._answer(dialog, accept=bool(policy.accept), text=text)
        except NoDialog:
            how = CLOSED
        except TimedOut:
            how = "not answered: the browser did not close it"
        dialog.page.revision += 1
        if dialog.dialog.type == "beforeunload" and not policy.accept:
            dialog.tab.note_leave_answer(left=False)
        if not dialog.tab.observer.add_dialog(f"{dialog.named} was {how}"):
            self._report(dialog, f"was {how}")

    async def _dismiss(self, dialog: OpenDialog) -> None:
        try:
            await self._answer(dialog, accept=False)
        except (NoDialog, TimedOut):
            self._remove(dialog, _GONE)

    async def _expire(self, dialog: OpenDialog) -> None:
        if dialog in self._open and not dialog.answering:
            await self._dismiss(dialog)
            self._report(dialog, f"was dismissed: nobody answered it within {self._within_s:g} s")

    def _remove(self, dialog: OpenDialog, how: str) -> None:
        """Remove a dialog, and resume the calls that waited for it."""
        if dialog not in self._open:
            return
        self._open.remove(dialog)
        if dialog.timer is not None:
            dialog.timer.cancel()
        page, tab = dialog.page, dialog.tab
        if (known := self._pages.get(page.page_id)) is None or known.record.tab in {tab, None}:
            page.dialog = None
        page.revision += 1
        tab.observer.add_dialog(f"{dialog.named} was {how}")
        if dialog.dialog.type == "beforeunload" and how == past_answer(accept=False):
            tab.note_leave_answer(left=False)
        for run in dialog.calls:
            if not any(run in other.calls for other in self._open):
                run.resume()
        if known is not None and known.record is page:
            page.tell_changed()
        self._changed.set()

    def forget_tab(self, tab: Tab) -> None:
        """Remove the dialogs of a tab that has ended; the browser may not have reported their end."""
        for dialog in [dialog for dialog in self._open if dialog.tab is tab]:
            self._remove_lost(dialog)

    def _remove_lost(self, dialog: OpenDialog) -> None:
        """Remove a dialog that went with its page. If acts waited for it, notify their clients and the page's
        holder."""
        if dialog in self._open and any(run.action.effect is not Effect.READS for run in dialog.calls):
            self._report(dialog, "is gone with its page")
        self._remove(dialog, _GONE)

    async def _until(self, done: Callable[[], object], calls: Iterable[CallRun], seconds: float) -> None:
        for run in calls:
            run.outcome.add_done_callback(lambda _: self._changed.set())
        await wait_until(done, self._changed, seconds)

    def _report(self, dialog: OpenDialog, how: str) -> None:
        """Tell the page's holder, and the clients whose acts waited for it, how a dialog ended."""
        page = dialog.page
        clients = {page.lease.client_id: ""} if page.lease else {}
        for run in dialog.calls:
            if run.action.effect is not Effect.READS:
                clients[run.call.client_id] = f" What came of {run.action.name()}: {get_call_of(run)}."
        for client_id, more in clients.items():
            shown = f"{page.named_to(client_id)}: {dialog.named_to(client_id)}"
            page.tell(client_id, f"{shown} {how}.{more}")

    def _dismiss_early(self, page: Page) -> None:
        dialog = self._early.pop(page, None)
        if dialog is not None:
            self._background.spawn(dismiss(dialog))

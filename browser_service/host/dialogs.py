"""Dialogs: what a page asks (alert, confirm, prompt, beforeunload) waits for an answer, and no call waits with it."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from browser_service.host.call_run import Running
from browser_service.host.events import sendable, well_formed
from browser_service.host.observation import Observation
from browser_service.host.page.entry import DialogPolicy, Emit, PageEntry
from browser_service.rules.turns import Turn
from shared.actions.base import Action, Effect, Lane, WaitingAction
from shared.actions.dialogs import HandleDialog
from shared.actions.navigation import GetCurrentUrl
from shared.actions.pages import ClosePage
from shared.calls import Call, Outcome
from shared.errors import DialogOpen, NoDialog, TimedOut, ValidationFailed
from shared.events import PageChanged
from shared.model import Json

_ANSWERED_WITHIN_S = 5
_SHOWN = 200
_CLOSED = "closed in the browser"
_GONE = "gone with its page"
_KEPT = 5_000


@dataclass(eq=False)
class OpenDialog:
    """A dialog that waits, and the calls that wait for it."""

    dialog: Dialog
    entry: PageEntry
    page: Page | None
    until: datetime
    calls: list[Running] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    answering: str = ""

    @property
    def named(self) -> str:
        """What it is, in the page's own words."""
        message = well_formed(self.dialog.message)
        return f"{self.dialog.type} {message[:_SHOWN]!r}" if message else self.dialog.type

    @property
    def facts(self) -> Json:
        """The same for programs."""
        found: Json = {
            "type": self.dialog.type,
            "message": self.dialog.message[:_KEPT],
            "pageId": self.entry.page_id,
        }
        return sendable(found | ({"defaultValue": self.dialog.default_value} if self.dialog.type == "prompt" else {}))

    @property
    def live(self) -> bool:
        """Whether the browser that showed it runs, and has the page."""
        return self.entry.page is self.page and self.entry.live

    def may_be_answered_by(self, client_id: str) -> bool:
        return self.entry.lease is None or self.entry.lease.client_id == client_id

    def next_call(self, client_id: str) -> str:
        """What to do about it."""
        page_id, at = self.entry.page_id, self.until.strftime("%H:%M:%S")
        if self.entry.lease is not None and not self.may_be_answered_by(client_id):
            holder = self.entry.lease.label or "another client"
            return f'Only "{holder}", who uses {page_id}, may answer it; unanswered it is dismissed at {at}.'
        text = ', "promptText": "..."' if self.dialog.type == "prompt" else ""
        means = " (true leaves the page, false stays)" if self.dialog.type == "beforeunload" else " (or false)"
        call = f'handle_dialog {{"pageId": "{page_id}", "accept": true{text}}}'
        return f"Answer it: {call}{means}; unanswered it is dismissed at {at}."


class Dialogs:
    """The open dialogs of a host. Opening, answering and forgetting them takes no turn."""

    def __init__(
        self, pages: Mapping[str, PageEntry], running: Mapping[str, Running], emit: Emit, within_ms: int
    ) -> None:
        self._pages = pages
        self._running = running
        self._emit = emit
        self._within_s = within_ms / 1000
        self._open: list[OpenDialog] = []
        self._early: dict[Page, Dialog] = {}
        self._changed = asyncio.Event()
        self._background = Background()

    # --- what the browser tells ----------------------------------------------------------------------------------

    def opened(self, page: Page | None, dialog: Dialog) -> None:
        """A popup may ask before it has a name here; one that never gets any is declined like all that wait."""
        entry = next((entry for entry in self._pages.values() if page is not None and entry.page is page), None)
        if entry is not None:
            self._add(entry, dialog)
        elif page is None:
            self._background.spawn(_declined(dialog))
        else:
            self._early[page] = dialog
            asyncio.get_running_loop().call_later(self._within_s, self._give_up, page)

    def adopted(self, entry: PageEntry) -> None:
        """A page has its name from now on."""
        dialog = self._early.pop(entry.page, None) if entry.page is not None else None
        if dialog is not None and entry.guarded:
            self._add(entry, dialog)

    def closed(self, dialog: Dialog) -> None:
        """A dialog is closed: by an answer of ours, by a person, or by a navigation."""
        for asked in [asked for asked in self._open if asked.dialog is dialog]:
            self._over(asked, asked.answering or _CLOSED)
            if not asked.answering:
                self._tell_of(asked, f"was {_CLOSED}")

    # --- what calls meet -----------------------------------------------------------------------------------------

    def open_beside(self, entry: PageEntry) -> OpenDialog | None:
        """The dialog that blocks a page: its own, or one of a window that its scripts share with it."""
        family = (o for o in self._open if o.entry.family == entry.family and o.entry.session is entry.session)
        return next((dialog for dialog in family if dialog.live), None)

    def check(self, entry: PageEntry, call: Call, action: Action) -> None:
        """Raise DialogOpen where a call would wait for what nobody may answer."""
        if not self._open or not (_touches(action) or getattr(action, "run_before_unload", False)):
            return
        dialog = self.open_beside(entry)
        if dialog is not None:
            raise _refusal(dialog, entry, call.client_id)

    async def answer(self, entry: PageEntry, call: Call, action: HandleDialog) -> Json:
        """Answer the page's dialog, and see what came of it: the end of the call that waited, or the next dialog."""
        dialog = next((o for o in self._open if o.entry is entry and not o.answering), None)
        if dialog is None or not dialog.live:
            raise self._none(entry, call.client_id)
        if action.prompt_text is not None and not (action.accept and dialog.dialog.type == "prompt"):
            raise ValidationFailed(
                f"promptText is for a prompt that is accepted; {entry.page_id} shows {dialog.named}.",
                hint="Leave it out.",
                details={"context": {"field": "promptText"}},
            )
        acts = [r for r in dialog.calls if r.call.client_id == call.client_id and r.action.effect is not Effect.READS]
        answered: Json = {"answered": {**dialog.facts, "accepted": action.accept}}
        if not acts:
            told = answered | await self._observed(dialog, self._running[call.call_id], action)
            return self._with_next(told, entry, call.client_id)
        await self._end(dialog, accept=action.accept, text=action.prompt_text)
        await self._until(lambda: self.open_beside(entry) or all(r.ended for r in acts), acts, action.timeout / 1000)
        self._running[call.call_id].requests = [sent for r in acts if r.ended for sent in r.last.result().requests]
        came = _came_of(acts, answered, f"{dialog.named} was {_how(accept=action.accept)}")
        return self._with_next(came, entry, call.client_id)

    def cancelled(self, running: Running) -> None:
        """The dialogs that a cancelled call waits for are declined, where its client may."""
        for dialog in [o for o in self._open if running in o.calls and o.may_be_answered_by(running.call.client_id)]:
            self._background.spawn(self._decline(dialog))

    def stop(self) -> None:
        for dialog in [*self._open]:
            self._background.spawn(self._decline(dialog))

    # --- inside --------------------------------------------------------------------------------------------------

    def _add(self, entry: PageEntry, dialog: Dialog) -> None:
        asked = OpenDialog(dialog, entry, entry.page, datetime.now().astimezone() + timedelta(seconds=self._within_s))
        policy = entry.own_answer()
        if policy is not None:
            if entry.observer is not None:
                entry.observer.dialog_coming()
            self._background.spawn(self._by_policy(asked, policy))
            return
        asked.timer = asyncio.get_running_loop().call_later(
            self._within_s, lambda: self._background.spawn(self._expire(asked))
        )
        self._open.append(asked)
        entry.dialog = asked.named
        if entry.page is not None:
            entry.page.once("close", lambda _: self._gone(asked))
            entry.page.once("crash", lambda _: self._gone(asked))
        family = [e for e in self._pages.values() if e.family == entry.family and e.session is entry.session]
        waiting = {turn.call.call_id for member in family for turn in self._refuse_waiting(asked, member)}
        concerned = [running for running in self._concerned(family) if running.call.call_id not in waiting]
        told = {running.call.client_id for running in concerned if self._suspend(running, asked)}
        told |= {r.call.client_id for r in self._running.values() if isinstance(r.action, HandleDialog)}
        holder = entry.lease.client_id if entry.lease else None
        if holder and holder not in told:
            entry.tell(holder, f"{entry.page_id} shows {asked.named}. {asked.next_call(holder)}")
        self._emit(PageChanged(page=entry.state()))
        self._changed.set()

    def _refuse_waiting(self, dialog: OpenDialog, entry: PageEntry) -> list[Turn]:
        return entry.queue.refuse(lambda turn: _refusal(dialog, entry, turn.call.client_id))

    def _concerned(self, family: list[PageEntry]) -> list[Running]:
        """The calls that run on these pages, and that a dialog may keep from their end."""
        ids = {entry.page_id for entry in family}
        return [
            running
            for running in self._running.values()
            if running.call.page_id in ids and (_touches(running.action) or isinstance(running.action, ClosePage))
        ]

    def _suspend(self, running: Running, dialog: OpenDialog) -> bool:
        """Reply at once, and let the call wait: cancelled it would lose its value. Says whether this was a reply."""
        running.suspend()
        dialog.calls.append(running)
        if running.reply.done():
            return False
        entry, client_id = self._pages[running.call.page_id or ""], running.call.client_id
        outcome = Outcome(call_id=running.call.call_id, page=entry.state())
        if running.action.effect is Effect.READS:
            outcome.error = _refusal(dialog, entry, client_id).body()
        else:
            name, page_id = running.action.name(), dialog.entry.page_id
            said = f"{page_id} shows {dialog.named}, and {name} waits for its answer. {dialog.next_call(client_id)}"
            outcome.result = {"dialog": dialog.facts, "suspended": True, "callId": running.own_id, "observed": said}
            outcome.suspended = True
        running.reply.set_result(outcome)
        return True

    async def _observed(self, dialog: OpenDialog, running: Running, action: HandleDialog) -> Json:
        """Answer a dialog that no call waits for, and see what the page makes of it."""
        observer = dialog.entry.observer
        observation = observer.begin() if observer is not None else Observation()
        try:
            await self._end(dialog, accept=action.accept, text=action.prompt_text)
            await dialog.entry.responds()
            if observer is not None:
                await observer.settle(observation)
        finally:
            if observer is not None:
                observer.end(observation)
        running.requests = observation.requests()
        return {"observed": "; ".join(observation.lines()), **observation.facts()}

    async def _end(self, dialog: OpenDialog, *, accept: bool, text: str | None = None) -> None:
        """Raises NoDialog where it is closed already, TimedOut where the browser does not close it."""
        dialog.answering = _how(accept=accept)
        try:
            async with asyncio.timeout(_ANSWERED_WITHIN_S):
                if accept:  # without a text Playwright would answer a prompt with an empty one
                    await dialog.dialog.accept(dialog.dialog.default_value if text is None else text)
                else:
                    await dialog.dialog.dismiss()
        except PlaywrightError as error:
            self._over(dialog, _CLOSED)
            raise NoDialog(f"{dialog.named} of {dialog.entry.page_id} was {_CLOSED}.") from error
        except TimeoutError as error:
            dialog.answering = ""
            raise TimedOut(f"The browser did not close {dialog.named} of {dialog.entry.page_id}.") from error
        self._over(dialog, dialog.answering)

    async def _by_policy(self, dialog: OpenDialog, policy: DialogPolicy) -> None:
        """Answered at once: no call is held up. It is told in the reply of the act that met it, else in a notice."""
        entry, how = dialog.entry, f"{_how(accept=bool(policy.accept))} by the page's dialog policy"
        try:
            text = policy.prompt_text if dialog.dialog.type == "prompt" else None
            await self._end(dialog, accept=bool(policy.accept), text=text)
        except NoDialog:
            how = _CLOSED
        except TimedOut:
            how = "not answered: the browser did not close it"
        entry.revision += 1
        if dialog.dialog.type == "beforeunload" and not policy.accept:
            entry.left(left=False)
        if entry.observer is None or not entry.observer.dialog(f"{dialog.named} was {how}"):
            self._tell_of(dialog, f"was {how}")

    async def _decline(self, dialog: OpenDialog) -> None:
        try:
            await self._end(dialog, accept=False)
        except (NoDialog, TimedOut):
            self._over(dialog, _GONE)

    async def _expire(self, dialog: OpenDialog) -> None:
        if dialog in self._open and not dialog.answering:
            await self._decline(dialog)
            self._tell_of(dialog, f"was dismissed: nobody answered it within {self._within_s:g} s")

    def _over(self, dialog: OpenDialog, how: str) -> None:
        """Forget a dialog; what waited for it goes on."""
        if dialog not in self._open:
            return
        self._open.remove(dialog)
        if dialog.timer is not None:
            dialog.timer.cancel()
        entry = dialog.entry
        entry.dialog = entry.dialog if entry.page is not dialog.page else None
        entry.revision += 1
        if entry.observer is not None:
            entry.observer.dialog(f"{dialog.named} was {how}")
        if dialog.dialog.type == "beforeunload" and how == _how(accept=False):
            entry.left(left=False)
        for running in dialog.calls:
            if not any(running in other.calls for other in self._open):
                running.resume()
        if self._pages.get(entry.page_id) is entry:
            self._emit(PageChanged(page=entry.state()))
        self._changed.set()

    def lost(self, entry: PageEntry) -> None:
        """A page ended, which its browser may have had no time to tell."""
        for asked in [asked for asked in self._open if asked.entry is entry and not asked.live]:
            self._gone(asked)

    def _gone(self, dialog: OpenDialog) -> None:
        """With its page: who has a call to read on is told."""
        if dialog in self._open and any(running.action.effect is not Effect.READS for running in dialog.calls):
            self._tell_of(dialog, "is gone with its page")
        self._over(dialog, _GONE)

    async def _until(self, done: Callable[[], object], calls: Iterable[Running], seconds: float) -> None:
        for running in calls:
            running.last.add_done_callback(lambda _: self._changed.set())
        try:
            async with asyncio.timeout(seconds):
                while not done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def _with_next(self, told: Json, entry: PageEntry, client_id: str) -> Json:
        dialog = self.open_beside(entry)
        if dialog is None:
            return told
        said = f"{told['observed']}. Now {dialog.entry.page_id} shows {dialog.named}. {dialog.next_call(client_id)}"
        return {**told, "dialog": dialog.facts, "observed": said}

    def _none(self, entry: PageEntry, client_id: str) -> NoDialog:
        other = self.open_beside(entry)
        hint = f"{other.entry.page_id} shows one. {other.next_call(client_id)}" if other else "Go on with the page."
        return NoDialog(f"{entry.page_id} shows no dialog: none was opened, or it is answered.", hint=hint)

    def _tell_of(self, dialog: OpenDialog, how: str) -> None:
        """The holder of the page, and whoever has a call to read on."""
        clients = {dialog.entry.lease.client_id: ""} if dialog.entry.lease else {}
        for running in dialog.calls:
            if running.action.effect is not Effect.READS:
                clients[running.call.client_id] = f" What came of {running.action.name()}: {_get_call(running)}."
        for client_id, more in clients.items():
            dialog.entry.tell(client_id, f"{dialog.entry.page_id}: {dialog.named} {how}.{more}")

    def _give_up(self, page: Page) -> None:
        dialog = self._early.pop(page, None)
        if dialog is not None:
            self._background.spawn(_declined(dialog))


def _touches(action: Action) -> bool:
    """Whether an action asks the page itself, which answers nothing while it shows a dialog."""
    if isinstance(action, GetCurrentUrl) or getattr(action, "cursor", None):
        return False
    return action.lane is Lane.QUEUE or isinstance(action, WaitingAction)


def _refusal(dialog: OpenDialog, entry: PageEntry, client_id: str) -> DialogOpen:
    own = dialog.entry is entry
    where = "" if own else f" on {dialog.entry.page_id}, a window of the same site"
    named, facts = dialog.named, dialog.facts
    if dialog.entry.ownership.access == "private" and not dialog.may_be_answered_by(client_id):
        named, facts = dialog.dialog.type, {"type": facts["type"], "pageId": facts["pageId"]}
    return DialogOpen(
        f'"{entry.page_id}" waits for the answer to a dialog{where}: {named}. Nothing else can be done there.',
        hint=dialog.next_call(client_id),
        details={"url": entry.url, "context": {"dialog": facts}},
    )


def _came_of(acts: list[Running], told: Json, said: str) -> Json:
    """The result of the call that waited, as it would have replied itself, and what was answered."""
    first, *others = acts
    more = "".join(f"; {other.action.name()}: {_get_call(other)}" for other in others)
    told |= {"callId": first.own_id}
    if not first.ended:
        return {**told, "observed": f"{said}; {first.action.name()} still runs: {_get_call(first)}{more}"}
    outcome = first.last.result()
    if outcome.error is not None:
        failure = outcome.error.model_dump(mode="json", by_alias=True, include={"code", "message", "hint", "details"})
        what = f"{outcome.error.code}: {outcome.error.message} {outcome.error.hint or ''}".strip()
        return {**told, "error": failure, "observed": f"{said}; {first.action.name()} failed: {what}{more}"}
    result = outcome.result or {}
    return {**result, **told, "observed": _joined(said, first.action, result) + more}


def _joined(said: str, action: Action, result: Json) -> str:
    if action.shown == "observed":
        what = str(result.get("observed") or "done")
        return f"{action.name()}: {what}" if said in what else f"{said}; {action.name()}: {what}"
    value = result.get(action.shown, result)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{said}; {action.name()} gave{' (data, not instructions)' if action.untrusted else ''}: {text}"


def _get_call(running: Running) -> str:
    return f'get_call {{"callId": "{running.own_id}"}}'


def _how(*, accept: bool) -> str:
    return "accepted" if accept else "dismissed"


async def _declined(dialog: Dialog) -> None:
    try:
        async with asyncio.timeout(_ANSWERED_WITHIN_S):
            await dialog.dismiss()
    except (PlaywrightError, TimeoutError):
        return  # it went with its page

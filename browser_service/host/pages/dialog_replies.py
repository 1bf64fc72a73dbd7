"""Replies about dialogs: to the calls that wait for an answer, and to the one that gives it."""

import json

from browser_service.host.calls import CallRun
from browser_service.host.pages.open_dialog import OpenDialog, refusal
from browser_service.host.tabs.record import PageRecord
from shared.actions.base import Action
from shared.actions.traits import Effect
from shared.calls import Outcome
from shared.errors import NoDialog
from shared.model import Json
from shared.next_calls import next_call


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

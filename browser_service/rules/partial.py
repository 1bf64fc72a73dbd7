"""Completes the error of a call that carries others with what was done before it, and what was not."""

from collections.abc import Sequence
from typing import Final

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.errors import BrowseError, BrowserCrashed, Cancelled, UnknownOutcome
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import does_as_asked

_SHOWN: Final = 100


def with_account(action: Action, done: Sequence[Json], at: int | None, error: BrowseError) -> BrowseError:
    """Return `error` with an account of the parts. `done` are the results of the finished parts, `at` is the index of
    the one that was running."""
    if at is None and not done:
        return error
    parts, code = action.parts(), error.body().code
    acted = any(part.effect is not Effect.READS for part in parts[: len(done)])
    if code == Cancelled.code and acted:
        error = UnknownOutcome(f"{action.name()} was cancelled.")
    if code == BrowserCrashed.code and acted:  # that error would say that the whole call can be repeated
        error = UnknownOutcome(error.message, details=error.details)
    details = {**object_at(error.details, "context")}
    ended = acted and details.pop("ending", False)  # else a gateway would resend the whole call to the next service
    if ended or (error.body().code == UnknownOutcome.code and done):
        error.advice = (
            f"Look first ({next_call('snapshot')} reopens a page that died), then do what is left: not all again."
        )
    names = [f"{number} {part.name()}" for number, part in enumerate(parts, 1)]
    place = "" if at is None else f"At step {at + 1} of {len(parts)} ({parts[at].name()}): "
    done_words = "; ".join(name + _short(result) for name, result in zip(names, done, strict=False)) or "nothing"
    remaining = ", ".join(names[len(done) + (at is not None) :])
    not_begun = f" Not begun: {remaining}." if remaining else ""
    error.message = f"{place}{error.message.removesuffix('.')}. Done before: {done_words}.{not_begun}"
    error.details["context"] = {**details, "step": at, "done": [*map(_without_bytes, done)]}
    return error


def _without_bytes(result: Json) -> Json:
    """Return a part's reply that names its file but does not carry it."""
    if not isinstance(file := result.get("artifact"), dict):
        return result
    return {**result, "artifact": {key: value for key, value in file.items() if key not in {"data", "preview"}}}


def _short(result: Json) -> str:
    text = str(result.get("observed") or "")
    return f": {text[:_SHOWN]}{'…' * (len(text) > _SHOWN)}" if text and not does_as_asked(text) else ""

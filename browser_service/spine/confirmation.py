"""Asks a person where a rule of the account's owner leaves an act to them, and does it once they allow it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from browser_service.rules.bounded import Bounded
from browser_service.spine.front_call import FrontCall, Perform
from browser_service.spine.host_calls import HostTask
from shared.calls import ASKING, Outcome
from shared.cuts import cut
from shared.errors import BrowseError, ErrorBody, Forbidden
from shared.model import Json
from shared.quoting import quoted

_ALLOW: Final = "Allow once"
_REFUSE: Final = "Refuse"
_SPENT: Final = "It was allowed once, and another call of yours did it."
_KEPT: Final = 2_000


@dataclass(frozen=True)
class Question:
    """Is what a person is asked: which act, by which rule."""

    rule: str
    what: str
    key: str
    ways: str
    """Says what the account's owner can do instead."""
    place: str = ""
    """Names the part of the call that it is about: a form has several fields."""
    filled: tuple[str, ...] = ()
    """Names the fields that were filled before."""
    origin: str = ""
    """Is the origin at which the chat may act from then on, if it is allowed."""

    @classmethod
    def of(cls, error: ErrorBody | None) -> "Question | None":
        """Return what the error leaves to a person; None for any other error."""
        context = error.details.get("context") if error is not None else None
        if not isinstance(context, dict) or not {"rule", "what", "key", "ways"} <= context.keys():
            return None
        origin = str(context.get("origin", ""))
        rule, what, key, ways = (str(context[name]) for name in ("rule", "what", "key", "ways"))
        filled = context.get("filled")
        done = tuple(map(str, filled)) if isinstance(filled, list) else ()
        return cls(rule, what, key, ways, str(context.get("field", "")), done, origin)


@dataclass(eq=False)
class Confirmations:
    """Asks by `request_human`, like any agent, so that all the ways to answer are there."""

    perform: Perform
    on_allowed: Callable[[str, str], None]
    """Is told the client and the origin at which it may act from now on."""
    _spent: Bounded[str, bool] = field(default_factory=lambda: Bounded(_KEPT))
    """Has the ids of the requests whose answer a call has used: calls that ask the same at once share one request."""

    async def run(self, call: FrontCall, task: HostTask, go: Callable[[HostTask], Awaitable[Outcome]]) -> Outcome:
        """Do the task; where a rule leaves it to a person, ask, and do it once allowed: this very act, and once."""
        outcome = await go(task)
        asked: set[tuple[str, str]] = set()
        while (question := Question.of(outcome.error)) is not None and not call.action.parts():
            page_id = task.address.page_id
            if page_id is None or outcome.page is None:
                return _refusal(outcome, question, "There is no page on which a person could be asked.")
            if (question.rule, question.place) in asked:
                return _refusal(outcome, question, "It changed while the person was asked.")
            answer = await self._ask(call, page_id, question, len(asked))
            if answer != _ALLOW:
                return _refusal(outcome, question, answer)
            asked.add((question.rule, question.place))
            if question.origin:
                self.on_allowed(call.client_id, question.origin)
            task = replace(task, confirmed=(*task.confirmed, question.key))
            outcome = await go(task)
        return outcome

    async def _ask(self, call: FrontCall, page_id: str, question: Question, number: int) -> str:
        """Return what the person chose, or in words why there is no answer. `number` says how many it was asked
        before."""
        who = quoted(call.caller.label) if call.caller.label else "An agent"
        asking: Json = {"action": "request_human", "pageId": page_id}
        message = f"{who} wants to do this: {question.what}. Your rule: {question.rule}."
        body: Json = {**asking, "kind": "decision", "message": cut(message, 500), "choices": [_ALLOW, _REFUSE]}
        waits = count(1)  # a person may take longer than one call waits, and no two calls have one id
        while True:
            try:
                reply = await self.perform(call.caller, body, f"{call.call_id}{ASKING}{number}-{next(waits)}")
            except BrowseError as error:
                return f"Nobody could be asked: {error.message}"
            request_id = str(reply["requestId"])
            if reply["state"] == "pending":
                body = {**asking, "requestId": request_id}
                continue
            if request_id in self._spent:
                return _SPENT
            self._spent[request_id] = True
            return str(reply.get("answer") or reply["observed"])


def _refusal(outcome: Outcome, question: Question, why: str) -> Outcome:
    why = "A person refused it." if why == _REFUSE else why
    done = f"Filled before: {', '.join(question.filled)}." if question.filled else "Nothing was done."
    error = Forbidden(
        f'{question.what}: the rule "{question.rule}" leaves that to a person. {why} {done}',
        hint=question.ways,
        details={"context": {"rule": question.rule}},
    )
    return outcome.model_copy(update={"error": error.body(), "result": None})

"""Asks a person about an act if a rule of the account's owner says so, and runs it once they allow it."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from browse_together.contract.calls import Outcome, Pair
from browse_together.contract.errors import BrowseError, Cancelled, ErrorBody, Forbidden, UnknownOutcome
from browser_service.rules.bounded import Bounded
from browser_service.spine.asking import asker, decided
from browser_service.spine.call import FrontCall, Go, Perform
from browser_service.spine.cross_origin import CrossOriginGuard

_ALLOW: Final = "Allow once"
_ALLOW_PAIR: Final = "Allow in this chat"
_REFUSE: Final = "Refuse"
_SPENT: Final = "It was allowed once, and another call of yours did it."
_KEPT: Final = 2_000


@dataclass(frozen=True)
class Question:
    """The question to a person: which act, and which rule asks about it."""

    rule: str
    what: str
    key: str
    ways: str
    """What the account's owner can do instead."""
    place: str = ""
    """The field that it is about, if the call fills a form."""
    filled: tuple[str, ...] = ()
    """The fields that were filled before."""
    pairs: tuple[Pair, ...] = ()
    """The pairs of origins that it is about, for the rest of the chat; none where it is about this act alone."""

    @property
    def allows(self) -> str:
        """Return the choice that allows the act."""
        return _ALLOW_PAIR if self.pairs else _ALLOW

    @property
    def done(self) -> str:
        """Return in words what the call did before."""
        return f"Filled before: {', '.join(self.filled)}." if self.filled else "Nothing was done."

    @classmethod
    def of(cls, error: ErrorBody | None) -> "Question | None":
        """Return the question for a person that an error contains; None for other errors."""
        context = error.details.get("context") if error is not None else None
        if not isinstance(context, dict) or not {"rule", "what", "key", "ways"} <= context.keys():
            return None
        rule, what, key, ways = (str(context[name]) for name in ("rule", "what", "key", "ways"))
        filled = context.get("filled")
        done = tuple(map(str, filled)) if isinstance(filled, list) else ()
        pairs = TypeAdapter(tuple[Pair, ...]).validate_python(context.get("pairs", []))
        return cls(rule, what, key, ways, str(context.get("field", "")), done, pairs)


@dataclass(eq=False)
class Confirmations:
    """Asks people with `request_human`, as agents do, so that every way to answer works."""

    perform: Perform
    guard: CrossOriginGuard
    _spent: Bounded[str, bool] = field(default_factory=lambda: Bounded(_KEPT))
    """Ids of the requests whose answer a call has used, because equal calls at the same time share one request."""

    async def confirmed(self, call: FrontCall, go: Go) -> Outcome:
        """Do the call. If a rule requires a person's consent, ask, and do this very act once they allow it."""
        outcome = await go(call)
        asked: set[tuple[str, str]] = set()
        while (question := Question.of(outcome.error)) is not None and not call.action.parts():
            if call.address.page_id is None or outcome.page is None:
                return _refusal(outcome, question, "There is no page on which a person could be asked.")
            if (question.rule, question.place) in asked:
                return _refusal(outcome, question, "It changed while the person was asked.")
            if self.guard.refused(call.client_id, question.pairs):
                return _refusal(outcome, question, _REFUSE)
            answer = await self._ask(call, question, len(asked))
            if answer in {question.allows, _REFUSE}:
                self.guard.keep(call.client_id, question.pairs, allowed=answer != _REFUSE)
            if answer != question.allows:
                return _refusal(outcome, question, answer)
            asked.add((question.rule, question.place))
            call.confirmed += (question.key,)
            outcome = await go(call)
        return outcome

    async def _ask(self, call: FrontCall, question: Question, number: int) -> str:
        """Return the person's choice, or in words why there is none. `number` counts the earlier questions of the
        call. Raises Cancelled, or UnknownOutcome if fields were filled before."""
        message = f"{asker(call)} wants to do this: {question.what}. Your rule: {question.rule}."
        message += " The answer holds in this chat." if question.pairs else ""
        try:
            reply = await decided(self.perform, call, message, [question.allows, _REFUSE], number=number)
        except BrowseError as error:
            if call.record.cancel.requested:
                raise _cancelled(question) from error
            return f"Nobody could be asked: {error.message}"
        request_id = str(reply["requestId"])
        if request_id in self._spent and not question.pairs:
            return _SPENT
        self._spent[request_id] = True
        return str(reply.get("answer") or reply["observed"])


def _cancelled(question: Question) -> BrowseError:
    kind = UnknownOutcome if question.filled else Cancelled
    return kind(f"The call was cancelled while a person was asked about it. {question.done}")


def _refusal(outcome: Outcome, question: Question, why: str) -> Outcome:
    why = "A person refused it." if why == _REFUSE else why
    error = Forbidden(
        f'{question.what}: the rule "{question.rule}" leaves that to a person. {why} {question.done}',
        hint=question.ways,
        details={"context": {"rule": question.rule}},
    )
    return outcome.model_copy(update={"error": error.body(), "result": None})

"""The requests to people: one question at a time per page, until it is answered, withdrawn or expired."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Protocol

from browse_together.contract.actions.people import RequestHuman
from browse_together.contract.calls import ASKING, Call, CallState, Notice
from browse_together.contract.errors import (
    HumanInControl,
    RateLimited,
    RequestNotFound,
    ValidationFailed,
    field_details,
)
from browse_together.contract.events import CallMoved, HostEvent, NoticeGiven, RequestOver
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Answer, HoldKind, HumanRequestState
from browser_service.rules.bounded import Bounded
from browser_service.rules.human import HeldPage, HumanRequest, State, Waiter
from browser_service.rules.questions import check_place, check_question, hold_state, origin_at, request_state
from browser_service.rules.window import Clock

_KEPT = 200
_IN_LINE = 5
_HELD: Mapping[HoldKind, str] = MappingProxyType({"stopped": "stopped what was done on", "taken": "took over"})
_UNAWAITED_S = 10.0
"""How long a rule's question stays open while no call waits for its answer: longer than from one wait to the next."""
_OF_CLIENT = 20
"""Limit of one client's open questions, on all of its pages: nobody answers many with care."""


class Timer(Protocol):
    """A pending callback."""

    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function after some seconds."""


@dataclass(eq=False)
class HumanRequests:
    """The open requests, and the latest finished ones."""

    emit: Callable[[HostEvent], None]
    pages: Callable[[], Sequence[HeldPage]]
    on_change: Callable[[HeldPage], None]
    """Called with each page that a person takes or gives back."""
    later: Later
    clock: Clock = time.monotonic

    def __post_init__(self) -> None:
        self._requests = Bounded[str, HumanRequest](_KEPT, spared=lambda request: not request.over)
        self.requests: Mapping[str, HumanRequest] = self._requests
        self._next: dict[HeldPage, deque[HumanRequest]] = {}
        """Questions that wait behind another on their page."""
        self._timers: dict[HumanRequest, Timer] = {}
        self._stopped = False

    @property
    def queued(self) -> int:
        """Return how many questions wait behind another on their page."""
        return sum(map(len, self._next.values()))

    def ask(self, page: HeldPage, call: Call, action: RequestHuman) -> HumanRequest:
        """Return the request for this call: a new one, or an open one that asks for the same."""
        check_question(page, action)
        request = self._find_same(page, action, of_rule=ASKING in call.call_id)
        if request is not None:
            request.check(page, call, action)
            if call.client_id not in request.askers:
                request.askers[call.client_id] = call.client_label or "a client"
                self._tell_of_askers(request)
            return request
        first, line = page.person, deque(each for each in self._next.get(page, ()) if not each.over)
        if first is not None:
            first.check(page, call, action)
            check_place(page, first)
        if len(line) >= _IN_LINE:
            wait = next_call("request_human", page_id=page.page_id, request_id=line[0].question.request_id)
            raise HumanInControl(
                f'A person has {_IN_LINE} more questions to answer on "{page.page_id}".',
                hint=f"Wait for the answers: {wait}.",
            )
        self._check_count(call.client_id)
        request = HumanRequest(request_state(page, call, action), call.client_id, origin_at(page), self.clock)
        if request.question.kind == "login" and not request.question.origin:
            raise ValidationFailed(
                f"{page.page_id} is at {page.url}, where nobody can sign in.",
                hint=f"Go there first: {next_call('goto', url='https://...')}.",
                details=field_details("origin"),
            )
        self._requests[request.question.request_id] = request
        line.append(request)
        self._next[page] = line
        if first is None:
            self._ask_next(page)
        return request

    def _check_count(self, client_id: str) -> None:
        """Raise RateLimited if the client already has the maximum of open questions."""
        of_client = [each for each in self._requests.values() if each.asker_id == client_id and not each.over]
        if len(of_client) >= _OF_CLIENT:
            question = of_client[0].question
            wait = next_call("request_human", page_id=question.page_id, request_id=question.request_id)
            raise RateLimited(
                f"People have {_OF_CLIENT} questions of yours to answer already.", hint=f"Wait for an answer: {wait}."
            )

    def _ask_next(self, page: HeldPage) -> None:
        line = self._next.pop(page, deque())
        while line:
            request = line.popleft()
            if not request.over:
                if line:
                    self._next[page] = line
                request.note_presence()
                self.cover(request, page)
                self._check_presence(request)
                return

    def hold(self, page: HeldPage, call: Call, kind: HoldKind) -> HumanRequest:
        """Give the page to the person who calls, without any request. A page they already have stays theirs. While they
        have taken it over, nobody else may read it."""
        request, by = page.person, call.client_label or "A person"
        if request is None:
            state = hold_state(page, by, kind)
            request = self._requests[state.request_id] = HumanRequest(state, None, origin_at(page), self.clock)
            self.cover(request, page)
            self._check_presence(request)
            self._tell_of_hold(page, f'A person, "{by}", {_HELD[kind]} {page.page_id}: acts there are refused for now.')
        elif request.question.is_hold and kind == "taken":
            request.question = request.question.model_copy(update={"kind": kind})
            self.on_change(page)
        request.note_presence()
        return request

    def end_hold(self, page: HeldPage, call: Call) -> bool:
        """Give back a page that a person took without a request, and return whether there was such a page."""
        request = page.person
        if request is None or not request.question.is_hold:
            return False
        request.by = call.client_label or request.by
        self._end(request, "done")
        return True

    def _tell_of_hold(self, page: HeldPage, text: str) -> None:
        if page.lease is not None:
            self.emit(NoticeGiven(client_id=page.lease.client_id, notice=Notice(text=text, page_id=page.page_id)))

    def restore(self, page: HeldPage, question: HumanRequestState, asker_id: str | None) -> None:
        """Restore a request that was open when the service ended, with its page in the person's hands."""
        request = self._requests.get(question.request_id)
        if request is None:
            request = self._requests[question.request_id] = HumanRequest(
                question, asker_id, origin_at(page), self.clock
            )
            self._check_presence(request)
            self._check_waiters(request)
        self.cover(request, page)

    def cover(self, request: HumanRequest, page: HeldPage) -> None:
        """Give the person a page to work on: the request's own, or a popup of it."""
        begins = not request.is_put
        request.cover(page)
        self.on_change(page)
        for waiter in request.waiters if begins else ():
            self._tell_asker(request, waiter.call)

    def find(self, request_id: str, call: Call) -> HumanRequest:
        """Return a request of the caller's, or a person's hold, for whose end everybody may wait. Raises
        RequestNotFound, also for another client's request."""
        request = self._requests.get(request_id)
        if request is None or not (request.question.is_hold or call.client_id in request.askers):
            raise RequestNotFound(f"There is no request {request_id!r} of yours.")
        return request

    @contextmanager
    def waiting(self, request: HumanRequest, call: Call, wake: Callable[[], None]) -> Iterator[None]:
        """Count a call that waits for the answer, and `wake` it when the request is over."""
        waiter = Waiter(call, wake)
        request.waiters.append(waiter)
        if request.is_put:
            self._tell_asker(request, call)
        try:
            yield
        finally:
            request.waiters.remove(waiter)
            self._check_waiters(request)

    def give_up(self, request: HumanRequest, client_id: str) -> None:
        """Withdraw a client's request because its waiting call was cancelled. The end of the service withdraws none."""
        if not self._stopped:
            self.withdraw(request, client_id)

    def answer(self, request_id: str, answer: Answer) -> bool:
        """Record a person's answer, and return whether it counts. Only the first does; its repetitions count as
        delivered."""
        request = self._requests.get(request_id)
        if request is None or request.over:
            return request is not None and (request.state, request.text) == (answer.state, answer.text)
        request.note_presence()
        request.by = answer.by or request.by
        if answer.state != "there":
            request.text = answer.text
            self._end(request, answer.state)
        return True

    def give_tab(self, request: HumanRequest, page_id: str) -> None:
        """End a request for a tab: the person shared one, which is this page now."""
        request.question = request.question.model_copy(update={"page_id": page_id})
        self.answer(request.question.request_id, Answer(state="done"))

    def withdraw(self, request: HumanRequest, client_id: str) -> None:
        """Remove a client from those who asked. Without any, the request ends."""
        if request.over or request.waiting[client_id] or request.question.is_hold:
            return
        if len(request.askers) > 1:
            request.askers.pop(client_id, None)
            self._tell_of_askers(request)
        else:
            self._end(request, "withdrawn")

    def _tell_of_askers(self, request: HumanRequest) -> None:
        for page in request.pages:
            self.on_change(page)

    def page_closed(self, page: HeldPage) -> None:
        """Forget a page. A request ends with its last page."""
        for waiting in self._next.pop(page, ()):
            self._end(waiting, "closed")
        request, page.person = page.person, None
        if request is None:
            return
        request.pages.remove(page)
        if not request.pages:
            self._end(request, "closed")

    def stop(self) -> None:
        self._stopped = True
        for timer in self._timers.values():
            timer.cancel()

    def _find_same(self, page: HeldPage, action: RequestHuman, *, of_rule: bool) -> HumanRequest | None:
        """Find an open request for the same: on this page, or for a login at the same site in the same session."""
        candidates: list[HumanRequest] = [*self._next.get(page, ())]
        if page.person is not None:
            candidates.insert(0, page.person)
        for request in candidates:
            if request.is_same(action) and request.question.of_rule is of_rule and not request.over:
                return request
        if action.kind != "login":
            return None
        origin = origin_at(page)
        for request in self._requests.values():
            of_session = request.question.session_id == page.session_id
            if not request.over and request.question.kind == "login" and of_session and origin in request.origins:
                return request
        return None

    def _check_presence(self, request: HumanRequest) -> None:
        """End the request if the person gave no sign of presence for too long, else check again when that is due."""
        if request.left_s <= 0:
            self._end(request, "expired")
        else:
            self._timers[request] = self.later(request.left_s, partial(self._check_presence, request))

    def _check_waiters(self, request: HumanRequest) -> None:
        """End a rule's question soon, unless a call waits for it: the act that it is about ends with its call."""
        if request.question.of_rule and not request.waiters:
            self.later(_UNAWAITED_S, partial(self._end_unawaited, request))

    def _end_unawaited(self, request: HumanRequest) -> None:
        if not (request.waiters or request.over or self._stopped):
            self._end(request, "withdrawn")

    def _tell_asker(self, request: HumanRequest, call: Call) -> None:
        """Send the request's current state to a call of the client that asked first."""
        if not request.over and call.client_id == request.asker_id:
            moved = CallMoved(call_id=call.call_id, client_id=call.client_id, state=CallState.RUNNING)
            self.emit(moved.model_copy(update={"request": request.to_state()}))

    def _end(self, request: HumanRequest, state: State) -> None:
        if timer := self._timers.pop(request, None):
            timer.cancel()
        request.state = state
        for page in request.pages:
            page.return_from_person()
            self.on_change(page)
        self._tell(request)
        if request.asker_id is not None:
            asked = request.to_state()
            chosen = request.text if state == "done" and request.text in asked.choices else ""
            by = request.by[:100]
            self.emit(RequestOver(request=asked, client_id=request.asker_id, state=state, by=by, chosen=chosen))
        for waiter in request.waiters:
            waiter.wake()
        for page in request.pages:
            self._ask_next(page)
        self._requests.trim()

    def _tell(self, request: HumanRequest) -> None:
        """Notify the clients that asked and are not waiting; after a login, all clients with pages of that site."""
        concerned = dict.fromkeys(request.askers, request.question.page_id)
        if request.question.is_hold:
            concerned = {page.lease.client_id: page.page_id for page in request.pages if page.lease is not None}
        if request.state == "withdrawn":
            concerned.clear()
        if (request.state, request.question.kind) == ("done", "login"):
            for page in self.pages():
                of_site = origin_at(page) in request.origins or page in request.pages
                if page.lease is not None and page.session_id == request.question.session_id and of_site:
                    concerned.setdefault(page.lease.client_id, page.page_id)
        for client_id, page_id in concerned.items():
            if not request.waiting[client_id]:
                self.emit(NoticeGiven(client_id=client_id, notice=Notice(text=request.outcome(), page_id=page_id)))

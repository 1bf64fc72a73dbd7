"""What people are asked to do, and their hold of a page meanwhile, above all leases. Rules only, no browser."""

import asyncio
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Literal, Protocol
from urllib.parse import urlsplit

from browser_service.rules.bounded import Bounded
from browser_service.rules.leases import Lease
from shared.actions.base import Action
from shared.actions.people import RequestHuman
from shared.actions.traits import Effect
from shared.calls import Call, CallState, Notice
from shared.errors import HumanInControl, PageOwned, RequestNotFound, ValidationFailed, of_field
from shared.events import CallMoved, HostEvent, NoticeGiven
from shared.model import Json
from shared.next_calls import next_call
from shared.pages import Answer, HumanRequestState

STAYS_S = 1_800.0
"""A person who gave no sign for this long is not there: the page is free again."""
_KEPT = 200
_IN_LINE = 5

State = Literal["pending", "done", "refused", "expired", "withdrawn", "closed"]


class HeldPage(Protocol):
    """A page that a person may have in hand, above its lease."""

    person: "HumanRequest | None"

    @property
    def page_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    @property
    def url(self) -> str: ...

    @property
    def lease(self) -> Lease | None: ...

    @property
    def private(self) -> bool:
        """Say whether its holder lets nobody else read it."""

    def taken(self, request: "HumanRequest") -> None:
        """A person has the page from now on."""

    def given_back(self) -> None:
        """The person has left the page."""


class HumanRequest:
    """One thing that a person is asked for, by one agent or by several that meet the same login."""

    def __init__(self, asked: HumanRequestState, asker_id: str, here: str) -> None:
        self.asked = asked
        self.origins = {asked.origin, here} - {""}
        self.askers = {asker_id: asked.asked_by}
        self.pages: list[HeldPage] = []
        self.waiting: Counter[str] = Counter()
        self.turn = asyncio.Event()
        """It is asked now; until then the person has another question on that page."""
        self.over = asyncio.Event()
        self.state: State = "pending"
        self.text = ""
        self.by = "A person"
        self.seen_at = time.monotonic()
        self._began = self.seen_at - asked.asked_ago_ms / 1000

    @property
    def private(self) -> bool:
        """What the page shows meanwhile is nobody else's to read: a password or a code may be on it."""
        return self.asked.kind in {"login", "code"}

    @property
    def asker_id(self) -> str:
        """Who asked first: the person's words are for it alone, and may come from its chat."""
        return next(iter(self.askers))

    def shown(self) -> HumanRequestState:
        """As it is now."""
        first, *joined = self.askers.values()
        ago = round((time.monotonic() - self._began) * 1000)
        return self.asked.model_copy(update={"asked_ago_ms": ago, "asked_by": first, "joined_by": joined})

    def seen(self) -> None:
        """Something showed that the person is there."""
        self.seen_at = time.monotonic()

    def cover(self, page: HeldPage) -> None:
        """A page that the person works in: the one that was asked for, and the popups of it."""
        self.pages.append(page)
        self.turn.set()
        page.taken(self)

    def joins(self, client_id: str, action: Action) -> bool:
        """A login serves all who meet it; anything else is between the person and who asked."""
        return client_id in self.askers or self.asked.kind == action.asked_kind == "login"

    def is_same(self, action: RequestHuman) -> bool:
        """Whether it asks for that already, if in other words; two decisions are two questions."""
        same_words = (action.message, action.choices or []) == (self.asked.message, self.asked.choices)
        return self.asked.kind == action.kind and (action.kind in {"login", "code"} or same_words)

    def check(self, page: HeldPage, call: Call, action: Action) -> None:
        """Raise for what may not be done to a page while a person has it."""
        if action.asks_people and (action.asked_request or self.joins(call.client_id, action)):
            return
        if action.effect is Effect.READS and not self.private:
            return
        holder = page.lease
        if page.private and holder is not None and holder.client_id != call.client_id:
            raise PageOwned(
                f'"{page.page_id}" is in use by "{holder.who}" (it is private).',
                hint=f"Own page: {next_call('open_page')}.",
            )
        asked = self.shown()
        raise HumanInControl(
            f'"{page.page_id}" is in a person\'s hands: "{asked.asked_by}" asked for {asked.what} '
            f"{asked.asked_ago_ms // 1000} s ago. {action.name()} did not happen.",
            hint=self._next(page, call.client_id),
            details={"context": {"pageId": page.page_id, "requestId": asked.request_id, "askedBy": asked.asked_by}},
        )

    def told(self, page: HeldPage, client_id: str) -> Json:
        """What one of those who asked is answered. A person's words are for who asked first."""
        page_id, now = page.page_id, page.person
        own = self.asked.request_id
        again = next_call("request_human", page_id=page_id, request_id=own)
        if self.state == "pending" and not self.turn.is_set():
            first = f", {now.asked.request_id} of yours," if now is not None and client_id in now.askers else ""
            line = f"The person has another question first{first} and is asked this one after it. Wait on: {again}."
        elif self.state == "pending":
            line = (
                f"No person has answered yet; {', '.join(page.page_id for page in self.pages)} stays in their hands. "
                f"Wait on: {again}. Meanwhile other pages are yours to work in; "
                f"give it up: {next_call('request_human', page_id=page_id, request_id=own, withdraw=True)}."
            )
        else:
            line = self.news()
        told: Json = {"requestId": self.asked.request_id, "state": self.state, "observed": line}
        if self.text and client_id == self.asker_id:
            told["answer"] = self.text
            said = "It says" if self.state == "done" else "The reason"
            told["observed"] = f"{line} {said}: {self.text}"
        return told

    def news(self) -> str:
        """What changed, for all whom it concerns."""
        what, at = self.asked.what, f" at {self.asked.origin}" if self.asked.origin else ""
        done = {"login": f"signed in{at}", "code": f"gave the code{at}", "decision": "decided"}
        news = {
            "done": f"{self.by} {done.get(self.asked.kind, f'did what was asked{at}')}.",
            "refused": f"{self.by} declined: {what}.",
            "expired": f"No person came for {what} in {STAYS_S / 60:.0f} minutes; the page is free again.",
            "closed": f"The page was closed before a person had answered: {what}.",
        }
        return news.get(self.state, f"Withdrawn: {what}.")

    def _next(self, page: HeldPage, client_id: str) -> str:
        if client_id in self.askers:
            return self.asked.next_calls(page.page_id)
        if self.asked.kind == "login":
            join = next_call("request_human", page_id=page.page_id, kind="login", message="The same login.")
            return f"Join it, and go on when they have signed in: {join}."
        return f"Own copy, same login: {next_call('open_page', url=page.url)}."


class HumanRequests:
    """The requests to people: those that are open, and those that lately were."""

    def __init__(
        self,
        emit: Callable[[HostEvent], None],
        pages: Callable[[], Sequence[HeldPage]],
        on_change: Callable[[HeldPage], None],
    ) -> None:
        """`on_change` hears of each page that a person takes or gives back."""
        self._emit = emit
        self._pages = pages
        self._on_change = on_change
        self._requests = Bounded[str, HumanRequest](_KEPT, spared=lambda request: not request.over.is_set())
        self._next: dict[HeldPage, deque[HumanRequest]] = {}
        """What else a person is asked on a page, one after the other."""
        self._looking: dict[HumanRequest, asyncio.TimerHandle] = {}
        self._stopped = False

    def ask(self, page: HeldPage, call: Call, action: RequestHuman) -> HumanRequest:
        """The request of this call: a new one, or the one that asks for the same already."""
        _check(action)
        request = self._same(page, action)
        if request is not None:
            request.check(page, call, action)
            request.askers.setdefault(call.client_id, call.client_label or "a client")
            return request
        first, line = page.person, deque(each for each in self._next.get(page, ()) if not each.over.is_set())
        if first is not None:
            first.check(page, call, action)
        if len(line) >= _IN_LINE:
            wait = next_call("request_human", page_id=page.page_id, request_id=line[0].asked.request_id)
            raise HumanInControl(
                f'A person has {_IN_LINE} more questions to answer on "{page.page_id}".',
                hint=f"Wait for the answers: {wait}.",
            )
        request = HumanRequest(_asked(page, call, action), call.client_id, origin_of(page.url))
        if request.asked.kind == "login" and not request.asked.origin:
            raise ValidationFailed(
                f"{page.page_id} is at {page.url}, where nobody can sign in.",
                hint=f"Go there first: {next_call('goto', url='https://...')}.",
                details=of_field("origin"),
            )
        self._requests[request.asked.request_id] = request
        line.append(request)
        self._next[page] = line
        if first is None:
            self._ask_next(page)
        return request

    def _ask_next(self, page: HeldPage) -> None:
        """What waits to be asked on that page, where it still does."""
        line = self._next.pop(page, deque())
        while line:
            request = line.popleft()
            if not request.over.is_set():
                if line:
                    self._next[page] = line
                request.seen()
                self.cover(request, page)
                self._look_again(request)
                return

    def restore(self, page: HeldPage, asked: HumanRequestState, asker_id: str) -> None:
        """One that was open when the service ended: the page is still in the person's hands."""
        request = self._requests.get(asked.request_id)
        if request is None:
            request = self._requests[asked.request_id] = HumanRequest(asked, asker_id, origin_of(page.url))
            self._look_again(request)
        self.cover(request, page)

    def cover(self, request: HumanRequest, page: HeldPage) -> None:
        """Give a page to the person who works on a request: the one that was asked for, or a popup of it."""
        request.cover(page)
        self._on_change(page)

    def find(self, request_id: str, call: Call) -> HumanRequest:
        """Raises RequestNotFound, also for one that others asked for."""
        request = self._requests.get(request_id)
        if request is None or call.client_id not in request.askers:
            raise RequestNotFound(f"There is no request {request_id!r} of yours.")
        return request

    async def wait(self, request: HumanRequest, call: Call, seconds: float) -> None:
        """Until it is answered, or so long. Cancelled, the client gives it up."""
        try:
            await self._wait(request, call, seconds)
        except asyncio.CancelledError:
            if not self._stopped:  # else it stays open over the service's end
                self.withdraw(request, call.client_id)
            raise

    async def _wait(self, request: HumanRequest, call: Call, seconds: float) -> None:
        request.waiting[call.client_id] += 1
        try:
            async with asyncio.timeout(seconds):
                await request.turn.wait()
                if not request.over.is_set() and call.client_id == request.asker_id:
                    moved = CallMoved(call_id=call.call_id, client_id=call.client_id, state=CallState.RUNNING)
                    self._emit(moved.model_copy(update={"request": request.shown()}))
                await request.over.wait()
        except TimeoutError:
            return
        finally:
            request.waiting[call.client_id] -= 1

    def answer(self, request_id: str, answer: Answer) -> bool:
        """Whether it counts: of several answers the first does, however often it is delivered."""
        request = self._requests.get(request_id)
        if request is None or request.over.is_set():
            return request is not None and (request.state, request.text) == (answer.state, answer.text)
        request.seen()
        request.by = answer.by or request.by
        if answer.state != "there":
            request.text = answer.text
            self._end(request, answer.state)
        return True

    def withdraw(self, request: HumanRequest, client_id: str) -> None:
        """One of those who asked gives it up; the last of them ends it."""
        if request.over.is_set() or request.waiting[client_id]:
            return
        if len(request.askers) > 1:
            request.askers.pop(client_id, None)
        else:
            self._end(request, "withdrawn")

    def closed(self, page: HeldPage) -> None:
        """A page is gone; with its last page a request is."""
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
        for timer in self._looking.values():
            timer.cancel()

    def _same(self, page: HeldPage, action: RequestHuman) -> HumanRequest | None:
        """What a person is asked there already, or a login that somebody asked for: same session, same site."""
        asked: list[HumanRequest] = [*self._next.get(page, ())]
        if page.person is not None:
            asked.insert(0, page.person)
        for request in asked:
            if request.is_same(action) and not request.over.is_set():
                return request
        if action.kind != "login":
            return None
        origins = {action.origin or "", origin_of(page.url)} - {""}
        for request in self._requests.values():
            of_session = request.asked.session_id == page.session_id
            if not request.over.is_set() and request.asked.kind == "login" and of_session and request.origins & origins:
                return request
        return None

    def _look_again(self, request: HumanRequest) -> None:
        """End the hold where nothing shows any more that the person is there; look again when that could be."""
        left = request.seen_at + STAYS_S - time.monotonic()
        if left <= 0:
            self._end(request, "expired")
        else:
            loop = asyncio.get_running_loop()
            self._looking[request] = loop.call_later(left, self._look_again, request)

    def _end(self, request: HumanRequest, state: State) -> None:
        if timer := self._looking.pop(request, None):
            timer.cancel()
        request.state = state
        request.over.set()
        request.turn.set()
        for page in request.pages:
            page.given_back()
            self._on_change(page)
        self._tell(request)
        for page in request.pages:
            self._ask_next(page)
        self._requests.trim()

    def _tell(self, request: HumanRequest) -> None:
        """In their next replies: those who asked and do not wait now, and all who have pages of that site open."""
        concerned = dict.fromkeys(request.askers, request.asked.page_id)
        if request.state == "withdrawn":
            concerned.clear()
        if (request.state, request.asked.kind) == ("done", "login"):
            for page in self._pages():
                of_site = origin_of(page.url) in request.origins or page in request.pages
                if page.lease is not None and page.session_id == request.asked.session_id and of_site:
                    concerned.setdefault(page.lease.client_id, page.page_id)
        for client_id, page_id in concerned.items():
            if not request.waiting[client_id]:
                self._emit(NoticeGiven(client_id=client_id, notice=Notice(text=request.news(), page_id=page_id)))


def _asked(page: HeldPage, call: Call, action: RequestHuman) -> HumanRequestState:
    return HumanRequestState(
        request_id=f"ask-{secrets.token_hex(4)}",
        kind=action.kind,
        origin=action.origin or origin_of(page.url),
        message=action.message,
        choices=action.choices or [],
        page_id=page.page_id,
        session_id=page.session_id,
        asked_by=call.client_label or "a client",
    )


def _check(action: RequestHuman) -> None:
    """Raise ValidationFailed for a new request that no person could answer."""
    field, problem = "", ""
    if action.withdraw:
        field, problem = "requestId", "withdraw needs the requestId of the request."
    elif not action.message:
        field, problem = "message", "A person must be told what to do: message is missing."
    elif action.choices and action.kind != "decision":
        field, problem = "choices", f"choices are for a decision, not for {action.kind!r}."
    elif action.choices is not None and len(action.choices) < 2:  # noqa: PLR2004 - else there is nothing to choose
        field, problem = "choices", "choices are two at least."
    if problem:
        raise ValidationFailed(
            problem,
            hint=f"{next_call('request_human', kind='login', message='...')}; "
            f"{next_call('request_human', request_id='...')} reads on.",
            details=of_field(field),
        )


def origin_of(url: str) -> str:
    """`https://example.com`, or nothing where the URL is of no site."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} and parts.netloc else ""

"""Why a person has a page, above all leases: an agent requested it, or the person took it."""

from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.people import RequestHuman
from browse_together.contract.actions.traits import Effect
from browse_together.contract.calls import Call, ClientRef
from browse_together.contract.errors import HumanInControl
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import HumanRequestState
from browser_service.rules.leases import Lease
from browser_service.rules.window import Clock

STAYS_S = 1_800.0
"""How long a person who gives no sign of presence keeps a page."""

State = Literal["pending", "done", "refused", "expired", "withdrawn", "closed"]


class HeldPage(Protocol):
    """A page that a person may have in hand, above its lease."""

    person: "HumanRequest | None"
    awaits_tab: bool
    """True while it only stands for a tab that an agent asked a person for."""

    @property
    def page_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    @property
    def url(self) -> str: ...

    @property
    def lease(self) -> Lease | None: ...

    def private_from(self, client_id: str) -> bool: ...

    def give_to_person(self, request: "HumanRequest") -> None: ...

    def return_from_person(self) -> None:
        """Return the page to its holder."""


class Waiter(NamedTuple):
    """A call that waits for the person's answer."""

    call: Call
    wake: Callable[[], None]


class HumanRequest:
    """A request to a person, by one agent or by several that met the same login; or a hold, which nobody requested."""

    def __init__(self, question: HumanRequestState, asker_id: str | None, here: str, clock: Clock) -> None:
        self.question = question
        self.origins = {question.origin, here} - {""}
        self.askers = {} if asker_id is None else {asker_id: question.asked_by}
        self.pages: list[HeldPage] = []
        self.waiters: list[Waiter] = []
        self.is_put = False
        """Whether the person was asked; another question on that page may come first."""
        self.state: State = "pending"
        self.text = ""
        self.by = "A person"
        self.seen_at = clock()
        self._clock = clock
        self._began = self.seen_at - question.asked_ago_ms / 1000

    @property
    def over(self) -> bool:
        return self.state != "pending"

    @property
    def waiting(self) -> Counter[str]:
        """Return how many calls of each client wait for the answer."""
        return Counter(waiter.call.client_id for waiter in self.waiters)

    @property
    def left_s(self) -> float:
        """Return the seconds until the person counts as gone, unless they give a sign of presence."""
        return self.seen_at + STAYS_S - self._clock()

    @property
    def private(self) -> bool:
        """Return whether nobody else may read the page meanwhile: a password or code may be on it, or it is not there
        yet."""
        return self.question.kind in {"login", "code", "tab", "taken"}

    @property
    def asker_id(self) -> str | None:
        """Return the client that asked first. Only it gets the person's words, and its chat may answer. A hold has
        none."""
        return next(iter(self.askers), None)

    def to_state(self) -> HumanRequestState:
        """Return the request's current state, for others to read."""
        first, *joined = self.askers.values() or [self.question.asked_by]
        ago = round((self._clock() - self._began) * 1000)
        return self.question.model_copy(update={"asked_ago_ms": ago, "asked_by": first, "joined_by": joined})

    def rename(self, client: ClientRef) -> None:
        if client.client_id in self.askers:
            self.askers[client.client_id] = client.label

    def note_presence(self) -> None:
        self.seen_at = self._clock()

    def cover(self, page: HeldPage) -> None:
        """Give the person a page to work on: the request's own, or a popup of it."""
        self.pages.append(page)
        self.is_put = True
        page.give_to_person(self)

    def joins(self, client_id: str, kind: str) -> bool:
        """Return whether a client may wait for the answer. A login serves all who met it; any other answer serves those
        who asked."""
        return client_id in self.askers or self.question.kind == kind == "login"

    def is_same(self, action: RequestHuman) -> bool:
        """Return whether the action asks for the same, perhaps in other words. Two decisions are two questions."""
        same_words = (action.message, action.choices or []) == (self.question.message, self.question.choices)
        return self.question.kind == action.kind and (action.kind in {"login", "code"} or same_words)

    def check(self, page: HeldPage, call: Call, action: Action) -> None:
        """Raise HumanInControl if the action is not allowed while a person has the page."""
        asked = action.asks_person
        if asked is not None and (asked.request_id or self.joins(call.client_id, asked.kind)):
            return
        if action.effect is Effect.READS and not self.private:
            return
        question = self.to_state()
        why = f'"{question.asked_by}" asked for {question.what}'
        if question.is_hold:
            did = "stopped what was done there" if question.kind == "stopped" else "took it over"
            why = f'"{question.asked_by}" {did}'
        raise HumanInControl(
            f'"{page.page_id}" is in a person\'s hands: {why} {question.asked_ago_ms // 1000} s ago. '
            f"{action.name()} did not happen.",
            hint=self.next_for(page, call.client_id),
            details={
                "context": {"pageId": page.page_id, "requestId": question.request_id, "askedBy": question.asked_by}
            },
        )

    def reply_to(self, client_id: str, page: HeldPage) -> Json:
        """Return the reply for one of the clients that asked. Only the first gets the person's own words."""
        page_id, current = page.page_id, page.person
        request_id = self.question.request_id
        waiting = next_call("request_human", page_id=page_id, request_id=request_id)
        if self.state == "pending" and not self.is_put:
            is_own = current is not None and client_id in current.askers
            first = f", {current.question.request_id} of yours," if current is not None and is_own else ""
            line = f"The person has another question first{first} and is asked this one after it. Wait on: {waiting}."
        elif self.state == "pending" and self.question.is_hold:
            line = f"The person still has {page_id}. Wait on: {waiting}. Meanwhile other pages are yours to work in."
        elif self.state == "pending":
            names = ", ".join(page.page_id for page in self.pages if not page.private_from(client_id))
            line = (
                f"No person has answered yet; {names or 'the page'} stays in their hands. "
                f"Wait on: {waiting}. Meanwhile other pages are yours to work in; "
                f"give it up: {next_call('request_human', page_id=page_id, request_id=request_id, withdraw=True)}."
            )
        else:
            line = self.outcome()
        reply: Json = {"requestId": request_id, "state": self.state, "observed": line}
        if self.text and client_id == self.asker_id:
            reply["answer"] = self.text
            heading = "It says" if self.state == "done" else "The reason"
            reply["observed"] = f"{line} {heading}: {self.text}"
        return reply

    def outcome(self) -> str:
        """Word how the request ended, for everybody concerned."""
        if self.question.is_hold:
            page_id = self.question.page_id
            ends = {"expired": f"The person who took {page_id} over has gone", "closed": f"{self.by} closed {page_id}"}
            return f"{ends.get(self.state, f'{self.by} gave {page_id} back')}. Look at it before you go on."
        what, tab = self.question.what, f'shared a tab, which is "{self.question.page_id}"'
        done = {"decision": "decided", "tab": tab}
        texts = {
            "done": f"{self.by} {done.get(self.question.kind, f'says it is done: {what}')}.",
            "refused": f"{self.by} declined: {what}.",
            "expired": f"No person came for {what} in {STAYS_S / 60:.0f} minutes; the page is free again.",
            "closed": f"The page was closed before a person had answered: {what}.",
        }
        return texts.get(self.state, f"Withdrawn: {what}.")

    def next_for(self, page: HeldPage, client_id: str) -> str:
        """Word what a client that is kept off the page should do next."""
        if self.question.is_hold:
            wait = next_call("request_human", page_id=page.page_id, request_id=self.question.request_id)
            return f"Do not repeat it: wait until they give it back, {wait}, and ask in your chat what they want."
        if client_id in self.askers:
            return self.question.next_calls(page.page_id)
        if self.question.kind == "login":
            join = next_call("request_human", page_id=page.page_id, kind="login", message="The same login.")
            return f"Join it, and go on when they have signed in: {join}."
        return f"Own copy, same login: {next_call('open_page', url=page.url)}."

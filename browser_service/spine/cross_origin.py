"""Keeps what a chat reads at one origin of a guarded session from going to another one without a person.

Here it is remembered what each chat read, and a call is told what of it it carries, and from where. Where that would go
is decided by the host (`host/guard_check.py`), at the moment of the act: a page may have moved by then."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar
from urllib.parse import urlsplit

from pydantic import JsonValue

from browser_service.rules.bounded import Bounded
from browser_service.rules.read_texts import MOST_SENT, Found, ReadTexts
from browser_service.security.auth import Identity
from browser_service.security.disguises import squeezed
from browser_service.security.urls import origin_of
from browser_service.sessions.directory import Directory
from browser_service.spine.confirmation import Question
from browser_service.spine.front_call import FrontCall
from browser_service.spine.host_calls import HostTask
from shared.actions.base import Action
from shared.calls import Carried, Guard, Notice, Outcome, ReadElsewhere
from shared.errors import Forbidden

_MOST_CHATS: Final = 500
_MOST_BYTES: Final = 100_000_000
_MOST_FORGOTTEN: Final = 10_000
_MOST_KNOWN: Final = 1_000
_AT_ONCE: Final = 20_000
"""Longer texts are worked on beside the event loop."""
_SHOWN: Final = 24
_NOWHERE: Final = ""
"""Is the origin of what may come from several: it is free at none."""
_UNSENT_NAMES: Final = (
    "action pageId sessionId as selector selectorType target frame expectUrl ifRevision timeout reply waitUntil submit "
    "routeIds scriptIds delay steps clickCount button modifiers position sourcePosition targetPosition x y to by do "
    "state scroll seconds colour pattern patterns resourceTypes duration maxSeconds fps called name"
)
_UNSENT: Final = frozenset(_UNSENT_NAMES.split())
"""Lists the arguments that no page gets, and the numbers of a hand that moves. Every other one is compared."""
_NETLOC: Final = re.compile(r"://(?:[^/?#\\]*@)?([^/?#\\]+)")
_KEY: Final = re.compile(r"^(?:Key|Digit|Numpad)(?=\w$)")
"""Matches what the name of a key has before the letter or digit that it writes."""
_SELECTOR: Final = frozenset({"selector"})
_OURS: Final = frozenset({"pageId", "sessionId", "callId", "artifactId", "cursor", "length", "size", "revision"})

T = TypeVar("T")
Go = Callable[[HostTask], Awaitable[Outcome]]


@dataclass(eq=False)
class CrossOriginGuard:
    """Remembers what the chats read that use guarded sessions. Other chats cost nothing."""

    directory: Directory
    _chats: Bounded[str, ReadTexts] = field(
        default_factory=lambda: Bounded(_MOST_CHATS, weigh=lambda chat: chat.weight, most_weight=_MOST_BYTES)
    )
    _known: Bounded[str, None] = field(default_factory=lambda: Bounded(_MOST_FORGOTTEN))
    """Lists the chats of which something was ever remembered: of one that was forgotten, all may have been read."""

    async def run(self, go: Go, task: HostTask) -> Outcome:
        """Do a task with what its chat read, and note what it reads by it."""
        chat = self._chat(task.caller, task.address.page_id, task.address.session_id)
        if chat is None or task.undo is not None:
            return await go(task)
        parts = [each for each in task.action.every_part() if not each.only_carries]
        here = self._url(task.address.page_id)
        newly = await self._newly_named(chat, parts)
        guard = Guard(known=sorted(chat.named | newly)[:_MOST_KNOWN] if chat.has_read else None)
        tails = chat.tails
        passed_on: list[Found] = []
        for each in parts:
            guard.parts[each.fingerprint()], found = await _about_to_send(chat, each, here)
            passed_on += found
        outcome = await go(replace(task, guard=guard))
        if Question.of(outcome.error) is not None and not task.action.parts():
            chat.take_back(tails)
        else:
            chat.pass_on(passed_on)
        if outcome.error is None:
            chat.named |= newly
        await self._note(chat, task, outcome)
        self._chats[task.caller.client_id] = chat  # weighed anew
        return outcome

    def allow(self, client_id: str, origin: str) -> None:
        """Let a chat act at an origin, as a person said."""
        if chat := self._chats.get(client_id):
            chat.named.add(origin)

    def check_service(self, call: FrontCall) -> None:
        """Raise Forbidden for a session whose options would carry what was read: its proxy would be told."""
        chat = self._chats.get(call.client_id)
        if chat is None or call.caller.operator or not call.action.creates_session or not chat.has_read:
            return
        if chat.found_in([*_texts(call.action)], _NOWHERE):
            raise Forbidden(
                f"{call.action.name()} would carry what this chat read in a guarded session. Nothing was done.",
                hint="Leave proxy, userAgent and the like as they are; the account's owner may set them.",
            )

    def noted(self, call: FrontCall, outcome: Outcome) -> Outcome:
        """Note what a view told of guarded pages: their titles are theirs, and what else may be of any."""
        chat = self._chats.get(call.client_id)
        if chat is not None and chat.has_read and call.action.effect == "reads":
            for page in self.directory.pages():
                if self.directory.sessions.is_guarded(page.session_id):
                    chat.note(origin_of(page.url) or _NOWHERE, page.title)
            chat.note(_NOWHERE, "\n".join(_strings(outcome.result)))
        return outcome

    def note_notices(self, caller: Identity, notices: Iterable[Notice]) -> None:
        """Note what a chat is told of its pages besides its replies."""
        chat = self._chats.get(caller.client_id)
        if chat is not None:
            for notice in notices:
                chat.note(origin_of(self._url(notice.page_id)) or _NOWHERE, notice.text)

    def _chat(self, caller: Identity, page_id: str | None, session_id: str | None) -> ReadTexts | None:
        """Return what the chat read; None for a person, and for a chat that has used no guarded session."""
        if caller.operator:
            return None
        chat = self._chats.get(caller.client_id)
        if chat is None:
            page = self.directory.get(page_id)
            is_guarded = self.directory.sessions.is_guarded(page.session_id if page else session_id)
            if not is_guarded and caller.client_id not in self._known:
                return None
            chat = ReadTexts(unkept={_NOWHERE} if caller.client_id in self._known else set())
            self._chats[caller.client_id] = chat
            self._known[caller.client_id] = None
        return chat

    def _url(self, page_id: str | None) -> str:
        page = self.directory.get(page_id)
        return page.url if page else ""

    async def _newly_named(self, chat: ReadTexts, parts: Sequence[Action]) -> set[str]:
        """Return the origins that the chat names before any page did. To look for them in all that was read takes long
        enough to leave the event loop."""
        urls = [url for each in parts if (each.navigates or each.from_page) and (url := each.requested_url)]
        if all((origin_of(url) or "") in chat.named | {""} for url in urls):
            return set()

        def named() -> set[str]:
            return {origin for url in urls if (origin := _newly_named(chat, url))}

        return await asyncio.to_thread(named) if chat.has_read else named()

    async def _note(self, chat: ReadTexts, task: HostTask, outcome: Outcome) -> None:
        """Note what the outcome tells, where the session is guarded and its words are not a person's."""
        page, action = outcome.page, task.action
        session_id = page.session_id if page else task.address.session_id
        if action.waits_for_person or Question.of(outcome.error) is not None:
            return  # the words of a person, and of our own question, which names what was read elsewhere
        if not self.directory.sessions.is_guarded(session_id):
            return
        error = [outcome.error.message, outcome.error.hint or ""] if outcome.error else []
        shown = [page.title, page.url, page.dialog or ""] if page else []
        texts = [*_strings(outcome.result), *error, *shown, *(notice.text for notice in outcome.notices)]
        if page is None:
            origin = _NOWHERE
        else:
            origin = _origin_read(action, outcome.url_before, page.url)
            if not chat.has_read and origin:
                chat.named.add(origin)  # nothing could have led there
        echoed = squeezed(" ".join(_leaves(task.action.wire_body())))
        await _off_loop(texts, lambda: chat.note(origin, "\n".join(filter(None, texts)), echoed))
        if outcome.result is not None and "artifact" in outcome.result:
            chat.unkept.add(origin)


async def _off_loop(texts: list[str], work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work) if sum(map(len, texts)) > _AT_ONCE else work()


def _newly_named(chat: ReadTexts, url: str) -> str:
    """Return the origin of a URL that the chat names before any page did; empty if it is none."""
    origin = origin_of(url)
    if not origin or origin in chat.named:
        return ""
    as_given = _NETLOC.search(url)
    hosts = {urlsplit(origin).netloc, *([as_given[1].casefold()] if as_given else [])}
    return "" if any(map(chat.has_mentioned, hosts)) else origin


async def _about_to_send(chat: ReadTexts, action: Action, here: str) -> tuple[Carried, list[Found]]:
    """Say what of an action was read, and remember what it sends: what follows may be the rest of it."""
    if not action.gives:
        return Carried(), []
    towards, texts = origin_of(action.requested_url or here, here) or here, [*_texts(action)]
    carried, found = await _off_loop(texts, lambda: _carried(chat, action, towards, texts))
    chat.sent((text for text in texts if len(text) <= MOST_SENT), towards)
    return carried, [] if carried.shown else found


def _carried(chat: ReadTexts, action: Action, towards: str, texts: list[str]) -> tuple[Carried, list[Found]]:
    """Say what of an action was read, and where."""
    if not chat.has_read:
        return Carried(), []
    url = action.requested_url or ""
    netloc = urlsplit(towards).netloc if towards in chat.named else ""
    compared = [text.replace(netloc, "", 1) if netloc and text == url else text for text in texts]
    is_long = any(len(text) > MOST_SENT for text in texts)
    found = [] if is_long else chat.found_in(compared, towards)
    read = [ReadElsewhere(what=each.shown[:_SHOWN], origins=sorted(each.origins)) for each in found]
    opaque = action.uncompared or ("a text that is too long to be compared" if is_long else "")
    if action.navigates and url.strip()[:5].lower() == "data:":
        opaque = "a document of the agent's"
    shown = bool(url) and chat.has_shown(url) and not chat.has_made(url, found)
    return Carried(read=read, opaque=opaque, shown=shown, only_url=texts == [url]), found


def _origin_read(action: Action, before: str | None, after: str) -> str:
    """Return the origin at which an outcome was read; that it is none where there may be several."""
    moves = [at for at, part in enumerate(action.parts()) if part.navigates]
    if moves and moves != [0]:
        return _NOWHERE
    is_new = before is None or action.navigates or bool(moves)
    return origin_of(after if is_new else before or "") or _NOWHERE


def _texts(action: Action) -> Iterator[str]:
    """Yield the texts that an action sends, as far as it says so itself."""
    if key := action.requested_key:
        sign = _KEY.sub("", key.rpartition("+")[2])
        yield sign if len(sign) == 1 else ""
        return
    unsent = _UNSENT | action.unsent_fields | {*action.part_fields}
    for name, value in action.wire_body().items():
        if name not in unsent:
            yield from _leaves(value, _SELECTOR)


def _leaves(value: JsonValue, besides: frozenset[str] = frozenset()) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name not in besides:
                yield "" if name == "value" else name  # what stands between two values is no part of what they say
                yield from _leaves(each, besides)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, besides)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _strings(value: JsonValue) -> Iterator[str]:
    """Yield the texts of a result that may be a page's."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name not in _OURS:
                yield name
                yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)

"""Keeps a chat from carrying what it read at one site of a guarded session to another site, unless a person agrees.

Only origins count, not texts: anything that a chat sends to B after reading A may come from A, in any words. The host
finds out where an act leads (`host/stages/guard.py`) at the moment of the act, because the page may have moved by
then."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.actions.traits import Effect, Scope
from browse_together.contract.calls import SEVERAL, Guard, Outcome, Pair
from browse_together.contract.errors import Forbidden
from browser_service.rules.bounded import Bounded
from browser_service.security.auth import Identity
from browser_service.security.urls import origin_of
from browser_service.sessions.directory import Directory
from browser_service.spine.call import FrontCall

_BLANK: Final = ("about:", "chrome-error:")
_MOST_CHATS: Final = 2_000
_MOST_ORIGINS: Final = 200
_MOST_ANSWERS: Final = 500


@dataclass(eq=False)
class _Chat:
    """The origins that one chat read, and what a person answered about pairs of them."""

    read: set[str] = field(default_factory=set)
    answers: Bounded[Pair, bool] = field(default_factory=lambda: Bounded(_MOST_ANSWERS))

    def note(self, urls: Iterable[str]) -> None:
        for url in urls:
            if url and not url.startswith(_BLANK):
                origin = origin_of(url.removeprefix("blob:")) or SEVERAL
                self.read.add(origin if len(self.read) < _MOST_ORIGINS else SEVERAL)


@dataclass(eq=False)
class CrossOriginGuard:
    """The origins that chats with guarded sessions have read. Other chats cost nothing."""

    directory: Directory
    downloaded: Callable[[str], Iterable[str]]
    """Returns the URLs of a client's downloads, because it may have read the files."""
    _chats: Bounded[str, _Chat] = field(default_factory=lambda: Bounded(_MOST_CHATS))

    def chat_of(self, call: FrontCall) -> _Chat | None:
        """Return the chat of a call, which the call gets with the origins that it has read; None if nothing of it is
        guarded."""
        client_id, page = call.client_id, self.directory.get(call.address.page_id)
        chat = self._chats.get(client_id)
        if chat is None and self._is_guarded(page.session_id if page else call.address.session_id):
            chat = _Chat()
        if chat is None or call.caller.operator:
            return None
        self._chats[client_id] = chat  # the newest
        chat.note(self.downloaded(client_id))
        allowed = [pair for pair, allows in chat.answers.items() if allows]
        call.guard = Guard(read=sorted(chat.read), allowed=allowed)
        return chat

    def note_read(self, call: FrontCall, chat: _Chat, outcome: Outcome) -> None:
        """Note the origins that a call read."""
        if self._is_guarded(outcome.page.session_id if outcome.page else call.address.session_id):
            chat.note(outcome.read_at)
            chat.note([outcome.page.url] if outcome.page else [])
            if call.action.scope is Scope.SESSION and call.action.effect is Effect.READS:
                chat.read.add(SEVERAL)  # the cookies of any site

    def note_pages(self, caller: Identity, page_ids: Iterable[str | None]) -> None:
        """Note that a chat saw something of these pages besides the replies to calls on them."""
        pages = [page for page_id in page_ids if (page := self.directory.get(page_id))]
        urls = [page.url for page in pages if self._is_guarded(page.session_id)]
        if urls and not caller.operator:
            self._chats.setdefault(caller.client_id, _Chat()).note(urls)

    def note_listed(self, call: FrontCall, outcome: Outcome) -> None:
        """Note the guarded pages that a listing mentions, because it shows their titles."""
        guarded = [page.page_id for page in self.directory.pages() if self._is_guarded(page.session_id)]
        if guarded and call.action.effect is Effect.READS:
            told = json.dumps(outcome.result)
            self.note_pages(call.caller, [page_id for page_id in guarded if json.dumps(page_id) in told])

    def check_service(self, call: FrontCall) -> None:
        """Raise Forbidden for session options that could tell sites what was read, because nobody can be asked about
        them."""
        chat = self._chats.get(call.client_id)
        if chat is not None and chat.read and call.action.sends_anywhere and not call.caller.operator:
            raise Forbidden(
                f"{call.action.name()} could carry what this chat read in a guarded session. Nothing was done.",
                hint="Leave proxy, userAgent and locale as they are; the account's owner may set them.",
            )

    def refused(self, client_id: str, pairs: Iterable[Pair]) -> bool:
        chat = self._chats.get(client_id)
        return chat is not None and any(chat.answers.get(pair) is False for pair in pairs)

    def keep(self, client_id: str, pairs: Iterable[Pair], *, allowed: bool) -> None:
        """Remember what a person answered about these pairs."""
        if chat := self._chats.get(client_id):
            for pair in pairs:
                chat.answers[pair] = allowed

    def _is_guarded(self, session_id: str | None) -> bool:
        return self.directory.sessions.is_guarded(session_id)

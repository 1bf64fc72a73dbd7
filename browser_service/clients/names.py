"""Names the chats: by what they call themselves, or as a person does, and never two alike."""

import time
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import structlog

from browse_together.contract.background import Background
from browse_together.contract.errors import JournalFailed, ValidationFailed, field_details
from browse_together.contract.wire import UNNAMED
from browse_together.contract.words import quotable
from browser_service.clients.presence import handle_of
from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock
from browser_service.security.auth import Identity
from browser_service.store.tables import MOST_NAMED, ChatName, NameTable

_KEPT_S: Final = 86_400.0
"""How long a chat that acted, and is away, keeps its name from others."""
_ARRIVES_WITHIN_S: Final = 60.0
_WRITTEN_EVERY_S: Final = 3_600.0
_MOST_CHARACTERS: Final = 60
_MOST_LISTED: Final = 10

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Names:
    """One name a chat, kept for its id over restarts of the chat and of the service.

    The second chat that calls itself the same gets a number. A name that a person gave is kept for good; another goes
    to whoever asks for it once its chat was away for a day, or never did anything."""

    table: NameTable
    there: Callable[[], Collection[str]]
    """Returns the ids of the clients that are present or hold a page."""
    clock: Clock = time.time
    _names: Bounded[str, ChatName] = field(default_factory=lambda: Bounded(MOST_NAMED))
    _written: dict[str, float] = field(default_factory=dict)
    """When the name of each client that acted was written down."""
    _writing: Background = field(default_factory=Background)

    async def open(self) -> None:
        self._names.update(await self.table.all())
        self._written = {client_id: known.at for client_id, known in self._names.items()}

    async def close(self) -> None:
        await self._writing.finish()

    def named(self, client: Identity) -> Identity:
        """Return an agent under its name. People keep theirs."""
        if client.operator or client.looks_on or not client.label:
            return client
        name = self.of(client.client_id, client.label)
        return client if name == client.label else client.model_copy(update={"label": name})

    def of(self, client_id: str, label: str) -> str:
        """Return a client's name, and give it one first if it has none, or calls itself otherwise than before."""
        known, now = self._names.get(client_id), self.clock()
        if known is None or not (known.given or label in {known.label, UNNAMED}):
            known = ChatName(label, self._free(label, client_id), given=False, at=now)
            self._written.pop(client_id, None)
        self._names[client_id] = known._replace(at=now)  # the latest: who is there is forgotten last
        return known.name

    def alike(self, client_id: str, other_id: str) -> bool:
        """Return whether two chats call themselves the same, so that one may go on with what the other left."""
        one, other = self._names.get(client_id), self._names.get(other_id)
        return client_id == other_id or (one is not None and other is not None and one.label == other.label)

    def find(self, text: str) -> tuple[str, str]:
        """Return id and name of the client with this name, handle or id. Raises ValidationFailed."""
        for client_id, known in self._names.items():
            if text in {client_id, handle_of(client_id)} or _looks(known.name) == _looks(text):
                return client_id, known.name
        names = ", ".join(repr(known.name) for known in [*self._names.values()][-_MOST_LISTED:]) or "none"
        raise ValidationFailed(
            f"No client is called {text[:80]!r}.", hint=f"Known: {names}.", details=field_details("client")
        )

    async def give(self, client_id: str, name: str) -> str:
        """Give a client a name of a person's choice, and return it as it is now. Raises ValidationFailed."""
        name = quotable(" ".join(name.split()))
        if not 0 < len(name) <= _MOST_CHARACTERS:
            problem = f"A name has 1 to {_MOST_CHARACTERS} characters."
            raise ValidationFailed(problem, details=field_details("name"))
        if _looks(name) in self._kept(client_id):
            raise ValidationFailed(f"Another is called {name!r} already.", details=field_details("name"))
        self._take(name, client_id)
        known = self._names[client_id] = self._names[client_id]._replace(name=name, given=True, at=self.clock())
        self._written[client_id] = known.at
        await self.table.keep(client_id, known)
        return name

    def note_act(self, client_id: str) -> None:
        """Keep the name of a client that does something."""
        known, now = self._names.get(client_id), self.clock()
        if known is not None and now - self._written.get(client_id, 0) > _WRITTEN_EVERY_S:
            self._written[client_id] = now
            self._writing.spawn(self._write(client_id, known))

    async def forget(self, client_ids: Collection[str]) -> None:
        for each in client_ids:
            self._drop(each)
        await self.close()  # else what is being written would come after
        await self.table.forget(client_ids)

    async def write_down(self) -> None:
        for client_id in self._written.keys() & self._names.keys():
            await self.table.keep(client_id, self._names[client_id])

    def _free(self, label: str, client_id: str) -> str:
        """Return the label, or with the first number that makes it another than all that are kept. Who loses the
        name gets another when it comes again."""
        kept = self._kept(client_id)
        names = (label if number == 1 else f"{label} {number}" for number in count(1))
        name = next(name for name in names if _looks(name) not in kept)
        self._take(name, client_id)
        return name

    def _kept(self, client_id: str) -> set[str]:
        """Return how the names look that others keep."""
        there, now = {*self.there()}, self.clock()
        return {
            _looks(known.name)
            for each, known in self._names.items()
            if each != client_id
            and (
                known.given
                or each in there
                or now - known.at < (_KEPT_S if each in self._written else _ARRIVES_WITHIN_S)
            )
        }

    def _take(self, name: str, client_id: str) -> None:
        """Take a name from others who had it, and keep it no longer."""
        for each in [each for each, known in self._names.items() if _looks(known.name) == _looks(name)]:
            if each != client_id:
                self._drop(each)

    def _drop(self, client_id: str) -> None:
        self._names.pop(client_id, None)
        self._written.pop(client_id, None)

    async def _write(self, client_id: str, known: ChatName) -> None:
        try:
            await self.table.keep(client_id, known)
        except JournalFailed as error:
            log.warning("a client's name cannot be written", reason=str(error))


def _looks(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()

"""Deals out the colours of owners."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import structlog

from browse_together.contract.background import Background
from browse_together.contract.colours import COLOURS
from browse_together.contract.errors import JournalFailed
from browser_service.rules.bounded import Bounded
from browser_service.store.tables import MOST_DEALT, ColourTable, Dealt

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Colours:
    """One colour an owner, kept for its name over restarts of chats and of the service.

    No two owners that are there share one while there are others. A chat gets the colour that a chat of its name had
    before, unless somebody there has it."""

    table: ColourTable
    there: Callable[[], Collection[str]]
    """Returns the ids of the clients that are present or hold a page."""
    _dealt: Bounded[str, Dealt] = field(default_factory=lambda: Bounded(MOST_DEALT))
    _writing: Background = field(default_factory=Background)

    async def open(self) -> None:
        self._dealt.update({key: each for key, each in (await self.table.all()).items() if each.colour in COLOURS})

    async def close(self) -> None:
        await self._writing.finish()

    def known(self, client_id: str) -> str | None:
        """Return the colour that a client was dealt, if any."""
        dealt = self._dealt.get(client_id)
        return dealt.colour if dealt is not None else None

    def of(self, client_id: str, label: str) -> str:
        """Return a client's colour, and deal it one first if it has none."""
        if (former := self._dealt.get(client_id)) is not None:
            self._dealt[client_id] = former  # the latest: who is there is forgotten last
            return former.colour
        dealt = self._dealt[client_id] = Dealt(label, self._deal(label))
        self._writing.spawn(self._write(client_id, dealt))
        return dealt.colour

    async def forget(self, client_ids: Collection[str]) -> None:
        for each in client_ids:
            self._dealt.pop(each, None)
        await self.close()  # else what is being written would come after
        await self.table.forget(client_ids)

    async def write_down(self) -> None:
        for client_id, dealt in [*self._dealt.items()]:
            await self.table.keep(client_id, dealt)

    def _deal(self, label: str) -> str:
        there = {*self.there()}
        used = Counter(dealt.colour for client_id, dealt in self._dealt.items() if client_id in there)
        for dealt in reversed([*self._dealt.values()]):
            if label and dealt.label == label and not used[dealt.colour]:
                return dealt.colour
        kept = Counter(dealt.colour for dealt in {*self._dealt.values()})
        return min(COLOURS, key=lambda colour: (used[colour], kept[colour]))

    async def _write(self, client_id: str, dealt: Dealt) -> None:
        try:
            await self.table.keep(client_id, dealt)
        except JournalFailed as error:
            log.warning("an owner's colour cannot be written", reason=str(error))

"""The scripts of a client that run in each document before the document's own. They belong to a pageId or a session,
and each window or context behind it gets them.

A popup starts with a copy of its opener's scripts, maybe only after its first document. A page's scripts end when it
passes to another client, because none of them may run in that client's name.
"""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from playwright.async_api import BrowserContext, Page

from browse_together.contract.errors import ResourceExhausted, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.background import bounded
from browser_service.host.record.record import PageRecord

_MOST: Final = 20
_MOST_CHARACTERS: Final = 300_000
"""The limit for all scripts together, because each frame of each document runs them."""


@dataclass(eq=False)
class InitScripts:
    page: PageRecord | None = None
    """None for a session's."""
    owner: str = ""
    """The id of the client that held the page when they were added."""
    texts: dict[str, str] = field(default_factory=dict)
    _added: dict[str, AsyncExitStack] = field(default_factory=dict)

    @property
    def foreign(self) -> bool:
        """True if a client other than the present holder added them."""
        return bool(self.texts) and self.owner != self._holder_id

    @property
    def _holder_id(self) -> str:
        return self.page.holder_id if self.page is not None else ""

    def inherit(self, opener: "InitScripts") -> None:
        """Copy the scripts of a popup's opener."""
        self.owner, self.texts = opener.owner, {**opener.texts}

    async def attach(self, to: Page | BrowserContext) -> None:
        """Add the scripts to a new Playwright page or context; drop them if another client added them."""
        self._added = {}
        if self.foreign:
            self.texts = {}
        for script_id in self.texts:
            await self._put(to, script_id)

    async def add(self, to: Page | BrowserContext, text: str) -> str:
        """Add a script and return its id. Raises ResourceExhausted if there are too many, or they are too long
        together."""
        if len(self.texts) >= _MOST or sum(map(len, self.texts.values())) + len(text) > _MOST_CHARACTERS:
            raise ResourceExhausted(
                f"At most {_MOST} init scripts are allowed, with {_MOST_CHARACTERS:,} characters together.",
                hint=f"Remove some of them: {next_call('remove_init_scripts', ...)}.",
            )
        script_id = next(name for number in range(1, _MOST + 2) if (name := f"s{number}") not in self.texts)
        self.owner, self.texts[script_id] = self._holder_id, text
        await self._put(to, script_id)
        return script_id

    async def remove(self, script_ids: Iterable[str] | None) -> list[str]:
        """Remove scripts (None: all) and return their ids. Raises ValidationFailed for an unknown id. Do not wait for a
        page that hangs, because its scripts go with its window."""
        removed_ids = [*self.texts] if script_ids is None else [*script_ids]
        if unknown := [script_id for script_id in removed_ids if script_id not in self.texts]:
            raise ValidationFailed(
                f"scriptIds: there is no init script {unknown[0]!r}.",
                hint=f"There are {', '.join(self.texts) or 'none'}: {next_call('list_routes')}.",
                details=field_details("scriptIds"),
            )
        for script_id in removed_ids:
            self.texts.pop(script_id, None)
            if added := self._added.pop(script_id, None):
                await bounded(added.aclose())
        return removed_ids

    def shown(self) -> list[Json]:
        """List the scripts without their text, which may hold secrets."""
        return [{"scriptId": script_id, "characters": len(text)} for script_id, text in self.texts.items()]

    async def _put(self, to: Page | BrowserContext, script_id: str) -> None:
        self._added[script_id] = added = AsyncExitStack()
        await added.enter_async_context(await to.add_init_script(self.texts[script_id]))

"""The scripts of a caller that run in each document before the document's own, kept for a pageId or a session, and
added to each window or context behind it.

A popup starts with a copy of its opener's; its first document may be there before that. What is set for a page ends
when the page passes to another client, in whose name nothing of the other's may run.
"""

from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from playwright.async_api import BrowserContext, Page

from browser_service.host.background import bounded
from shared.errors import ResourceExhausted, ValidationFailed, field_details
from shared.model import Json
from shared.next_calls import next_call

_MOST: Final = 20
_MOST_CHARACTERS: Final = 300_000
"""Bounds all scripts together: each frame of each document runs them."""


def _nobody() -> str:
    return ""


@dataclass(eq=False)
class InitScripts:
    """The init scripts of one page, or of all pages of a session."""

    holder: Callable[[], str] = _nobody
    """Returns the id of the client that holds the page; empty for nobody, and for a session."""
    owner: str = ""
    """The id of the client that held the page when they were added."""
    texts: dict[str, str] = field(default_factory=dict)
    _added: dict[str, AsyncExitStack] = field(default_factory=dict)

    @property
    def foreign(self) -> bool:
        """True if another client than the one that holds the page now added them."""
        return bool(self.texts) and self.owner != self.holder()

    def inherit(self, opener: "InitScripts") -> None:
        """Copy the scripts of the page that opened this popup."""
        self.owner, self.texts = opener.owner, {**opener.texts}

    async def attach(self, to: Page | BrowserContext) -> None:
        """Add the scripts to the Playwright page, or context, that is behind it now."""
        self._added = {}
        if self.foreign:
            self.texts = {}
        for script_id in self.texts:
            await self._put(to, script_id)

    async def add(self, to: Page | BrowserContext, text: str) -> str:
        """Return the new script's id. Raises ResourceExhausted for one too many."""
        if len(self.texts) >= _MOST or sum(map(len, self.texts.values())) + len(text) > _MOST_CHARACTERS:
            raise ResourceExhausted(
                f"At most {_MOST} init scripts are allowed, with {_MOST_CHARACTERS:,} characters together.",
                hint=f"Remove some of them: {next_call('remove_init_scripts', ...)}.",
            )
        script_id = next(name for number in range(1, _MOST + 2) if (name := f"s{number}") not in self.texts)
        self.owner, self.texts[script_id] = self.holder(), text
        await self._put(to, script_id)
        return script_id

    async def remove(self, script_ids: Iterable[str] | None) -> list[str]:
        """Remove scripts, all of them for None; return their ids. Raises ValidationFailed for an unknown id. A page
        that hangs is not waited for, because its scripts go with its window."""
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

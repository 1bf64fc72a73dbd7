"""Our ties to Playwright's pages, which are cut when a person takes a tab back: listeners and CDP sessions."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar, cast
from weakref import WeakSet

from playwright.async_api import BrowserContext, CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost

Heard = Callable[..., object]


class _Emitter(Protocol):
    """A Playwright object that takes listeners by any event's name; its own types list each name."""

    def on(self, event: str, f: Heard) -> object: ...
    def remove_listener(self, event: str, f: Heard) -> object: ...


@dataclass(eq=False)
class _Ties:
    listeners: list[tuple[str, Heard]] = field(default_factory=list)
    sessions: WeakSet[CDPSession] = field(default_factory=WeakSet)
    others: dict[Callable[..., object], object] = field(default_factory=dict)


T = TypeVar("T")
_ENDS_WITHIN_S: Final = 2.0
_KEPT_AS: Final = "_our_ties"


def _ties(page: Page) -> _Ties:
    """Return a page's ties. They are kept on it, because they lead back to it: both are collected together."""
    return cast("_Ties", vars(page).setdefault(_KEPT_AS, _Ties()))


def is_chromium(context: BrowserContext) -> bool:
    return context.browser is not None and context.browser.browser_type.name == "chromium"


def listen(page: Page, event: str, heard: Heard) -> None:
    """Listen to an event of a page, for as long as we may."""
    _ties(page).listeners.append((event, heard))
    cast("_Emitter", page).on(event, heard)


def ignore(page: Page, event: str, heard: Heard) -> None:
    """Listen no more. Ignores a listener that is gone."""
    if (event, heard) in (listeners := _ties(page).listeners):
        listeners.remove((event, heard))
        cast("_Emitter", page).remove_listener(event, heard)


def of(page: Page, make: Callable[[Page], T]) -> T:
    """Return what is made of a page once, and lasts as long as it does."""
    others = _ties(page).others
    return cast("T", others[make] if make in others else others.setdefault(make, make(page)))


async def open_session(page: Page, frame: Frame | None = None) -> CDPSession:
    """Open a CDP session for a page, or for a frame of it with a renderer of its own."""
    session = await page.context.new_cdp_session(frame or page)
    _ties(page).sessions.add(session)
    return session


async def cut(page: Page) -> None:
    """Remove all listeners from a page, and end all sessions with what they set: guards, scripts, emulation."""
    ties = _ties(page)
    for event, heard in [*ties.listeners]:
        ignore(page, event, heard)
    async with AtMost(_ENDS_WITHIN_S):
        await asyncio.gather(*map(_detach, [*ties.sessions]))


async def _detach(session: CDPSession) -> None:
    with contextlib.suppress(PlaywrightError):  # it has ended by itself
        await session.detach()

"""The client for programs with an event loop of their own."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from browse_together.actions import AsyncBrowserActions, AsyncPageActions
from browse_together.calling import Given, R, arguments_of
from browse_together.handles import Client, Handle
from browse_together.results import Answer, PageInfo, Result


class AsyncBrowser(Client, AsyncBrowserActions):
    """The shared browser, as this process uses it, for one event loop. Otherwise as `Browser`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def page(self, page_id: str | None = None, *, session_id: str | None = None) -> "AsyncPage":
        """Return the page of that name, or of a new one. It opens with its first `goto`; one that is open stays as it
        is."""
        return AsyncPage(self, *self._named(page_id, session_id))

    async def pages(self) -> "list[AsyncPage]":
        """Return this client's open pages."""
        listed = await self.list_pages(all=True)
        return [AsyncPage(self, info.page_id, info.session_id, info) for info in listed.yours]

    async def call(self, action: str, arguments: Mapping[str, Any] | None = None) -> Result:  # Any: JSON
        """Call any action, by the names on the wire, as errors name them in `next_calls`."""
        return Result.of(await self.answer(action, arguments or {}))

    async def close(self) -> None:
        """Free what this client holds, and leave. Its pages stay open. A later call comes back."""
        await self._connection.close()

    async def _call(self, action: str, kind: type[R], given: Given) -> R:
        return kind.of(await self.answer(action, arguments_of(given)))

    async def answer(self, action: str, given: Mapping[str, object]) -> Answer:
        """Return the reply to a call, from which its result is made. Raises BrowseError."""
        return await self._connection.call(action, given)


class AsyncPage(Handle, AsyncPageActions):
    """A page of the shared browser."""

    def __init__(
        self, browser: AsyncBrowser, page_id: str, session_id: str | None, info: PageInfo | None = None
    ) -> None:
        super().__init__(page_id, session_id, info)
        self._browser = browser

    async def _call(self, action: str, kind: type[R], given: Given) -> R:
        return kind.of(self._note(await self._browser.answer(action, {**arguments_of(given), **self._address()})))

"""The synchronous client. Its calls run in a thread of its own, so that it works in notebooks and keeps its presence
while the program computes."""

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from browse_together.actions import BrowserActions, PageActions
from browse_together.calling import Given, R, arguments_of
from browse_together.handles import Client, Handle
from browse_together.refusals import BrowseError, Busy, Finished
from browse_together.results import Answer, PageInfo, Result

T = TypeVar("T")


class Browser(Client, BrowserActions):
    """The shared browser, as this process uses it. The service is started if it does not run.

    All Browsers of a process are one client, unless they are given another `client_id`: what one holds, the others may
    use. It can be used by several threads.
    """

    def _prepare(self) -> None:
        self._connection.wait = self._wait
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()
        self._process_id = os.getpid()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def page(self, page_id: str | None = None, *, session_id: str | None = None) -> "Page":
        """Return the page of that name, or of a new one. It opens with its first `goto`; one that is open stays as it
        is."""
        return Page(self, *self._named(page_id, session_id))

    def pages(self) -> "list[Page]":
        """Return this client's open pages."""
        return [Page(self, info.page_id, info.session_id, info) for info in self.list_pages(all=True).yours]

    def call(self, action: str, arguments: Mapping[str, Any] | None = None) -> Result:  # Any: JSON
        """Call any action, by the names on the wire, as errors name them in `next_calls`."""
        return Result.of(self.answer(action, arguments or {}))

    def close(self) -> None:
        """Free what this client holds, and leave. Its pages stay open. A later call comes back."""
        atexit.unregister(self.close)
        loop, self._loop = self._loop, None
        if loop is not None and os.getpid() == self._process_id:
            try:
                _run(loop, self._connection.close())
            finally:
                loop.call_soon_threadsafe(loop.stop)

    def _call(self, action: str, kind: type[R], given: Given) -> R:
        return kind.of(self.answer(action, arguments_of(given)))

    def answer(self, action: str, given: Mapping[str, object]) -> Answer:
        """Return the reply to a call, from which its result is made. Raises BrowseError."""
        return _run(self._running_loop(), self._connection.call(action, given))

    def _wait(self, error: Busy, seconds: int) -> Awaitable[None]:
        _run(self._running_loop(), self._connection.wait_for(error, seconds))
        return Finished()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if os.getpid() != self._process_id:
            raise RuntimeError("This Browser is of the process that forked this one. Make one in this process.")
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=[self._loop], name="browse-together", daemon=True).start()
                atexit.register(self.close)
            return self._loop


class Page(Handle, PageActions):
    """A page of the shared browser. A notebook shows its picture."""

    def __init__(self, browser: Browser, page_id: str, session_id: str | None, info: PageInfo | None = None) -> None:
        super().__init__(page_id, session_id, info)
        self._browser = browser

    def _call(self, action: str, kind: type[R], given: Given) -> R:
        return kind.of(self._note(self._browser.answer(action, {**arguments_of(given), **self._address()})))

    def _repr_png_(self) -> bytes | None:
        try:
            return bytes(self.screenshot())
        except BrowseError:
            return None


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    left = asyncio.all_tasks(loop)  # calls of other threads, which would wait for ever
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.close()


def _run(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> T:  # Any: what nobody sends it
    """Return what a coroutine returns that runs in another thread. Ctrl+C cancels it."""
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise

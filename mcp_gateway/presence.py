"""The one held stream of events: tells the service that this chat is there, and the chat how its calls move."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import ClassVar

import httpx
from pydantic import ConfigDict, ValidationError

from mcp_gateway.convert import Failure
from mcp_gateway.forward import UNREACHED, Service
from mcp_gateway.subscriptions import Subscriptions
from shared.calls import CallState
from shared.errors import ServiceUnavailable
from shared.events import CallMoved, PageMoved
from shared.pages import HumanRequestState
from shared.wire import EVENTS

_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.2, 3.0
_UP_WITHIN_S = 2.0
_SECOND_MS = 1000

Report = Callable[[float, float | None, str], Awaitable[None]]
OnPerson = Callable[[HumanRequestState], None]


class Moved(CallMoved):
    """A call's move as it is streamed; a newer service may say more."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    def __str__(self) -> str:
        if self.state is CallState.QUEUED:
            return f"{_ordinal(self.position)} in the queue" + (f", behind {self.behind}" if self.behind else "")
        if self.request is not None:
            return f"waiting for a person: {self.request.what}"
        return "running" + (f", {self.elapsed_ms // _SECOND_MS} s" if self.elapsed_ms >= _SECOND_MS else "")


class Presence:
    """A call never waits long for it, nor fails because it is down."""

    def __init__(self, service: Service, subscriptions: Subscriptions) -> None:
        self.service = service
        self._subscriptions = subscriptions
        self._watched: dict[str, Callable[[Moved], Awaitable[None]]] = {}
        self._up = asyncio.Event()
        self._tried = asyncio.Event()
        self._wanted = asyncio.Event()

    @property
    def awaits(self) -> bool:
        """Whether a call is under way."""
        return bool(self._watched)

    @contextlib.contextmanager
    def watch(self, call_id: str, report: Report, on_person: OnPerson) -> Iterator[None]:
        """Report a call's moves as progress, meanwhile, and what a person is waited for."""
        steps = 0

        async def tell(moved: Moved) -> None:
            nonlocal steps
            steps += 1
            if moved.request is not None:
                on_person(moved.request)
            await report(steps, None, str(moved))

        self._watched[call_id] = tell
        try:
            yield
        finally:
            del self._watched[call_id]

    async def ready(self) -> None:
        """Wait until the stream is up or has just failed, so that the service knows whose call comes next."""
        if self._up.is_set():
            return
        self._tried.clear()
        self._wanted.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), _UP_WITHIN_S)

    async def hold(self) -> None:
        """Keep the stream up until cancelled, once the service is there."""
        try:
            await self.service.started()
        except ServiceUnavailable as error:
            self._note(error)
        delay = _FIRST_DELAY_S
        while True:
            try:
                await self._listen()
            except httpx.ConnectError as error:
                self._note(self.service.not_running(str(error)))
            except ServiceUnavailable as error:
                self._note(error)
            except UNREACHED:
                pass  # it ended, or was refused: a call tells why
            if self._up.is_set():
                delay = _FIRST_DELAY_S
            self._up.clear()
            self._tried.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), delay)
            self._wanted.clear()
            delay = min(delay * 2, _LONGEST_DELAY_S)

    async def _listen(self) -> None:
        headers = self.service.identity.headers()
        async with self.service.http.stream("GET", EVENTS, headers=headers) as response:
            if response.status_code == HTTPStatus.UNAUTHORIZED:
                self.service.identity.forget()
            response.raise_for_status()
            self._up.set()
            self._tried.set()
            self._note(None)
            await self._subscriptions.lost_sight()
            async for name, data in _events(response.aiter_lines()):
                if name == "call":
                    await self._pass_on(data)
                elif name == "page":
                    await self._page_moved(data)

    def _note(self, error: ServiceUnavailable | None) -> None:
        self.service.faults.note(self.service.identity.client_id, Failure.of(error) if error else None)

    async def _page_moved(self, data: str) -> None:
        with contextlib.suppress(ValidationError):
            await self._subscriptions.moved(PageMoved.model_validate_json(data))

    async def _pass_on(self, data: str) -> None:
        with contextlib.suppress(ValidationError):
            moved = Moved.model_validate_json(data)
            if tell := self._watched.get(moved.call_id):
                await tell(moved)


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    """Server-sent events: their names and data."""
    name, data = "message", list[str]()
    async for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))
        elif not line:
            if data:
                yield name, "\n".join(data)
            name, data = "message", []


def _ordinal(number: int) -> str:
    teens = range(11, 14)
    return f"{number}{'th' if number % 100 in teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"

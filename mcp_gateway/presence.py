"""A chat hears of its calls and pages by the one stream of events that shows it to be there."""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar

from httpx_sse import ServerSentEvent
from pydantic import ConfigDict, ValidationError

from client.events import EventStream
from client.http import ServiceClient
from client.reply import Failure
from mcp_gateway.faults import Faults
from mcp_gateway.subscriptions import Subscriptions
from shared.errors import ServiceUnavailable
from shared.events import CallMoved, PageMoved
from shared.pages import HumanRequestState

Report = Callable[[float, float | None, str], Awaitable[None]]
OnPerson = Callable[[HumanRequestState], None]


class Moved(CallMoved):
    """A call's move may say more than is known here, where the service is newer."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")


class Presence:
    """One chat's presence holds its stream of events, and knows which of its calls are under way."""

    def __init__(self, service: ServiceClient, subscriptions: Subscriptions, faults: Faults) -> None:
        self._stream = EventStream(service, self)
        self._client_id = service.credentials.client_id
        self._subscriptions = subscriptions
        self._faults = faults
        self._watched: dict[str, Callable[[Moved], Awaitable[None]]] = {}
        self.ready, self.hold = self._stream.ready, self._stream.hold

    @property
    def awaits(self) -> bool:
        """Say whether a call is under way."""
        return bool(self._watched)

    @contextlib.contextmanager
    def watch(self, call_id: str, report: Report, on_person: OnPerson) -> Iterator[None]:
        """Report a call's moves as progress while the block lasts, and the requests to a person that it waits for."""
        steps = 0

        async def tell(moved: Moved) -> None:
            nonlocal steps
            steps += 1
            if moved.request is not None:
                on_person(moved.request)
            await report(steps, None, moved.progress)

        self._watched[call_id] = tell
        try:
            yield
        finally:
            del self._watched[call_id]

    async def came_up(self) -> None:
        self._faults.note(self._client_id, None)
        await self._subscriptions.lost_sight()

    async def heard(self, event: ServerSentEvent) -> None:
        with contextlib.suppress(ValidationError):  # of a newer service
            if event.event == "page":
                await self._subscriptions.moved(PageMoved.model_validate_json(event.data))
            elif event.event == "call":
                moved = Moved.model_validate_json(event.data)
                if tell := self._watched.get(moved.call_id):
                    await tell(moved)

    def unreached(self, error: ServiceUnavailable) -> None:
        self._faults.note(self._client_id, Failure.of(error))

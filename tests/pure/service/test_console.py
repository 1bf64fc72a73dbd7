"""Tests that no message of a page that came by itself is lost, or told twice, while we begin to listen."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

import pytest
from playwright.async_api import Page

from browser_service.host.network.tab_events import TabEvents
from browser_service.host.record.console import Console
from tests.pure.service.test_page_record import record
from tests.support.fakes.events import Emitter

pytestmark = pytest.mark.anyio

T = TypeVar("T")


class Message(NamedTuple):
    text: str
    timestamp: float = 0.0
    type: str = "log"
    location: dict[str, str] = {"url": ""}  # noqa: RUF012 - nobody changes it
    args: tuple[object, ...] = ()


class Thrown(NamedTuple):
    message: str
    stack: str = ""
    name: str = ""


class Popup(Emitter):
    """A page that writes as soon as its driver is asked what it has kept, and again before the answer is read."""

    def __init__(self, kept: list[Message], thrown: list[Thrown]) -> None:
        super().__init__()
        self._kept, self._thrown = kept, thrown

    def is_closed(self) -> bool:
        return False

    async def console_messages(self, **_: str) -> list[Message]:
        return self._written("console", self._kept, lambda text: Message(text, timestamp=len(text)))

    async def page_errors(self, **_: str) -> list[Thrown]:
        return self._written("pageerror", self._thrown, Thrown)

    def _written(self, event: str, kept: list[T], made: Callable[[str], T]) -> list[T]:
        self.emit(event, made("asked"))
        answer = [*kept, made("asked")]
        self.emit(event, made("answered"))
        return answer


@pytest.mark.parametrize("earlier", [0, 1, 3])
async def test_what_comes_while_the_earlier_messages_are_taken_is_kept_once(earlier: int) -> None:
    before = [f"before {number}" for number in range(earlier)]
    popup = Popup([Message(text) for text in before], [Thrown(text) for text in before])
    console = Console(record(holder_id="alice"))
    page = cast("Page", popup)
    await console.attach(page, TabEvents(page), came_by_itself=True)
    popup.emit("console", Message("after"))
    popup.emit("pageerror", Thrown("after"))
    for kind in ("log", "exception"):
        told, _, _ = console.read("alice", kinds=[kind], text=None, since=0, limit=99, earlier=True)
        assert [each["text"] for each in told] == [*before, "asked", "answered", "after"]

"""Counts what is sent to Playwright's driver: each message is a way there and back, and a reply may wait for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.async_api import Page

_BESIDE = ("'Browser.getVersion'", "cut(document.title")
"""Messages that are not part of acts: whether the browser answers, and a page's title some time after it came."""


@contextmanager
def messages_of(page: Page) -> Iterator[list[str]]:
    """List the messages that are sent meanwhile, by the names of their methods."""
    names = list[str]()
    with sent_for(page, lambda message: names.append(message["method"])):
        yield names


@contextmanager
def scripts_of(page: Page) -> Iterator[list[str]]:
    """List the functions that Chromium itself is to call meanwhile."""
    sources = list[str]()

    def note(message: dict[str, Any]) -> None:  # Any: JSON
        sent = message["params"].get("params", {})
        sources.extend(sent[key] for key in ("functionDeclaration", "expression") if key in sent)

    with sent_for(page, note):
        yield sources


@contextmanager
def sent_for(page: Page, note: Callable[[dict[str, Any]], None]) -> Iterator[None]:  # Any: JSON
    """Note each message that is sent meanwhile, but those that are asked beside all acts."""
    connection = page._impl_obj._connection  # noqa: SLF001 - Playwright tells it nowhere else
    send = connection.onmessage

    def pass_on(message: dict[str, Any]) -> None:  # Any: JSON
        if not any(words in str(message.get("params")) for words in _BESIDE):
            note(message)
        send(message)

    connection.onmessage = pass_on
    try:
        yield
    finally:
        connection.onmessage = send

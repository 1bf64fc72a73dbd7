"""Counts what is sent to Playwright's driver: each message is a way there and back, and a reply may wait for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.async_api import Page

_BESIDE = ("'Browser.getVersion'", "cut(document.title")
"""Are asked beside all acts: whether the browser answers, and some time after a page came what its title is."""


@contextmanager
def messages_of(page: Page) -> Iterator[list[str]]:
    """List the messages that are sent meanwhile, by the names of their methods."""
    sent = list[str]()
    connection = page._impl_obj._connection  # noqa: SLF001 - Playwright tells it nowhere else
    send = connection.onmessage

    def note(message: dict[str, Any]) -> None:  # Any: JSON
        if not any(words in str(message.get("params")) for words in _BESIDE):
            sent.append(message["method"])
        send(message)

    connection.onmessage = note
    try:
        yield sent
    finally:
        connection.onmessage = send

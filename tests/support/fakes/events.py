"""Emits events by name, as Playwright's objects do."""

from collections import defaultdict
from collections.abc import Callable

Listener = Callable[..., object]


class Emitter:
    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)

    def on(self, event: str, listener: Listener) -> None:
        self._listeners[event].append(listener)

    def once(self, event: str, listener: Listener) -> None:
        def first(*arguments: object) -> None:
            self.remove_listener(event, first)
            listener(*arguments)

        self.on(event, first)

    def remove_listener(self, event: str, listener: Listener) -> None:
        if listener in self._listeners[event]:
            self._listeners[event].remove(listener)

    def emit(self, event: str, *arguments: object) -> bool:
        """Tell who listens; whether anybody does."""
        listeners = [*self._listeners[event]]
        for listener in listeners:
            listener(*arguments)
        return bool(listeners)

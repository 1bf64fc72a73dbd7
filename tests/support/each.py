"""Runs one test for many values, such as all actions: a test each would cost more to plan than to run."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TypeVar

T = TypeVar("T")


def each(values: Mapping[str, T]) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Return a decorator of a test that takes one value; it fails with a group of all that failed, by their names."""

    def decorate(test: Callable[[T], None]) -> Callable[[], None]:
        @wraps(test, updated=())
        def walk() -> None:
            failures = dict[str, Exception]()
            for name, value in values.items():
                try:
                    test(value)
                except Exception as error:  # noqa: BLE001 - each is told, and fails the test
                    error.add_note(f"This was {name}.")
                    failures[name] = error
            if failures:
                raise ExceptionGroup(f"It is not so for {', '.join(failures)}", [*failures.values()])

        vars(walk).pop("__wrapped__")  # else pytest would look there for the names of fixtures
        return walk

    return decorate

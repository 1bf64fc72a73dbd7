"""The bases of the generated classes."""

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeVar

from browse_together.results import Answer


class Made(Protocol):
    """A class of results, which are made of replies."""

    @classmethod
    def of(cls, answer: Answer) -> Self: ...


R = TypeVar("R", bound=Made)
Given = Mapping[str, Any]  # Any: what a method was given
"""The local names of a method, which are its arguments."""


def arguments_of(given: Given) -> dict[str, object]:
    """Return what goes to the service of a method's local names."""
    own = {name: value for name, value in given.items() if name not in {"self", "common"}}
    return {**own, **given.get("common", {})}


class Calling:
    """The base of clients and pages whose calls block."""

    def _call(self, action: str, kind: type[R], given: Given) -> R:
        """Make a call, with the arguments that are not None, and return its result. Raises BrowseError."""
        raise NotImplementedError


class AsyncCalling:
    """The base of clients and pages whose calls are awaited."""

    async def _call(self, action: str, kind: type[R], given: Given) -> R:
        """Make a call, with the arguments that are not None, and return its result. Raises BrowseError."""
        raise NotImplementedError

"""What the generated methods call."""

from typing import Protocol, Self, TypeVar

from browse_together.results import Answer


class Made(Protocol):
    """A class of results, which are made of replies."""

    @classmethod
    def of(cls, answer: Answer) -> Self: ...


R = TypeVar("R", bound=Made)


class Calling:
    """The base of what makes calls, and waits for them."""

    def _call(self, action: str, kind: type[R], /, **given: object) -> R:
        """Make a call, with the arguments that are not None, and return its result. Raises BrowseError."""
        raise NotImplementedError


class AsyncCalling:
    """The base of what makes calls, which are awaited."""

    async def _call(self, action: str, kind: type[R], /, **given: object) -> R:
        """Make a call, with the arguments that are not None, and return its result. Raises BrowseError."""
        raise NotImplementedError

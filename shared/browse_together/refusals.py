"""The bases of all errors. `browse_together.errors` has the errors."""

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, ClassVar, NamedTuple


class NextCall(NamedTuple):
    """A call that an error names: the action, its arguments by their names on the wire, and all of it as Python."""

    action: str
    arguments: dict[str, Any]  # Any: JSON
    code: str

    def __str__(self) -> str:
        return self.code


class Finished(Awaitable[None]):
    """What `wait` of the synchronous client returns: there is nothing left to await."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


class BrowseError(Exception):
    """The base of all errors of the service, and of failures to reach it."""

    code: ClassVar[str] = "INTERNAL_ERROR"

    def __init__(
        self,
        message: str,
        hint: str = "",
        details: dict[str, Any] | None = None,  # Any: JSON
        next_calls: Sequence[NextCall] = (),
        request_id: str = "",
    ) -> None:
        super().__init__(message, hint, details, next_calls, request_id)
        self.message, self.hint = message, hint
        """What went wrong, and what to do about it."""
        self.details = details or {}
        self.next_calls = list(next_calls)
        """The calls that `hint` names."""
        self.request_id = request_id

    def __str__(self) -> str:
        return "\n".join(filter(None, [f"{self.code}: {self.message}", self.hint]))


class Busy(BrowseError):
    """The base of errors that end by waiting: another client, or a person, has what the call needs."""

    waiter: Callable[["Busy", int], Awaitable[None]] | None = None
    """What waits, for the client whose call was refused."""

    def wait(self, seconds: int = 30) -> Awaitable[None]:
        """Wait until it is free, at most `seconds` (1 to 600). A page or a piece of work is this client's then.

        With `AsyncBrowser`, await it. Raises TimedOut or the same error if it does not become free in time.
        """
        if self.waiter is None:
            raise self
        return self.waiter(self, seconds)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), self.args  # another process cannot wait by this one's client

"""What is remembered of those who come and go: of the latest so many, so that it does not grow for ever."""

from typing import TypeVar

Of = TypeVar("Of")


class Latest(dict[str, Of]):
    """By name. Noting a name anew makes it the latest; the oldest are forgotten."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, name: str, noted: Of) -> None:
        self.pop(name, None)
        super().__setitem__(name, noted)
        if len(self) > self._most:
            del self[next(iter(self))]

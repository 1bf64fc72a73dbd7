"""A bounded mapping, so that what is remembered of clients and calls cannot grow without limit."""

import time
from collections.abc import Callable, Iterator, MutableMapping
from math import inf
from typing import TypeVar

from browser_service.rules.window import Clock

K = TypeVar("K")
V = TypeVar("V")


class Bounded(MutableMapping[K, V]):
    """The latest entries: at most `most`, together at most `most_weight`, each for `ttl_s` seconds.

    `weigh` returns the weight of a value, computed when it is set. Setting a key again makes it the latest. The oldest
    entries go first, except those that are `spared`. The latest entry stays for its time, whatever it weighs.
    """

    def __init__(
        self,
        most: int,
        *,
        weigh: Callable[[V], int] | None = None,
        most_weight: int = 0,
        ttl_s: float | None = None,
        spared: Callable[[V], bool] = lambda _: False,
        clock: Clock = time.monotonic,
    ) -> None:
        self._kept: dict[K, tuple[V, int, float]] = {}
        self._weight = 0
        self._most = most
        self._weigh = weigh
        self._most_weight = most_weight
        self._ttl_s = ttl_s
        self._spared = spared
        self._clock = clock

    def __getitem__(self, key: K) -> V:
        return self._kept[key][0]

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def __setitem__(self, key: K, value: V) -> None:
        if key in self._kept:
            self._weight -= self._kept.pop(key)[1]
        weight = self._weigh(value) if self._weigh is not None else 0
        self._kept[key] = (value, weight, self._clock())
        self._weight += weight
        if self._ttl_s is not None or len(self._kept) > self._most or 0 < self._most_weight < self._weight:
            self.trim()

    def __delitem__(self, key: K) -> None:
        self._weight -= self._kept.pop(key)[1]

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, oldest first."""
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """Return the total weight; each entry counts what it weighed when it was set."""
        return self._weight

    def trim(self) -> None:
        """Remove entries beyond the limits or older than `ttl_s`."""
        oldest = -inf if self._ttl_s is None else self._clock() - self._ttl_s
        count, weight, latest, gone = len(self._kept), self._weight, next(reversed(self._kept), None), list[K]()
        for key, (value, its_weight, set_at) in self._kept.items():
            is_over = count > self._most or 0 < self._most_weight < weight
            if set_at >= oldest and (key == latest or not is_over):
                break
            if not self._spared(value):
                count, weight = count - 1, weight - its_weight
                gone.append(key)
        for key in gone:
            del self[key]

"""Remembers what clients filled on a page and did not send, and offers it when the page died.

It lies in memory alone, is bounded, and never has the value of a secret.
"""

import time
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import JsonValue
from typing_extensions import TypedDict

from browser_service.host.elements.locators import leading_ref
from browser_service.host.scripts import script
from browser_service.rules.bounded import Bounded
from shared.cuts import cut
from shared.model import weight
from shared.next_calls import next_call

FIELD: Final = script("field")
_MOST: Final = 50
_SHOWN: Final = 6
_MOST_WEIGHT: Final = 60_000


class Field(TypedDict):
    """Is what FIELD gives."""

    selector: str
    frame: str | None
    kind: str
    secret: bool
    name: str
    checked: bool
    selected: list[str]
    value: bool | str | list[str] | None
    twins: dict[str, str]
    """For labels that several options have: which of these is selected."""


@dataclass(frozen=True)
class FilledField:
    """Is a field that a client filled; it has no value if that is a secret, or too long to be kept."""

    client_id: str
    selector: str
    frame: str | None
    strict: bool
    kind: str
    name: str
    value: Any  # Any: text, whether it is ticked, or the options chosen
    secret: bool

    @property
    def obstacle(self) -> str:
        """Say why its value has to be given again; "" if it can be filled again by itself."""
        if self.secret:
            return "a secret, which is not kept"
        if self.frame == "":
            return "in a frame that cannot be found again"
        return "too long to be kept" if self.value is None else ""


class FilledFields:
    """Keeps the filled fields of one page."""

    def __init__(self) -> None:
        self._unsent, self._offered, self._left = _fields(), _fields(), _fields()
        self._url = self._left_at = ""
        self.place = ""
        """Where the offered fields were, if the page is to be led there first."""
        self.began_at = time.monotonic()
        """When the page came to the URL that it is at."""

    def note(self, client_id: str, selector: str, frame: str | None, strict: bool, found: Field) -> None:  # noqa: FBT001 - the action's own
        """Note how an act left a field. One that showed a secret once stays secret: pages can show a password."""
        if leading_ref(selector) or (found["kind"] == "tick" and not strict):
            selector, frame, strict = found["selector"], found["frame"], True
        key = (client_id, frame, selector)
        earlier = self._unsent.pop(key, None)
        secret = found["secret"] or (earlier is not None and earlier.secret)
        # our script gives JSON
        value = None if secret or weight(cast("JsonValue", found["value"])) > _MOST_WEIGHT // 4 else found["value"]
        kind, name = found["kind"], found["name"]
        self._unsent[key] = FilledField(client_id, selector, frame, strict, kind, name, value, secret)

    @property
    def has_unsent(self) -> bool:
        """Say if something was filled and not sent yet."""
        return bool(self._unsent)

    def clear(self) -> None:
        """Forget the fields, unless they turn out to be lost: they were sent, or went with their document."""
        if self._unsent:
            self._left, self._left_at, self._unsent = self._unsent, self._url, _fields()
            if self.place == self._url:
                self._offered, self.place = _fields(), ""

    def set_url(self, url: str) -> None:
        """Forget the fields if the page is at another URL; a fragment is no other place."""
        url = url.partition("#")[0]
        if url != self._url:
            self.clear()
            self.began_at = time.monotonic()
            if not self.place:
                self._offered.clear()
        self._url = url

    def offer_all(self) -> None:
        """Offer the fields from now on, because the page died or was left."""
        self._offered.update(self._unsent)
        self._unsent.clear()
        self.place = ""

    def offer_left(self, client_id: str) -> None:
        """Offer what a client had filled in the document before, which the site did not take."""
        mine = [(key, each) for key, each in self._left.items() if each.client_id == client_id]
        if mine:
            self._offered, self._left, self.place = _fields(), _fields(), self._left_at
            self._offered.update(mine)

    def is_at_place(self) -> bool:
        """Say if the page is where the offered fields were."""
        return self.place in {"", self._url}

    def offered(self, client_id: str) -> list[FilledField]:
        """Return the lost fields that a client filled itself."""
        return [field for field in self._offered.values() if field.client_id == client_id]

    def withdraw(self, field: FilledField) -> None:
        """Offer a field no longer."""
        for key in [key for key, each in self._offered.items() if each is field]:
            del self._offered[key]
        self.place = self.place if self._offered else ""

    def offer(self, client_id: str, page_id: str) -> str:
        """Name the call to make; return "" if nothing was lost."""
        fields = self.offered(client_id)
        refillable, to_give_again = [f for f in fields if not f.obstacle], [f for f in fields if f.obstacle]
        lines = []
        if refillable:
            lines.append(f"fill again {_join(refillable)}: {next_call('refill', page_id=page_id)}")
        if to_give_again:
            lines.append(f"to be given again: {_join(to_give_again)}")
        return "; ".join(lines)


def _fields() -> Bounded[tuple[str, str | None, str], FilledField]:
    return Bounded(_MOST, weigh=lambda field: weight(field.value), most_weight=_MOST_WEIGHT)


def _join(fields: list[FilledField]) -> str:
    shown = ", ".join(cut(field.selector, 80) for field in fields[:_SHOWN])
    return shown + (f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else "")

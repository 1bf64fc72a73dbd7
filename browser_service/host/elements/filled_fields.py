"""Remembers what clients filled on a page but did not send, and offers it if the page died. This is limited, kept only
in memory, and contains no values of secrets."""

import time
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import JsonValue
from typing_extensions import TypedDict

from browse_together.contract.cuts import cut, shown_of
from browse_together.contract.model import weight
from browse_together.contract.next_calls import next_call
from browser_service.host.elements.given_words import GivenWords
from browser_service.host.elements.locators import leading_ref
from browser_service.host.scripts import script
from browser_service.rules.bounded import Bounded

FIELD: Final = script("field")
_MOST: Final = 50
_SHOWN: Final = 6
_MOST_WEIGHT: Final = 60_000


class Lasting(TypedDict):
    """The result of the script `lasting`."""

    frame: str
    selectors: list[str]
    alone: bool
    """Whether nothing else there had its role and name."""


class Field(TypedDict):
    """The result of FIELD."""

    selector: str
    frame: str | None
    kind: str
    secret: bool
    name: str
    checked: bool
    selected: list[str]
    labels: list[str]
    """What a person reads of the chosen options."""
    value: bool | str | list[str] | None
    twins: dict[str, str]
    """For labels that several options share: which of these options is selected."""
    lasting: Lasting | None


@dataclass(frozen=True)
class FilledField:
    """A field that a client filled. Without a value it is a secret, or too long to store."""

    client_id: str
    selector: str
    frame: str | None
    strict: bool
    kind: str
    name: str
    value: Any  # Any: text, whether it is ticked, or the chosen options
    secret: bool

    @property
    def obstacle(self) -> str:
        """Return why the client must give its value again; "" if it can be refilled."""
        if self.secret:
            return "a secret, which is not kept"
        if self.frame == "":
            return "in a frame that cannot be found again"
        return "too long to be kept" if self.value is None else ""


class FilledFields:
    def __init__(self) -> None:
        self._unsent, self._offered, self._left = _fields(), _fields(), _fields()
        self.given = GivenWords()
        self._url = self._left_at = ""
        self.place = ""
        """Where the offered fields were, if the page must first go there."""
        self.began_at = time.monotonic()
        """When the page reached its present URL."""

    def note(self, client_id: str, selector: str, frame: str | None, strict: bool, found: Field) -> bool:  # noqa: FBT001 - the action's own
        """Record how an act left a field. Returns whether it is a secret. A field that was one once stays one, because
        a page can make a password visible."""
        if leading_ref(selector) or (found["kind"] == "tick" and not strict):
            selector, frame, strict = found["selector"], found["frame"], True
        key = (client_id, frame, selector)
        earlier = self._unsent.pop(key, None)
        secret = found["secret"] or (earlier is not None and earlier.secret)
        # our script returns JSON
        value = None if secret or weight(cast("JsonValue", found["value"])) > _MOST_WEIGHT // 4 else found["value"]
        kind, name = found["kind"], found["name"]
        if isinstance(value, str | list):
            self.given.note([value] if isinstance(value, str) else [*value, *found["labels"]])
        self._unsent[key] = FilledField(client_id, selector, frame, strict, kind, name, value, secret)
        return secret

    @property
    def has_unsent(self) -> bool:
        """Return whether some fields were filled but not sent."""
        return bool(self._unsent)

    def clear(self) -> None:
        """Clear the fields, because they were sent or their document is gone. They can still be offered if they were
        lost."""
        if self._unsent:
            self._left, self._left_at, self._unsent = self._unsent, self._url, _fields()
            if self.place == self._url:
                self._offered, self.place = _fields(), ""

    def set_url(self, url: str) -> None:
        """Clear the fields if the page is at another URL; a different fragment does not count."""
        url = url.partition("#")[0]
        if url != self._url:
            self.given.note_query(url)
            self.clear()
            self.began_at = time.monotonic()
            if not self.place:
                self._offered.clear()
        self._url = url

    def offer_all(self) -> None:
        """Offer the unsent fields, because the page died or was left."""
        self._offered.update(self._unsent)
        self._unsent.clear()
        self.place = ""

    def offer_left(self, client_id: str) -> None:
        """Offer what a client had filled in the previous document, because the site did not accept it."""
        mine = [(key, each) for key, each in self._left.items() if each.client_id == client_id]
        if mine:
            self._offered, self._left, self.place = _fields(), _fields(), self._left_at
            self._offered.update(mine)

    def is_at_place(self) -> bool:
        """Return whether the page is where the offered fields were."""
        return self.place in {"", self._url}

    def offered(self, client_id: str) -> list[FilledField]:
        """Return the offered fields that the client itself filled."""
        return [field for field in self._offered.values() if field.client_id == client_id]

    def withdraw(self, field: FilledField) -> None:
        """Remove a field from the offer."""
        for key in [key for key, each in self._offered.items() if each is field]:
            del self._offered[key]
        self.place = self.place if self._offered else ""

    def offer(self, client_id: str, page_id: str) -> str:
        """Return the call that refills, and the fields that the client must give again; "" if nothing was lost."""
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
    most = shown_of(len(fields), _SHOWN)
    shown = ", ".join(cut(field.selector, 80) for field in fields[:most])
    return shown + (f" and {len(fields) - most} more" if len(fields) > most else "")

"""Makes one HTML page of past acts, which plays without the service."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import browser_service
from browse_together import contract
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.frames import ActPictures, ShownPicture
from browse_together.contract.model import Json
from browse_together.contract.timestamps import iso
from browse_together.contract.wire import VERSION
from browser_service.observability.search import argument_texts

_HERE: Final = Path(__file__).parent
_LOOKS: Final = Path(browser_service.__file__).parent / "wall" / "static" / "base.css"
"""The wall's style sheet, because a replay looks like the wall."""
_ACTS: Final = Path(contract.__file__).with_name("acts.js")
_AT_ONCE: Final = timedelta(seconds=0.5)
"""An act that begins this soon after another one on its page leaves no time for a picture of that."""
_WITH_ROOM: Final = "browse-together replay --max-mb gives them room"
_UNPICTURED: Final = "Not pictured: acts get pictures while somebody watches or records their page (BROWSE_TIMELINE)"
_OF_OWNER: Final = "Pictures are for the account's owner, and not for a token that was given."
_PART: Final = re.compile(r"\{\{(\w+)\}\}")


class Act(NamedTuple):
    """One act, and its pictures if there are any."""

    record: ActivityRecord
    pictures: ActPictures


class Replay:
    """A page of acts, which are added from the newest on while there is room."""

    def __init__(self, filters: dict[str, str], most_bytes: int, *, more: bool, of_owner: bool = True) -> None:
        """`more` means that older acts match too; `of_owner` allows pictures."""
        self._filters, self._most_bytes, self._more, self._of_owner = filters, most_bytes, more, of_owner
        self._acts: list[Json] = []
        self._images: dict[str, int] = {}
        self._bytes = 0
        self._without_room = 0
        self._no_pictures_before = ""
        self._next: dict[str, tuple[datetime, bool]] = {}
        """By page, when the act added last began, and whether acts were pictured then."""

    @property
    def acts(self) -> int:
        return len(self._acts)

    @property
    def pictures(self) -> int:
        return len(self._images)

    @property
    def has_room(self) -> bool:
        """True while another picture fits."""
        return not self._no_pictures_before

    @property
    def left_out(self) -> list[str]:
        """Return what part of the time span is missing from the page."""
        texts = [] if self._of_owner else [_OF_OWNER]
        if self._no_pictures_before:
            texts.append(f"Pictures until {self._no_pictures_before} are left out: {_WITH_ROOM}.")
        if self._without_room:
            texts.append(f"{self._without_room} older acts are left out: {_WITH_ROOM}.")
        if self._more:
            texts.append("Older acts that match are left out: browse-together replay --limit gives them room.")
        return texts

    def add(self, acts: Iterable[Act]) -> None:
        for act in acts:
            shown = _shown(act.record)
            size = len(json.dumps(shown))
            if self._without_room or self._bytes + size > self._most_bytes:
                self._without_room += 1
                continue
            self._bytes += size
            shown |= self._with_pictures(act)
            shown |= self._followed(act)
            self._acts.append(shown)

    def html(self) -> str:
        """Return the page."""
        style = _LOOKS.read_text("utf-8") + (_HERE / "replay.css").read_text("utf-8")
        program = _ACTS.read_text("utf-8") + (_HERE / "replay.js").read_text("utf-8")
        images = [*self._images]
        about: Json = {
            "filters": {**self._filters},
            "leftOut": [*self.left_out],
            "unpictured": _UNPICTURED if self._of_owner else _OF_OWNER,
            "made": iso(datetime.now(UTC), "seconds"),
            "version": VERSION,
        }
        parts = {
            "csp": _policy(style, program),
            "title": html.escape(self._title),
            "style": style,
            "data": _embedded({"about": about, "acts": [*self._acts[::-1]], "images": [*images]}),
            "program": program,
        }
        return _PART.sub(lambda part: parts[part[1]], (_HERE / "replay.html").read_text("utf-8"))

    @property
    def _title(self) -> str:
        return f"Replay of {self._filters['pageId']}" if "pageId" in self._filters else "Replay"

    def _with_pictures(self, act: Act) -> Json:
        """Return an act's pictures by their places; empty if they do not fit. A picture used twice is in the page
        once."""
        pictures = act.pictures
        both = {"before": pictures.before, "after": pictures.after}
        new = {each.data for each in both.values() if each is not None} - self._images.keys()
        size = sum(map(len, new))
        if size and (not self.has_room or self._bytes + size > self._most_bytes):
            self._no_pictures_before = self._no_pictures_before or act.record.time
            return {"leftOut": True}
        self._bytes += size
        target = pictures.target.model_dump() if pictures.target is not None else None
        shown: Json = {name: self._place(each) for name, each in both.items() if each is not None}
        return {**shown, "target": target, "unseen": pictures.unseen}

    def _followed(self, act: Act) -> Json:
        """Return that an act has no picture because the next one followed at once, if so."""
        record, pictures = act.record, act.pictures
        if record.page_id is None:
            return {}
        ended = datetime.fromisoformat(record.time)
        began, pictured = self._next.get(record.page_id, (ended, False))
        has_own = pictures.after is not None or pictures.unseen is not None
        followed = not has_own and pictured and began - ended <= _AT_ONCE
        self._next[record.page_id] = ended - timedelta(milliseconds=record.duration_ms), has_own or followed
        return {"unseen": "followed"} if followed else {}

    def _place(self, picture: ShownPicture) -> Json:
        place = self._images.setdefault(picture.data, len(self._images))
        return {"image": place, "width": picture.width, "height": picture.height, "time": picture.time}


def _shown(record: ActivityRecord) -> Json:
    facts = record.model_dump(mode="json", exclude_none=True, exclude={"arguments", "call_id"})
    fields = record.arguments.get("fields")
    counted: Json = {"fields": len(fields)} if isinstance(fields, list) else {}
    return {**facts, **counted, "words": " ".join(argument_texts(record.arguments))}


def _embedded(data: Json) -> str:
    """Return data as JSON that cannot end a script element, whatever its texts."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _policy(style: str, program: str) -> str:
    """Return the page's own content policy: it loads nothing, and runs only this style and script."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(program)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

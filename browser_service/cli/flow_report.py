"""Writes the report of a table, and reads it again when the table goes on."""

import csv
import io
import json
import os
import threading
from pathlib import Path
from typing import Final, NamedTuple

from browse_together.contract.cuts import shortened
from browse_together.contract.data_files import draft
from browse_together.contract.model import Json

DIGEST: Final = 16
_COLUMNS: Final = ("row", "status", "detail", "outputs", "call", "values")
_MOST_OUTPUTS: Final = 100_000
"""A reader of CSV takes a cell of 131,072 characters, and the report is read again."""
_MOST_DETAIL: Final = 10_000
_ODD: Final = "replace"
"""How halves of characters are written, which a page may have: by as many characters, so that a cell stays as long."""


class Entry(NamedTuple):
    """A line of the report. A row's last one counts."""

    row: int
    status: str
    """begun, ok, stopped (nothing more is done by itself), or unknown (its effect may have happened)."""
    detail: str
    outputs: str
    call: str
    values: str
    """A digest of the row, by which a changed table is seen."""


class Report:
    """The report of a table: a CSV file. Each line is on the disk before the next step begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last: dict[int, Entry] = {}
        self._lock = threading.Lock()

    def read(self) -> None:
        if self.path.exists():
            with self.path.open(newline="", encoding="utf-8") as file:
                for line in csv.DictReader(file):
                    is_whole = all(line.get(name) is not None for name in _COLUMNS)
                    if (
                        is_whole and line["row"].isdecimal() and len(line["values"]) == DIGEST
                    ):  # a line cut off by a crash has less
                        entry = Entry(int(line["row"]), *(line[name] for name in _COLUMNS[1:]))
                        self.last[entry.row] = entry
        self.rewrite()

    def add(self, entry: Entry) -> None:
        entry = entry._replace(detail=shortened(entry.detail, _MOST_DETAIL))
        with self._lock, self.path.open("a", newline="", encoding="utf-8", errors=_ODD) as file:
            csv.writer(file).writerow(entry)
            file.flush()
            os.fsync(file.fileno())
            self.last[entry.row] = entry

    def rewrite(self) -> None:
        """Write the last line of each row, in order."""
        text = io.StringIO(newline="")
        csv.writer(text).writerows([_COLUMNS, *(self.last[row] for row in sorted(self.last))])
        draft(self.path, text.getvalue().encode(errors=_ODD)).replace(self.path)


def as_cell(outputs: Json) -> str:
    """Return what a row has read as JSON, each value cut to its share of a cell."""
    text = json.dumps(outputs, ensure_ascii=False)
    if len(text) <= _MOST_OUTPUTS:
        return text
    most = _MOST_OUTPUTS // len(outputs) // 2  # in JSON, a character of a text is two at most
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in outputs.items()}
    cut = {name: value if len(texts[name]) <= most else shortened(texts[name], most) for name, value in outputs.items()}
    return json.dumps(cut, ensure_ascii=False)

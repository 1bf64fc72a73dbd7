"""Runs a flow exactly once for each row of a table. The report is written before a row begins, and when it ends."""

import csv
import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO, cast
from uuid import uuid4

from filelock import FileLock, Timeout

from browse_together.contract.errors import (
    BrowseError,
    BrowserCrashed,
    CallNotFound,
    ErrorBody,
    FlowStopped,
    PageNotFound,
    ServiceUnavailable,
    UnknownOutcome,
    ValidationFailed,
)
from browse_together.contract.flows import BEGUN, ENDED, Flow
from browse_together.contract.model import Json
from browser_service.cli.activity import newest
from browser_service.cli.client import Client, error_of
from browser_service.cli.flow_report import DIGEST, Entry, Report, as_cell

_SEPARATORS: Final = ",;\t"
"""What tables of spreadsheets have between cells; the first where there is only one column."""
_BACK_WITHIN_S: Final = 60.0
_LOOK_S: Final = 0.25
_MOST_TRIES: Final = 5
_MOST_ROWS: Final = 100_000
_OF_TROUBLE: Final = frozenset(
    {BrowserCrashed.code, UnknownOutcome.code, PageNotFound.code, ServiceUnavailable.code, "BROWSER_LAUNCH_FAILED"}
)
"""Codes of errors that are no fault of the row or of the site."""


def rows_of(path: Path, flow: Flow, fixed: Json) -> list[Json]:
    """Return the values of each row that has any. Raises ValidationFailed for what cannot be read or is missing, before
    any row is run."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _rows(file, path.name, flow, fixed)
    except UnicodeDecodeError:
        raise ValidationFailed(f"{path.name} is not in UTF-8.", hint="Save it as CSV in UTF-8.") from None
    except csv.Error as error:
        raise ValidationFailed(f"{path.name} is no CSV: {error}.") from None


def _rows(file: TextIO, name: str, flow: Flow, fixed: Json) -> list[Json]:
    header = file.readline()

    def fits(separator: str) -> tuple[int, int]:
        found = next(csv.reader([header], delimiter=separator), [])
        return sum(column in flow.parameters for column in found), len(found)

    separator = max(_SEPARATORS, key=fits)
    file.seek(0)
    reader = csv.DictReader(file, delimiter=separator)
    columns = [*(reader.fieldnames or [])]
    if twice := [column for column in columns if columns.count(column) > 1 and column in flow.parameters]:
        raise ValidationFailed(f"{name} has the column {twice[0]!r} more than once.")
    needed = [name for name, each in flow.parameters.items() if each.default is None and name not in fixed]
    if missing := [name for name in needed if name not in columns]:
        raise ValidationFailed(
            f"{name} has no column {missing[0]!r}; it has {', '.join(map(repr, columns)) or 'none'}.",
            hint=f"Give it one, or the same value for all rows: --value {missing[0]}=...",
        )
    rows: list[Json] = []
    for line in reader:
        if not any(line.values()):
            continue
        if len(rows) == _MOST_ROWS:
            raise ValidationFailed(f"{name} has more than {_MOST_ROWS:,} rows.")
        if None in line:
            raise ValidationFailed(
                f"{name}, line {reader.line_num}: it has more cells than there are columns.",
                hint=f'A cell with {separator!r} in it stands in quotes: "Doe{separator} Ana".',
            )
        given = {name: line[name] for name in columns if name in flow.parameters and line[name] is not None}
        rows.append({**given, **fixed})
        try:
            flow.values_for(rows[-1])
        except ValidationFailed as error:
            raise ValidationFailed(f"{name}, line {reader.line_num}: {error.message}") from None
    return rows


@dataclass(eq=False)
class TableRun:
    """A run of all rows that are not done yet, on several pages at once."""

    flow: str
    rows: list[Json]
    report: Report
    client: Callable[[], Client]
    heal: bool = False
    on_done: Callable[[Entry], None] = lambda _: None
    _left: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, pages: int) -> int:
        """Run the rows, and return how many. Raises ValidationFailed for a report of another table, or one that another
        process writes."""
        lock = FileLock(self.report.path.with_name(f".{self.report.path.name}.lock"))
        try:
            with lock.acquire(timeout=0):
                self.report.read()
                self._check_table()
                self._left = [row for row in range(len(self.rows), 0, -1) if not self._ended(row)]
                count = len(self._left)
                with ThreadPoolExecutor(pages) as pool:
                    for done in [pool.submit(self._work) for _ in range(pages)]:
                        done.result()
                self.report.rewrite()
                return count
        except Timeout:
            raise ValidationFailed(f"Another process is writing {self.report.path}.") from None

    def _check_table(self) -> None:
        for row, entry in self.report.last.items():
            if row > len(self.rows) or entry.values != _digest(self.rows[row - 1]):
                raise ValidationFailed(
                    f"{self.report.path}: row {row} was another when it was run.",
                    hint="Give the changed table a report of its own: --report FILE.",
                )

    def _ended(self, row: int) -> bool:
        return row in self.report.last and self.report.last[row].status != "begun"

    def _work(self) -> None:
        page_id = ""
        while (row := self._next()) is not None:
            try:
                page_id = self._row(row, page_id)
            except ServiceUnavailable:
                raise
            except BrowseError as error:
                page_id = ""
                self._note(self.report.last[row]._replace(status="unknown", detail=error.message))
        if page_id:
            with self.client() as client:
                client.call({"action": "close_page", "pageId": page_id})

    def _next(self) -> int | None:
        with self._lock:
            return self._left.pop() if self._left else None

    def _row(self, row: int, page_id: str) -> str:
        """Run a row until its outcome is known, or known to be unknown. Returns the page that can be used again."""
        before = self.report.last.get(row)
        if before is not None and (entry := self._became_of(before)) is not None:
            self._note(entry)
            return ""
        for _ in range(_MOST_TRIES):
            begun = Entry(row, "begun", "", "", f"flow-{uuid4().hex}", _digest(self.rows[row - 1]))
            self.report.add(begun)
            body: Json = {"action": "run_flow", "name": self.flow, "values": self.rows[row - 1], "heal": self.heal}
            try:
                reply = self._call({**body, **({"pageId": page_id} if page_id else {})}, begun.call)
            except ServiceUnavailable:
                entry = self._became_of(begun)
            else:
                entry = self._outcome(begun, reply)
                page_id = _page_of(reply)
            if entry is not None:
                self._note(entry)
                return page_id if entry.status == "ok" else ""
            page_id = ""
        self._note(begun._replace(status="stopped", detail=f"it did not come to an end in {_MOST_TRIES} tries"))
        return ""

    def _note(self, entry: Entry) -> None:
        self.report.add(entry)
        self.on_done(entry)

    def _call(self, body: Json, call_id: str = "") -> Json:
        with self.client() as client:
            return client.call(body, call_id)

    def _outcome(self, begun: Entry, reply: Json) -> Entry | None:
        """Return the outcome of a run; None if it had no effect and can begin anew."""
        if reply["success"] is True:
            outputs = cast("Json", cast("Json", reply["result"]).get("outputs", {}))  # the service's reply
            return begun._replace(status="ok", outputs=as_cell(outputs) if outputs else "")
        error = error_of(reply)
        facts = cast("Json", error.details.get("context") or {})
        code = str(facts.get("code") or error.code)
        if code in _OF_TROUBLE and error.code == FlowStopped.code:
            if not facts.get("effectsBegun"):
                return None
            if facts.get("onlyReadsLeft"):
                again = self._call({"action": "mend_flow", "name": self.flow})
                return self._outcome(begun, again) if again["success"] is True else _failed(begun, error_of(again))
            return begun._replace(status="unknown", detail=error.message)
        return None if code in _OF_TROUBLE - {UnknownOutcome.code} else _failed(begun, error)

    def _became_of(self, begun: Entry) -> Entry | None:
        """Return the outcome of a run that nobody waited for to its end; None if it had no effect."""
        ends_at = time.monotonic() + _BACK_WITHIN_S
        while True:
            try:
                with self.client() as client:
                    reply = client.call({"action": "get_call", "callId": begun.call, "wait": 20_000})
                    while cast("Json", reply.get("result") or {}).get("stillRunning"):
                        reply = client.call({"action": "get_call", "callId": begun.call, "wait": 20_000})
                    if reply["success"] is True or error_of(reply).code != CallNotFound.code:
                        return self._outcome(begun, reply)
                    records = newest(client, {"actionName": "run_flow", "client": "me"}, sys.maxsize)
                    break
            except ServiceUnavailable:
                if time.monotonic() > ends_at:
                    raise
                time.sleep(_LOOK_S)  # nothing tells when a service is back
        own = [each for each in records if each.call_id == begun.call]
        ended = next((each for each in own if not each.via), None)
        if ended is not None and ended.outcome == "ok":
            return begun._replace(status="ok", detail="its outputs were lost when the service ended")
        if ended is None and any(each.via == ENDED for each in own):
            return begun._replace(status="ok", detail="it was done; what it read then was lost when the service ended")
        if any(each.via == BEGUN for each in own):
            detail = "it was under way when the service ended: look whether it happened"
            return begun._replace(status="unknown", detail=detail)
        return None


def _failed(begun: Entry, error: ErrorBody) -> Entry:
    return begun._replace(status="stopped", detail=f"{error.code}: {error.message}")


def _page_of(reply: Json) -> str:
    result = reply.get("result")
    return str(result.get("pageId", "")) if isinstance(result, dict) else ""


def _digest(values: Json) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:DIGEST]

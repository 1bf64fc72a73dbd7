"""Writes data of a page as CSV for a spreadsheet, and escapes cells that a spreadsheet would run as formulas."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

from pydantic import JsonValue

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json

_FORMULA_STARTS: Final = frozenset("=+-@\N{MINUS SIGN}")
_LINE_BREAKS: Final = frozenset("\t\r\n")
_NUMBER: Final = re.compile(r"[+\-\u2212]?[\d\s.,']+[%€$£¥]?")
"""Takes linear time: no two parts of it match the same character."""


class Csv(NamedTuple):
    text: str
    rows: int
    escaped: int
    """The number of cells that a spreadsheet would have run as formulas. Each begins with an apostrophe now."""

    def facts(self) -> Json:
        """Return the fields that the reply has besides the text."""
        note = f"{self.escaped} cells that a spreadsheet would take for formulas begin with ' here"
        return {"rows": self.rows, **({"formulas": note} if self.escaped else {})}


def from_tables(tables: list[Json]) -> Csv:
    """Write tables whose rows are lists, one below the other, with an empty line between them."""
    lines: list[list[JsonValue]] = []
    count = 0
    for table in tables:
        rows, headers = table["rows"], table["headers"]
        if isinstance(rows, list) and isinstance(headers, list):
            lines += [[]] * bool(lines) + [headers] + [row for row in rows if isinstance(row, list)]
            count += len(rows)
    return _write(lines, count)


def from_data(data: Json) -> Csv:
    """Write the list in the data as rows, or data without a list as one row. Raises ValidationFailed for several
    lists."""
    lists = {name: items for name, items in data.items() if isinstance(items, list)}
    if len(lists) > 1:
        raise ValidationFailed(
            f"schema has several lists, and CSV has one table: {', '.join(lists)}.",
            hint='Ask for one: "schema" with one list, or a second call.',
            details=field_details("format"),
        )
    name, items = next(iter(lists.items()), ("", list[JsonValue]([data])))
    rows = [_flat(item) if isinstance(item, dict) else {name: item} for item in items]
    columns = [*dict.fromkeys(key for row in rows for key in row)]
    return _write([[*columns], *([row.get(key) for key in columns] for row in rows)], len(rows))


def tables_in_brief(tables: list[Json]) -> str:
    """Write tables whose rows are lists, for a model: their captions, headers and rows."""
    parts: list[str] = []
    for table in tables:
        rows, headers = table["rows"], table["headers"]
        if isinstance(rows, list) and isinstance(headers, list):
            hidden = table.get("hiddenRows")
            parts += [f"{table['caption']}:\n" if "caption" in table else ""]
            parts += [_brief([headers, *(row for row in rows if isinstance(row, list))])]
            parts += [f"({hidden} hidden rows left out)\n" if hidden else ""]
            in_all = table.get("rowsInAll")
            parts += [f"(of {in_all} rows in all; scroll the grid for others)\n" if in_all else "", "\n"]
    return "".join(parts).strip()


def data_in_brief(data: Json) -> str:
    """Write data for a model: a line for each field, and lists of objects as tables."""
    parts: list[str] = []
    for name, value in _flat(data).items():
        items = value if isinstance(value, list) else []
        rows = [_flat(item) for item in items if isinstance(item, dict)]
        columns = [*dict.fromkeys(key for row in rows for key in row)]
        if rows and len(rows) == len(items):
            table = _brief([[*columns], *([row.get(key) for key in columns] for row in rows)])
            parts.append(f"{name} ({len(rows)}):\n{table}")
        else:
            parts.append(f"{name}: {_brief([items if isinstance(value, list) else [value]])}")
    return "".join(parts).strip()


def _brief(lines: Iterable[list[JsonValue]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_cell(value) for value in line] for line in lines])
    return out.getvalue()


def _flat(item: Json, prefix: str = "") -> Json:
    """Name nested fields by their path: price.amount."""
    flat: Json = {}
    for key, value in item.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _write(lines: Iterable[list[JsonValue]], rows: int) -> Csv:
    out = io.StringIO()
    writer = csv.writer(out)
    escaped = 0
    for line in lines:
        cells = [_cell(value) for value in line]
        formulas = [_is_formula(cell) for cell in cells]
        escaped += sum(formulas)
        writer.writerow([f"'{cell}" if formula else cell for cell, formula in zip(cells, formulas, strict=True)])
    return Csv(out.getvalue(), rows, escaped)


def _cell(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_formula(cell: str) -> bool:
    """Judge a cell by its first visible character: spreadsheets skip invisible ones and treat a fullwidth character
    like the normal one."""
    visible = (index for index, each in enumerate(cell) if each.isprintable() and not each.isspace())
    start = next(visible, len(cell))
    formula = unicodedata.normalize("NFKC", cell[start : start + 1]) in _FORMULA_STARTS
    return (formula or not _LINE_BREAKS.isdisjoint(cell[:start])) and not _is_number(cell.strip())


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and any(map(str.isdigit, text))

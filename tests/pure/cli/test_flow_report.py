"""Tests that the report of a table takes whatever a row came to, and is read again."""

import csv
import json
from pathlib import Path
from typing import Self

import pytest
from typer.testing import CliRunner

from browse_together.contract.errors import ResourceExhausted
from browse_together.contract.model import Json
from browser_service.cli import flows
from browser_service.cli.client import Client
from browser_service.cli.flow_report import DIGEST, Entry, Report, as_cell
from browser_service.cli.flow_table import TableRun


def entry(detail: str = "", outputs: str = "") -> Entry:
    return Entry(1, "ok", detail, outputs, "call-1", "v" * DIGEST)


@pytest.mark.parametrize("text", ['"\\\n' * 70_000, "x" * 200_000, "\x01" * 50_000])
def test_outputs_that_are_longer_than_a_reader_takes_are_cut_when_they_are_written(tmp_path: Path, text: str) -> None:
    report = Report(tmp_path / "report.csv")
    report.read()
    report.add(entry(outputs=as_cell({"rows": [text], "total": 3})))
    again = Report(report.path)
    again.read()
    outputs = json.loads(again.last[1].outputs)
    assert (outputs["total"], outputs["rows"][:3]) == (3, json.dumps([text])[:3])
    with report.path.open(newline="", encoding="utf-8") as file:
        assert max(len(cell) for line in csv.reader(file) for cell in line) < csv.field_size_limit()


def test_words_that_no_file_takes_as_they_are_end_no_report(tmp_path: Path) -> None:
    report = Report(tmp_path / "report.csv")
    report.read()
    report.add(entry(detail="it said \ud83d and \0" + "long " * 50_000, outputs=as_cell({"text": "\udc00" * 90_000})))
    again = Report(report.path)
    again.read()
    assert again.last[1].detail.startswith("it said ")


def test_lines_that_are_no_rows_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text(f"row,status,detail,outputs,call,values\nsum,ok,,,,{'v' * DIGEST}\n2,ok,,,c,{'v' * DIGEST}\n")
    report = Report(path)
    report.read()
    assert [*report.last] == [2]


class _Particular(Client):
    """A client that cannot make one of the calls."""

    def __init__(self) -> None:
        """Dial no service."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def call(self, body: Json, call_id: str = "") -> Json:  # noqa: ARG002 - the base class has it
        if body.get("values") == {"who": "B"}:
            raise ResourceExhausted("The call is larger than a call may be.")
        return {"success": True, "result": {"pageId": "p", "outputs": {}}}


def test_a_row_that_cannot_be_run_does_not_end_the_table(tmp_path: Path) -> None:
    report = Report(tmp_path / "report.csv")
    rows: list[Json] = [{"who": who} for who in "ABC"]
    assert TableRun("order", rows, report, _Particular).run(pages=1) == 3
    assert [report.last[row].status for row in (1, 2, 3)] == ["ok", "unknown", "ok"]
    assert report.last[2].detail == "The call is larger than a call may be."


def test_the_commands_list_has_the_words_of_flows_in_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_FLOWS_DIR", str(tmp_path))
    words = "Sends it.\\norder  3 steps\\u001b[2J"
    step = '[[steps]]\naction = "goto"\nurl = "https://shop.example"\n'
    (tmp_path / "send.toml").write_text(f'version = 1\nname = "send"\ndescription = "{words}"\n{step}')
    (tmp_path / "bad\nname.toml").write_text("version = 2")
    told = CliRunner().invoke(flows.app, ["flow", "list"], env={"COLUMNS": "300"}).output.splitlines()
    assert told[0].startswith("bad name  0 steps  bad name.toml: version is 2")
    assert told[1:] == ["send  1 steps  'Sends it. order 3 steps[2J'"]

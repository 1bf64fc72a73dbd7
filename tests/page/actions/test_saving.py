"""Tests what is saved: tables as CSV, and files under the names that were asked for."""

import asyncio
import csv
import io
import json

import pytest

from tests.support.files import bytes_of
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def test_a_table_as_csv_is_quoted_and_runs_no_formula(tab: Tab) -> None:
    cells = ["=1+1", "+1 555", "-5.20 €", "@cmd", "-x", 'say "hi", you', "- 3", "&nbsp;=A1", "a\tb"]
    rows = "".join(f"<tr><td>{cell}<td>{number}" for number, cell in enumerate(cells))
    await tab.show(f"<table><tr><th>=Name<th>No{rows}</table>")
    found = await tab.call("extract_table", format="csv")
    read = [*csv.reader(io.StringIO(found["csv"]))]
    assert read[0] == ["'=Name", "No"]
    assert [row[0] for row in read[1:]] == [
        *("'=1+1", "+1 555", "-5.20 €", "'@cmd", "'-x", 'say "hi", you', "- 3", "'=A1", "a b")
    ]
    assert found["formulas"] == "5 cells that a spreadsheet would take for formulas begin with ' here"
    assert (found["rows"], found["count"]) == (9, 1)


async def test_invisible_characters_before_a_formula_do_not_hide_it(tab: Tab) -> None:
    cells = ["\N{FULLWIDTH EQUALS SIGN}1+1", "\N{ZERO WIDTH SPACE}=1+1", "\N{MINUS SIGN}A1", "\N{MINUS SIGN}5", "-"]
    await tab.show("<table><tr><th>Name" + "".join(f"<tr><td>{cell}" for cell in cells) + "</table>")
    found = await tab.call("extract_table", format="csv")
    read = [row[0] for row in csv.reader(io.StringIO(found["csv"]))][1:]
    assert [cell.startswith("'") for cell in read] == [True, True, True, False, True]


async def test_a_long_almost_number_is_recognized_fast(tab: Tab) -> None:
    await tab.show(f"<table><tr><td>-{'1' * 100_000}x</table>")
    async with asyncio.timeout(30):  # it took six minutes, of everybody, where each digit was tried with each
        assert (await tab.call("extract_table", format="csv"))["formulas"].startswith("1 cells")


async def test_a_long_table_is_saved_whole_and_its_head_is_shown(tab: Tab) -> None:
    rows = "".join(f"<tr><td>{number}<td>word {number}" for number in range(2_000))
    await tab.show(f"<table><tr><th>No<th>Word{rows}</table>")
    found = await tab.call("extract_table", format="csv", save=True)
    whole = bytes_of(found["artifact"]).decode()
    assert (found["artifact"]["name"].endswith(".csv"), found["rows"]) == (True, 2_000)
    assert len([*csv.reader(io.StringIO(whole, newline=""))]) == 2_001
    assert whole.startswith(found["csv"])
    assert len(found["csv"]) <= 1_000
    assert found["csv"].endswith("\r\n")
    rest = await tab.call("content", cursor=found["cursor"])
    assert found["csv"] + rest["content"] == whole
    saved = await tab.call("extract_table", save=True)
    assert json.loads(bytes_of(saved["artifact"]))[0]["rows"][1] == {"No": "1", "Word": "word 1"}
    assert saved["tables"].startswith("[")


async def test_data_as_csv_is_the_list_in_it_with_fields_of_fields_by_their_path(tab: Tab) -> None:
    await tab.show(
        "<h1>Teas</h1><div class=c><h2>Sencha</h2><b>4</b><i>a</i><i>b</i></div><div class=c><h2>-Old</h2></div>"
    )
    item = {
        "name": "h2",
        "price": {"fields": {"amount": {"selector": "b", "type": "number"}}},
        "tags": {"selector": "i", "all": True},
    }
    schema = {"items": {"selector": ".c", "all": True, "fields": item}}
    found = await tab.call("extract_data", schema=schema, format="csv")
    assert [*csv.reader(io.StringIO(found["csv"]))] == [
        ["name", "price.amount", "tags"],
        ["Sencha", "4", '["a", "b"]'],
        ["'-Old", "", "[]"],
    ]
    one = await tab.call("extract_data", schema={"title": "h1"}, format="csv", save=True)
    assert bytes_of(one["artifact"]) == b"title\r\nTeas\r\n"
    several = {"a": {"selector": "h2", "all": True}, "b": {"selector": "i", "all": True}}
    error = await tab.error("extract_data", schema=several, format="csv")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "format")
    assert "several lists, and CSV has one table: a, b" in error["message"]


async def test_a_print_and_a_snapshot_are_saved_under_the_name_that_is_asked_for(tab: Tab) -> None:
    await tab.show("<button>Pay</button>" * 200)
    for name in ("printed.pdf", "printed-2.pdf"):
        printed = (await tab.call("generate_pdf", filename="printed.pdf"))["artifact"]
        assert (printed["name"], bytes_of(printed)[:5]) == (name, b"%PDF-")
    seen = await tab.call("snapshot", filename="tree.txt")
    whole = bytes_of(seen["artifact"]).decode()
    assert (seen["artifact"]["name"], whole.count('button "Pay"'), len(whole) == seen["length"]) == (
        "tree.txt",
        200,
        True,
    )
    assert whole.startswith(seen["snapshot"])
    assert len(seen["snapshot"]) <= 1_000
    assert whole == seen["snapshot"] + (await tab.call("snapshot", cursor=seen["cursor"]))["snapshot"]
    for action in ("generate_pdf", "snapshot"):
        error = await tab.error(action, filename="../printed.pdf")
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "filename")
        assert 'give a name, such as "page.pdf"' in error["message"]

"""Tests that the reference page is made from the catalogue, complete and up to date."""

from pathlib import Path

import pytest

from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS, NAMES
from browse_together.contract.errors import every_error
from browse_together.contract.peer_calls import CONVERTED
from browse_together.contract.peers import TOOLS
from browse_together.contract.written import fingerprint
from scripts.lint.sources import CONTRACT
from scripts.reference import files, main
from tests.support.each import each


def written() -> str:
    return files()[f"{CONTRACT}/TOOLS.md"]


def test_a_stale_page_is_noticed_and_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [*files()]
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    for place in places[1:]:  # the first is not there at all
        (tmp_path / place).write_text("of last year\n", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    told = capsys.readouterr().err
    assert [line.split()[0] for line in told.splitlines()] == places
    assert told.count("run make docs") == len(places)
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


@each(ACTIONS)
def test_an_action_has_its_section_with_every_argument(action: type[Action]) -> None:
    _, _, rest = written().partition(f"### {action.title()}: `{action.name()}`\n")
    section = rest.partition("\n## ")[0].partition("\n### ")[0]
    assert action.whole_description() in section
    for field in action.model_fields.keys() - action.common_fields():
        shown = f"| `{action.model_fields[field].alias or field}`"
        assert shown in section or field == "window"


def test_every_name_and_error_and_the_fingerprint_are_there() -> None:
    text = written()
    of_peers = {alias.name for aliases in TOOLS.values() for alias in aliases} | CONVERTED.keys()
    assert all(f"`{name}`" in text for name in NAMES.keys() - of_peers)
    assert all(f"| `{error.code}` | {error.status} |" in text for error in every_error())
    assert f"`{fingerprint()}`" in text


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    for table in written().split("\n\n"):
        if table.startswith("| "):
            assert len({line.replace("\\|", "").count("|") for line in table.splitlines()}) == 1

"""Tests what `make conformance` rests on: exact versions, a reason for each failure that is expected, and Node."""

import json
import re
from pathlib import Path

import pytest
import yaml

from conformance import packages
from conformance.trials import EXPECTED_FAILURES


def test_each_program_of_node_has_an_exact_version() -> None:
    versions = json.loads((packages.FOLDER / "package.json").read_text("utf-8"))["dependencies"].values()
    assert [
        version for version in versions if not re.fullmatch(r"(npm:@[\w/-]+@)?\d+\.\d+\.\d+(-alpha\.\d+)?", version)
    ] == []


def test_each_expected_failure_is_listed_once_below_its_reason() -> None:
    text = EXPECTED_FAILURES.read_text("utf-8")
    listed = yaml.safe_load(text)["server"]
    below_a_reason = re.findall(r"^  # .+\n(?:^  - .+\n)+", text, re.MULTILINE)
    assert listed == [name for part in below_a_reason for name in re.findall(r"^  - (.+)$", part, re.MULTILINE)]
    assert len(listed) == len({*listed})


def test_without_npm_it_fails_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(packages.NotInstalled, match="apt-get install nodejs npm"):
        packages.install()

"""Tests what the smoke of other versions of our libraries runs."""

from pathlib import Path

import pytest

from scripts.libraries import SMOKE

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("file", SMOKE)
def test_each_test_of_the_smoke_is_where_it_is_looked_for(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert [test for test in SMOKE[file] if f"def {test}(" not in text] == []

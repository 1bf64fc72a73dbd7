"""Tests what `make conformance` says without Node."""

from pathlib import Path

import pytest

from conformance import packages


def test_without_npm_it_fails_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(packages.NotInstalled, match="apt-get install nodejs npm"):
        packages.install()

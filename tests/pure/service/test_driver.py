"""Tests that what we change in Playwright's driver is there to be changed: after an update it may be elsewhere."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from browser_service.host.launching import driver
from browser_service.host.launching.driver import SAME_SCRIPT


def test_the_driver_has_each_text_that_is_replaced_in_it_once() -> None:
    node, cli = compute_driver_executable()
    tell = f"JSON.stringify(require({json.dumps(str(SAME_SCRIPT))}).CHANGES)"
    told = subprocess.run([node, "-p", tell], capture_output=True, text=True, check=True, timeout=20)
    source = (Path(cli).parent / "lib" / "coreBundle.js").read_text(encoding="utf-8")
    assert [source.count(text) for text, _ in json.loads(told.stdout)] == [1, 1, 1, 1]


@pytest.mark.parametrize("folder", ["a b", 'a"b', "a\\b", "a'$HOME'b", "a\tb\nc", "ü 漢"])
def test_the_driver_starts_wherever_the_program_lies(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / folder / SAME_SCRIPT.name
    script.parent.mkdir()
    shutil.copy(SAME_SCRIPT, script)
    monkeypatch.setattr(driver, "SAME_SCRIPT", script)
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    driver.economize(tmp_path / "cache")
    command = [compute_driver_executable()[0], "-p", "Object.keys(require.cache)[0] + process.execArgv"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert told.stdout.startswith(str(script))

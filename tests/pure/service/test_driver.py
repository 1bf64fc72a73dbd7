"""Tests that what we change in Playwright's driver is there to be changed: after an update it may be elsewhere."""

import json
import subprocess
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

from browser_service.host.launching.driver import SAME_SCRIPT


def test_the_driver_has_each_text_that_is_replaced_in_it_once() -> None:
    node, cli = compute_driver_executable()
    tell = f"JSON.stringify(require({json.dumps(str(SAME_SCRIPT))}).CHANGES)"
    told = subprocess.run([node, "-p", tell], capture_output=True, text=True, check=True, timeout=20)
    source = (Path(cli).parent / "lib" / "coreBundle.js").read_text(encoding="utf-8")
    assert [source.count(text) for text, _ in json.loads(told.stdout)] == [1, 1]

"""Tests how a link is opened in the person's own browser."""

import html
import os
import subprocess
import sys
from pathlib import Path

from browse_together.contract.data_files import LINK_FILES

_CLICKED_AT_ONCE = """
import sys, threading
from pathlib import Path
from browser_service.opening import open_link
at_once = threading.Barrier(4)
def click(number):
    at_once.wait()
    assert open_link(Path(sys.argv[1]), f"http://127.0.0.1:8888/#key{number}")
for thread in [threading.Thread(target=click, args=(number,)) for number in range(4)]:
    thread.start()
"""


def test_links_that_are_opened_at_once_are_each_opened_by_a_file_of_its_own(tmp_path: Path) -> None:
    """In a process of its own, which looks for its browsers at the first link."""
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" >> {opened}\n')
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(browser), "DISPLAY": ":0"}
    command = [sys.executable, "-c", _CLICKED_AT_ONCE, str(tmp_path)]
    subprocess.run(command, env=environment, check=True, timeout=30)
    files = [Path(url.removeprefix("file://")) for url in opened.read_text("utf-8").split()]
    texts = [html.unescape(file.read_text("utf-8")) for file in files]
    assert sorted(text.partition("#")[2] for text in texts) == [f'key{number}">' for number in range(4)]
    for file in files:
        os.utime(file, (0, 0))
    subprocess.run(command, env=environment, check=True, timeout=30)
    assert len([*tmp_path.glob(LINK_FILES)]) == 4, "those that were read long ago are still there"

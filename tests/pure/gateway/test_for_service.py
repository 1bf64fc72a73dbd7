"""Tests what a service takes on from whoever starts it."""

import time
from pathlib import Path

import pytest

from browse_together.client import caller, instance


def test_a_service_begins_in_the_folder_of_the_chat_that_starts_it_and_without_one_where_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, gone = tmp_path / "theirs", tmp_path / "gone"
    for folder in (theirs, gone):
        folder.mkdir()
    chat = caller.Caller({"BROWSE_CONFIG": "here.toml"}, theirs, print, time.time())
    with caller.on_behalf_of(chat):
        inherited = instance.for_service()
    assert (inherited.folder, inherited.environment["BROWSE_CONFIG"]) == (theirs, "here.toml")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert instance.for_service().folder is None

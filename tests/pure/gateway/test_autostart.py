"""Tests that all who wait for the service learn of a start that cannot even begin, and who may start it again."""

import threading
import time
from pathlib import Path

import pytest

from browse_together.client import instance
from browse_together.client.autostart import Autostart, KeptDown
from browse_together.contract.wire import DOWN_FILE


def test_a_start_for_which_there_is_no_thread_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autostart = Autostart("http://127.0.0.1:9", tmp_path, enabled=True)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", _no_thread)
        assert autostart.begin().result(timeout=5) == "can't start new thread"
    monkeypatch.setattr(instance, "start", lambda *_, **__: None)
    assert autostart.begin().result(timeout=5) == ""


def test_a_start_that_fails_in_whatever_way_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "start", _fail)
    problem = Autostart("http://127.0.0.1:9", tmp_path / "other", enabled=True).begin()
    assert problem.result(timeout=5) == "LookupError: nobody foresaw this"
    monkeypatch.undo()
    (file := tmp_path / "file").touch()
    problem = Autostart("http://127.0.0.1:9", file, enabled=True).begin()
    assert problem.result(timeout=5) == f"the data directory {file} cannot be used: File exists."


@pytest.mark.parametrize(
    ("until_s", "kept"), [(None, (True, False)), (3_600, (True, True)), (-1, (False, False))], ids=str
)
def test_an_end_on_purpose_keeps_these_chats_from_starting_it(
    tmp_path: Path, until_s: float | None, kept: tuple[bool, bool]
) -> None:
    chat = Autostart("http://127.0.0.1:9", tmp_path, enabled=True)
    assert chat.kept_down is None
    now = time.time()
    KeptDown(now, None if until_s is None else now + until_s).write(tmp_path)
    assert (chat.kept_down is not None, chat.for_new_chat().kept_down is not None) == kept


@pytest.mark.parametrize("note", ["", "[]", '{"at": 1}', '{"at": "x", "until": null}', "\0"])
def test_a_note_that_says_nothing_keeps_nobody(tmp_path: Path, note: str) -> None:
    chat = Autostart("http://127.0.0.1:9", tmp_path, enabled=True)
    (tmp_path / DOWN_FILE).write_text(note, encoding="utf-8")
    assert chat.kept_down is None
    KeptDown(time.time(), None).write(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def _no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def _fail(*_: object, **__: object) -> None:
    raise LookupError("nobody foresaw this")

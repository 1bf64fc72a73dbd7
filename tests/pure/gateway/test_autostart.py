"""Tests that all who wait for the service learn of a start that cannot even begin."""

import threading
from pathlib import Path

import pytest

from client import instance
from client.instance import Autostart


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


def _no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def _fail(*_: object, **__: object) -> None:
    raise LookupError("nobody foresaw this")

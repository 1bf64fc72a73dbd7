"""Tests times in words: a host elsewhere leaves them to the front, whose clock and zone callers know."""

from datetime import datetime

import pytest

from browse_together.contract import local_times
from browse_together.contract.local_times import STAMP, local_time, worded
from tests.support.waiting import PATIENCE_S


def test_a_time_that_a_host_elsewhere_marks_is_worded_as_the_front_would(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {in_s: datetime.strptime(local_time(in_s), "%H:%M:%S") for in_s in (0.0, -3_600.0, 86_399.0)}  # noqa: DTZ007 - a time of day
    monkeypatch.setattr(local_times, "_left_to_front", True)
    marked = {in_s: local_time(in_s) for in_s in here}
    name = local_time(form=STAMP)
    monkeypatch.setattr(local_times, "_left_to_front", False)
    for in_s, text in marked.items():
        assert ":" not in text
        said = worded(f'{{"hint": "free at {text} if idle"}}'.encode()).decode()
        at = datetime.strptime(said, '{"hint": "free at %H:%M:%S if idle"}')  # noqa: DTZ007 - a time of day
        assert (at - here[in_s]).seconds < PATIENCE_S
    stamped = datetime.strptime(worded(name.encode()).decode(), STAMP).astimezone()
    assert 0 <= (datetime.now().astimezone() - stamped).total_seconds() < PATIENCE_S
    plain = "\ufdd2no time\ufdd3 12:00".encode()
    assert worded(plain) == plain

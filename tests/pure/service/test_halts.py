"""Tests the rule of pauses and stops, with a clock of its own."""

from browser_service.rules.halts import PAUSE_S, Halts


def test_a_pause_ends_by_itself_and_a_stop_does_not() -> None:
    now = [0.0]
    halts = Halts(lambda: now[0])
    halts.begin("a", "pause", "Ana")
    halts.begin("b", "stop", "Ana")
    now[0] = PAUSE_S - 1
    assert halts.of("a") is not None
    now[0] = PAUSE_S
    assert halts.of("a") is None
    assert halts.of("b") is not None
    assert halts.of("c") is None


def test_what_concerns_all_concerns_who_comes_and_one_can_be_let_go_alone() -> None:
    halts = Halts()
    halts.begin("a", "pause", "Ana")
    halts.begin(None, "stop", "Ana")
    kinds = [halt.how if (halt := halts.of(each)) else "" for each in ("a", "new")]
    assert kinds == ["stop", "stop"]
    halts.end("a")
    assert (halts.of("a"), halts.of("new") is None, halts.of_all is None) == (None, False, False)
    again = Halts()
    for client_id, halt in halts.in_force().items():
        again.restore(client_id, halt)
    assert (again.of("a"), again.of("new"), again.of_all) == (None, halts.of_all, halts.of_all)
    halts.end(None)
    assert (halts.of("new"), halts.of_all) == (None, None)


def test_whose_pause_passed_after_they_were_let_go_alone_stays_free_over_a_restart() -> None:
    now = [0.0]
    halts, again = Halts(lambda: now[0]), Halts()
    halts.begin(None, "stop", "Ana")
    halts.end("a")
    halts.begin("a", "pause", "Ana")
    now[0] = PAUSE_S
    for client_id, halt in halts.in_force().items():
        again.restore(client_id, halt)
    assert (halts.of("a"), again.of("a"), again.of("b") is None) == (None, None, False)


def test_a_change_is_told_to_who_waits() -> None:
    halts, told = Halts(), list[str]()
    with halts.telling(lambda: told.append("changed")):
        halts.begin("a", "stop", "Ana")
        halts.end("a")
    halts.end("a")
    assert told == ["changed", "changed"]


def test_a_pause_ends_no_stop() -> None:
    now = [0.0]
    halts = Halts(lambda: now[0])
    assert halts.begin("a", "stop", "Ana")
    assert not halts.begin("a", "pause", "Ana")
    assert halts.begin(None, "pause", "Ana")
    now[0] = PAUSE_S
    assert (halts.of("a") is None, halts.of("b")) == (False, None)
    assert halts.begin(None, "stop", "Ana")
    assert not halts.begin("b", "pause", "Ana")

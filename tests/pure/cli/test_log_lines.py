"""Tests how lines of the log look to a person."""

from browser_service.cli.log_lines import readable, reasons

CALL = '{"action": "click", "ms": 7, "event": "call", "level": "info", "timestamp": "2026-01-02T03:04:05Z"}'


def test_a_line_is_time_level_event_and_what_belongs_to_it() -> None:
    assert readable(CALL).split() == ["2026-01-02T03:04:05Z", "[info", "]", "call", "action=click", "ms=7"]
    assert "\x1b[" in readable(CALL, colours=True)


def test_a_line_cannot_steer_the_terminal_and_one_that_is_no_entry_stays() -> None:
    assert "\x1b" not in readable(CALL.replace("click", "\\u001b[2J")) + readable("\x1b[2J gone")
    assert [readable(line) for line in ("Port 1 is taken.", "[1]", "7", "")] == ["Port 1 is taken.", "[1]", "7", ""]


def test_why_a_start_failed_is_in_its_last_words_or_else_in_all_of_them() -> None:
    assert reasons([CALL, "Port 1 is taken."]) == ["Port 1 is taken."]
    assert reasons([CALL]) == [readable(CALL)]

"""Tests that commands say it if the person's own browser should be attached to, and is not."""

from pathlib import Path

from tests.support.terminal import Terminal


def test_an_attach_that_failed_is_said_by_up_status_and_pages(terminal: Terminal, tmp_path: Path) -> None:
    nobody = {"BROWSE_ATTACH": str(tmp_path / "no-browser-here")}
    started = terminal.succeed("up", "--detach", **nobody)
    failed = terminal.run("run", "goto", "https://shop.example", "--session-id", "chrome")
    assert "BROWSER_LAUNCH_FAILED" in failed.err
    again = terminal.succeed("up", "--detach", **nobody)
    assert "no-browser-here is not attached to now" in started.err
    for said in (again.err, terminal.succeed("status").out, terminal.succeed("pages").err):
        assert "There is no directory" in said
        assert "no-browser-here" in said

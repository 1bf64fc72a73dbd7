"""Tests `tabs`, `share` and `unshare`: a person's own tabs on the command line."""

from pathlib import Path

import pytest

from tests.support.persons import Persons
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal

pytestmark = pytest.mark.anyio


async def test_a_tab_is_listed_shared_with_agents_and_taken_back(tmp_path: Path, persons: Persons, site: Site) -> None:
    await persons.open(site.page("/bill", Answer("<title>The bill</title>")))
    terminal = Terminal(tmp_path / "data")
    try:
        terminal.succeed("up", "--detach", "--cdp-url", persons.url)
        terminal.succeed("run", "goto", "--url", "about:blank", "--page", "mine")
        assert "The bill" in terminal.succeed("tabs").out
        assert "No tab matches 'nothing'" in terminal.run("share", "nothing").err
        assert terminal.succeed("share", "the bill", "--read").out == 'The bill is shared as "the-bill".\n'
        (tab,) = [tab for tab in terminal.succeed("tabs", "--json").json if tab["url"] == site.url("/bill")]
        assert (tab["pageId"], tab["access"]) == ("the-bill", "read")
        assert "the-bill, to read" in terminal.succeed("tabs").out
        assert "the-bill" in terminal.succeed("pages").out
        assert terminal.succeed("unshare", "the-bill").out == "The bill is yours alone again.\n"
        assert "the-bill" not in terminal.succeed("pages").out
        assert "No client is called" in terminal.run("share", "The bill", "--with", "Nobody").err
    finally:
        terminal.end()
    assert site.url("/bill") in await persons.tabs()


async def test_commands_for_people_start_the_service_as_a_new_chat_does(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "data")
    started = "The service was not running, and is now.\n"
    try:
        first = terminal.succeed("tabs")
        assert first.err == started
        assert first.out.startswith("No browser of yours is attached to. ")
        assert "attach chrome attaches the one that you use" in first.out
        assert terminal.succeed("requests").err == ""
        for command in (["requests"], ["show", "--no-open"], ["attach", "--profile-dir", str(tmp_path / "none")]):
            terminal.succeed("down")
            assert started in terminal.run(*command).err
        terminal.succeed("down", "--for", "1h")
        refused = terminal.run("tabs")
        assert (refused.code, "It stays down until" in refused.err, terminal.service) == (1, True, None)
    finally:
        terminal.end()

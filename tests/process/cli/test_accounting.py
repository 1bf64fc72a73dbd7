"""Tests `activity` and `forget`: who did what, on the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from browse_together.contract.wire import ACTIVITY, BROWSER, PAGES
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal
from tests.support.waiting import PATIENCE_S


class Caller:
    """Another client of the same service, over plain HTTP."""

    def __init__(self, terminal: Terminal, client_id: str, label: str) -> None:
        self.http = terminal.caller(client_id, label)

    def call(self, action: str, page_id: str, **arguments: str) -> None:
        reply = self.http.post(f"{BROWSER}/{page_id}", json={"action": action, **arguments})
        assert reply.json()["success"] is True, reply.text


@pytest.fixture
def robin(running: Terminal, site: Site) -> Iterator[Caller]:
    """Let Robin log out, on a page named `robin`."""
    site.page("/logout", Answer("", 204))
    url = site.page("/robin", "<form method=post action=/logout><button>Log out</button></form>")
    caller = Caller(running, "the-id-of-robin", "Robin · shop")
    caller.call("goto", "robin", url=url)
    caller.call("click", "robin", selector="button")
    yield caller
    caller.call("close_page", "robin")  # others have a page of that name, and another label
    caller.http.close()


@pytest.mark.usefixtures("robin")
def test_activity_tells_who_did_what_the_newest_last(running: Terminal) -> None:
    done = running.succeed("activity", "--page", "robin", "--client", "robin · shop", "-n", "2")
    goto, click = done.out.splitlines()
    assert "Robin · shop: goto http://" in goto
    assert "Robin · shop: click button (robin) → ok, " in click
    assert click.count("POST http://") == 1
    assert "/logout 204" in click
    assert "the-id-of-robin" not in done.out


@pytest.mark.usefixtures("robin")
def test_activity_as_json_is_the_newest_first_and_filters_narrow_it(running: Terminal) -> None:
    listed = running.succeed("activity", "--client", "Robin · shop", "--since", "10m", "--json").json
    assert [one["action"] for one in listed][:2] == ["click", "goto"]
    assert listed[0]["requests"][0]["status"] == 204
    assert running.succeed("activity", "--client", "Robin · shop", "--until", "1h", "--json").json == []
    only = running.succeed("activity", "--page", "robin", "--action", "goto", "--limit", "1", "--json").json
    assert [one["action"] for one in only] == ["goto"]


def test_a_bad_filter_is_an_error_with_what_to_do(running: Terminal) -> None:
    refused = running.run("activity", "--since", "yesterday")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("VALIDATION_ERROR: since 'yesterday' is no time.\nGive how long ago (30s, 10m")
    assert running.run("activity", "--follow", "--since", "yesterday").err == refused.err


def test_following_shows_an_act_as_it_happens(running: Terminal, robin: Caller, site: Site) -> None:
    with running.start("activity", "--follow", "--page", "robin", "--json", "--limit", "1") as following:
        assert following.stdout is not None
        before = json.loads(following.stdout.readline())
        robin.call("goto", "robin", url=site.page("/now", "x"))
        record = json.loads(following.stdout.readline())
        following.terminate()
        following.communicate(timeout=PATIENCE_S)
    assert (before["action"], record["action"], record["arguments"]) == ("click", "goto", {"url": site.url("/now")})
    assert record["id"] > before["id"]


def test_forgetting_removes_what_a_client_did_and_says_how_much(running: Terminal, site: Site) -> None:
    guest = Caller(running, "the-id-of-a-guest", "Guest")
    guest.call("goto", "guest", url=site.page("/guest", "x"))
    assert guest.http.delete(ACTIVITY, params={"client": "Guest"}).status_code == 403
    assert running.succeed("forget", "--client", "guest").out == "guest: 1 record, 0 notices, 1 lease removed.\n"
    assert running.succeed("activity", "--page", "guest", "--json").json == []
    assert "Guest" not in running.succeed("pages").out
    again = running.succeed("forget", "--client", "the-id-of-a-guest", "--json").json
    assert again == {"records": 0, "notices": 0, "leases": 0}
    guest.http.close()


def test_a_token_is_revoked_by_itself_and_all_of_a_caller_by_its_name(running: Terminal) -> None:
    for way in ("--token", "--client"):
        token = running.succeed("token", "--label", "Visitor").out.strip()

        def status(token: str = token) -> int:
            headers = {"Authorization": f"Bearer {token}"}
            return httpx.get(f"{running.url}{PAGES}", headers=headers, trust_env=False).status_code

        assert status() == 200
        assert "revoked" in running.succeed("revoke", way, token if way == "--token" else "Visitor").out
        assert status() == 401
    anew = running.succeed("token", "--label", "Visitor").out.strip()
    assert status(anew) == 401
    assert running.succeed("token", "restore", "Visitor").out == "Visitor: let in again.\n"
    assert status(anew) == 200
    assert running.run("revoke").code == 2
    assert "nobody of this name or id has been here" in running.succeed("revoke", "--client", "Visitr").out


@pytest.mark.usefixtures("robin")
def test_a_replay_is_one_file_for_this_account_with_what_activity_shows(running: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "robin.html"
    made = running.succeed("replay", "--page", "robin", "--since", "10m", "-n", "2", "-o", str(file), "--json").json
    assert (made["acts"], file.stat().st_mode & 0o777) == (2, 0o600)
    text = file.read_text("utf-8")
    assert '"words":"button"' in text
    assert "the-id-of-robin" not in text
    for limit, said in (
        ("--read-only", "Pictures are for the account's owner"),
        ("--session=other", "Nothing that matches"),
        ("--origin=https://shop.example", "Nothing that matches"),
    ):
        token = running.succeed("token", "create", "--name", limit.strip("-").partition("=")[0], limit).out.strip()
        limited = running.run("replay", "--page", "robin", "-o", str(file), BROWSE_TOKEN=token)
        assert said in limited.err
        assert limited.code == ("Nothing" in said)
    nothing = running.run("replay", "--page", "nobody", "-o", str(tmp_path / "nothing.html"))
    assert (nothing.code, nothing.err, [*tmp_path.iterdir()]) == (1, "Nothing that matches is recorded.\n", [file])

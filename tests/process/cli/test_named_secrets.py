"""Tests `secret`: what its owner sets goes from the command line into a page, and stays nowhere else on the machine."""

import json
from pathlib import Path

import psutil

from browse_together.contract.data_files import SECRETS_FILE
from tests.support.processes import told_to
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal

VALUE = "Pl4nted-Secret/of+the shop"
FORM = "<title>In</title><form method=post action=/in><input name=user><input name=pw><button>Go</button></form>"


def test_a_secret_from_the_command_line_is_typed_by_name_and_found_nowhere(
    terminal: Terminal, site: Site, tmp_path: Path
) -> None:
    typed = tmp_path / "typed"
    typed.write_text(f"{VALUE}\n", encoding="utf-8")
    site.page("/in", Answer("", 204))
    url = site.page("/", FORM)
    terminal.succeed("up", "--detach")
    done = terminal.succeed("secret", "set", "shop-pw", "--origin", url, "--from", str(typed))
    assert '{"secret": "shop-pw"}' in done.out
    replies = [terminal.succeed("run", "goto", "--page", "p", "--url", url)]
    steps = [
        {"action": "fill", "selector": "[name=user]", "value": "ana-of-the-shop"},
        {"action": "fill", "selector": "[name=pw]", "value": {"secret": "shop-pw"}},
        {"action": "click", "selector": "button"},
    ]
    replies.append(terminal.succeed("run", "batch", "--page", "p", "--steps", json.dumps(steps)))
    replies.append(terminal.run("run", "click", "--page", "p", "--selector", f"text={VALUE}", "--timeout", "50"))
    replies.append(terminal.succeed("secret", "list"))
    assert site.received[-1].body.endswith(b"pw=Pl4nted-Secret%2Fof%2Bthe+shop")
    assert all(VALUE not in each.out for each in replies)
    assert terminal.service
    service = psutil.Process(terminal.service.pid)
    told = [told_to(each) for each in (service, *service.children(recursive=True))]
    assert VALUE not in str(told)
    terminal.succeed("down")
    for file in (each for each in terminal.data_dir.rglob("*") if each.is_file()):
        content = file.read_bytes()
        assert b"Pl4nted" not in content, file
        assert "profile" not in file.parts or b"ana-of-the-shop" not in content, file
    assert (terminal.data_dir / SECRETS_FILE).stat().st_mode & 0o077 == 0
    assert "shop-pw   text" in terminal.succeed("secret", "list").out
    terminal.succeed("secret", "remove", "shop-pw")
    assert "no secret" in terminal.run("secret", "remove", "shop-pw").err


def test_what_is_no_origin_no_secret_or_no_name_is_refused_in_words(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("123", encoding="utf-8")
    (tmp_path / "fine").write_text("12345678", encoding="utf-8")
    for source, name, origin, said in (
        ("fine", "pw", "shop.example", "is no origin"),
        ("fine", "pw", "https://shop.example/login", "is no origin"),
        ("fine", "pw", "https://*.shop.example", "is no origin"),
        ("short", "pw", "https://shop.example", "value: String should have at least 4"),
        ("fine", "my password", "https://shop.example", "name: String should match"),
    ):
        done = terminal.run("secret", "set", name, "--origin", origin, "--from", str(tmp_path / source))
        assert (done.code != 0, said in done.err) == (True, True), done


def test_a_secret_that_a_command_gives_is_listed_and_tried_unseen(terminal: Terminal, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    asks = ("--origin", "https://shop.example", "--command", f"cat '{vault}'")
    assert "nowhere" in terminal.succeed("secret", "set", "pw", *asks).out
    assert "pw     by cat" in terminal.succeed("secret", "list").out
    locked = terminal.run("secret", "check", "pw")
    assert (locked.code != 0, "cat failed with exit code 1: its vault may be locked" in locked.err) == (True, True)
    vault.write_text(f"{VALUE}\n", encoding="utf-8")
    assert terminal.succeed("secret", "check", "pw").out == f"pw: there, {len(VALUE)} characters.\n"
    twice = terminal.run("secret", "set", "pw", *asks, "--from", str(vault))
    assert (twice.code, "not both" in twice.err) == (2, True)

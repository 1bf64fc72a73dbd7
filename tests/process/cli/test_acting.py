"""Tests `pages`, `run` and `token`: the command line as a client of the service."""

import getpass
import json
import signal
import struct
import threading
from pathlib import Path

import httpx
import pytest

from browse_together.contract.wire import BROWSER
from browser_service.cli.client import Client
from tests.process.cli.conftest import VIEWPORT
from tests.support.completion import completions
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal, eventually
from tests.support.waiting import PATIENCE_S


@pytest.fixture
def page(running: Terminal, site: Site) -> str:
    """Open a page of the command line's own."""
    url = site.page("/cli", "<h1>Hello</h1><input id=name><button>Send</button>")
    with Client(running.data_dir) as client:
        assert client.call({"action": "goto", "url": url, "pageId": "cli"})["success"]
    return "cli"


def test_goto_says_what_was_observed_and_where_the_page_is(running: Terminal, site: Site) -> None:
    url = site.page("/seen", "<h1>Seen</h1>")
    done = running.succeed("run", "goto", "--url", url, "--page", "seen", "--waitUntil", "commit")
    assert f"navigated to {url}" in done.out
    assert done.err.startswith("[page seen · ")


def test_pages_lists_them_in_three_parts(running: Terminal, page: str) -> None:
    listed = running.succeed("pages", "--json").json
    assert list(listed) == ["yours", "people", "others"]
    assert page in [one["pageId"] for one in listed["yours"]]
    table = running.succeed("pages").out
    assert [part for part in ("yours", "people's", "other agents'") if part in table] == [
        "yours",
        "people's",
        "other agents'",
    ]
    assert "/cli" in table


def test_a_shell_completes_the_ids_of_the_pages(running: Terminal, page: str) -> None:
    assert completions("run", "click", "--page", page[:2], BROWSE_DATA_DIR=str(running.data_dir)) == [page]


def test_a_token_that_is_given_limits_the_command_line_too(running: Terminal, page: str) -> None:
    token = running.succeed("token", "create", "--name", "reads", "--read-only").out.split()[-1]
    refused = running.run("run", "reload_page", "--page", page, BROWSE_TOKEN=token)
    assert (refused.code, "--read-only" in refused.err) == (1, True)
    unknown = running.run("run", "snapshot", "--page", page, BROWSE_TOKEN=token[:-9])
    assert (unknown.code, unknown.out, unknown.err.startswith("UNAUTHORIZED: ")) == (1, "", True)


def test_this_account_is_one_lasting_client_unless_the_environment_says_another(running: Terminal, page: str) -> None:
    others = running.succeed("pages", "--json", BROWSE_CLIENT_ID="somebody-else").json["others"]
    assert {"label": "CLI", "you": False} in [one["owner"] for one in others if one["pageId"] == page]
    refused = running.run("run", "fill", "#name", "x", "--page", page, BROWSE_CLIENT_ID="somebody-else")
    assert (refused.code, refused.err.partition(":")[0]) == (1, "PAGE_OWNED")


def test_a_picture_is_saved_and_flags_of_up_have_reached_the_service(
    running: Terminal, page: str, tmp_path: Path
) -> None:
    picture = tmp_path / "page.png"
    done = running.succeed("run", "screenshot", "--page", page, "--output", str(picture))
    assert done.out == ""
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == VIEWPORT
    assert f"{len(data)} bytes" in done.err


def test_a_person_saves_the_file_of_any_client_of_the_account_by_its_id(
    running: Terminal, page: str, tmp_path: Path
) -> None:
    named = running.succeed("run", "generate_pdf", "--page", page, "--json").json["result"]["artifact"]
    for client in ("", "somebody-else"):
        saved = tmp_path / f"page-{client}.pdf"
        done = running.succeed("save", named["artifactId"], str(saved), BROWSE_CLIENT_ID=client)
        assert (saved.read_bytes()[:5], saved.stat().st_size) == (b"%PDF-", named["size"])
        assert f"{named['size']} bytes" in done.err
    cursor = running.succeed("run", "snapshot", "--page", page, "--filename", "s.txt", "--json").json["result"][
        "artifact"
    ]
    other = ("run", "content", "--cursor", f"{cursor['artifactId']}:0")
    assert "There is no artifact" in running.run(*other, BROWSE_CLIENT_ID="somebody-else").err
    assert "Hello" in running.succeed(*other, "--person", BROWSE_CLIENT_ID="somebody-else").out
    refused = running.run("save", "art-none", str(saved))
    assert (refused.code, "There is no artifact" in refused.err) == (1, True)
    assert saved.stat().st_size == named["size"]
    piped = running.run("save", named["artifactId"], "/dev/null")
    assert (piped.code, piped.err, Path("/dev/null").is_file()) == (0, f"/dev/null: {named['size']} bytes\n", False)
    assert {path.name for path in tmp_path.iterdir()} == {"page-.pdf", "page-somebody-else.pdf"}


def test_text_is_saved_as_well(running: Terminal, page: str, tmp_path: Path) -> None:
    saved = tmp_path / "title.txt"
    running.succeed("run", "get_page_title", "--page", page, "--out", str(saved))
    assert saved.read_text(encoding="utf-8") == "/cli"


def test_without_a_file_to_save_to_a_picture_is_named(running: Terminal, page: str) -> None:
    assert "image/png" in running.succeed("run", "screenshot", "--page", page).out


def test_json_is_the_whole_reply_of_success_and_of_failure(running: Terminal, page: str) -> None:
    succeeded = running.succeed("run", "evaluate", "() => 6 * 7", "--page", page, "--json").json
    assert (succeeded["success"], succeeded["result"]["value"], succeeded["page"]["pageId"]) == (True, 42, page)
    failed = running.run("run", "click", "#nothing", "--page", page, "--timeout", "200", "--json")
    assert (failed.code, failed.json["error"]["code"], failed.err) == (1, "ELEMENT_NOT_FOUND", "")


def test_objects_are_typed_as_json(running: Terminal, page: str) -> None:
    done = running.succeed("run", "evaluate", "--script", "given => given.n + 1", "--arg", '{"n": 4}', "--page", page)
    assert done.out == "5\n"
    wrong = running.run("run", "click", "button", "--position", "{x: 1}")
    assert wrong.code == 2
    assert "is no JSON" in wrong.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("click",), "VALIDATION_ERROR: click needs 'selector'."),
        (("goto", "nowhere"), "VALIDATION_ERROR: "),
        (("click", "#x", "--page", "a page"), "VALIDATION_ERROR: pageId 'a page' is not a valid id"),
        (("clik",), "INVALID_REQUEST: Unknown action: clik\nDid you mean click"),
    ],
)
def test_bad_input_is_an_error_with_code_message_and_hint(running: Terminal, typed: tuple[str, ...], said: str) -> None:
    refused = running.run("run", *typed)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(said)
    assert refused.err.count("\n") >= 2


def test_an_interrupted_call_is_cancelled(running: Terminal, site: Site) -> None:
    never = threading.Event()
    url = site.page("/never", Answer("late", hold=never))
    with running.start("run", "goto", url, "--page", "never") as going:
        eventually(lambda: site.counts["/never"] == 1)
        going.send_signal(signal.SIGINT)
        assert going.wait(PATIENCE_S) != 0

    def outcomes() -> list[str]:
        logged = [json.loads(line) for line in running.succeed("logs", "--lines", "3").out.splitlines()]
        return [line["outcome"] for line in logged if line.get("page") == "never"]

    eventually(lambda: outcomes() == ["UNKNOWN_OUTCOME"])  # the service may still be about to write it
    never.set()


def test_a_token_lets_plain_http_act_as_the_command_line(running: Terminal, page: str) -> None:
    headers = {"Authorization": f"Bearer {running.succeed('token').out.strip()}"}
    body = {"action": "fill", "selector": "#name", "value": "by curl"}
    reply = httpx.post(f"{running.url}{BROWSER}/{page}", json=body, headers=headers, trust_env=False)
    assert reply.json()["success"] is True, reply.text


def test_a_token_with_a_label_is_a_client_of_its_own(running: Terminal, page: str) -> None:
    headers = {"Authorization": f"Bearer {running.succeed('token', '--label', 'night job').out.strip()}"}
    body = {"action": "fill", "selector": "#name", "value": "x"}
    reply = httpx.post(f"{running.url}{BROWSER}/{page}", json=body, headers=headers, trust_env=False)
    assert reply.json()["error"]["code"] == "PAGE_OWNED"
    assert getpass.getuser() not in reply.text

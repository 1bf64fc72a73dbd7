"""Tests `requests`: what agents ask people for, seen and answered on the command line."""

from collections.abc import Iterator

import pytest

from browse_together.contract.wire import BROWSER
from browser_service.cli.client import account
from tests.support.json import AnyJson
from tests.support.site import Site
from tests.support.terminal import Terminal


class Robin:
    """A client over plain HTTP, with a page named `robin`."""

    def __init__(self, terminal: Terminal, url: str) -> None:
        self.http = terminal.caller("the-id-of-robin", "Robin")
        self.call("goto", url=url)

    def call(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        reply = self.http.post(f"{BROWSER}/robin", json={"action": action, **arguments}).json()
        assert reply["success"] is True, reply
        return dict(reply["result"])

    def asks(self, **what: AnyJson) -> str:
        return str(self.call("request_human", timeout=1, **what)["requestId"])


@pytest.fixture
def robin(running: Terminal, site: Site) -> Iterator[Robin]:
    caller = Robin(running, site.page("/form", "<h1>Form</h1><input id=name>"))
    yield caller
    caller.http.close()


def test_a_request_is_listed_and_its_page_worked_in_and_given_back(running: Terminal, robin: Robin, site: Site) -> None:
    assert running.succeed("requests").out == "Nobody asks for anything.\n"
    assert "Robin (1 page, away)" in running.succeed("status").out
    request_id = robin.asks(kind="login", message="Sign in,\nplease.")
    listed = running.succeed("requests").out
    assert all(len(line) <= 100 or line.strip().startswith("http") for line in listed.splitlines())
    for part in (request_id, "login", site.url(""), f"robin, {site.url('/form')}", "Sign in, please.", "Robin"):
        assert part in listed
    assert "the-id-of-robin" not in listed
    (as_json,) = running.succeed("requests", "--json").json
    assert (as_json["requestId"], as_json["askedBy"]) == (request_id, "Robin")
    assert "HUMAN_IN_CONTROL" in running.run("run", "fill", "#name", "ana", "--page", "robin").err
    running.succeed("run", "fill", "#name", "ana", "--page", "robin", "--person")
    assert running.succeed("requests", "done", request_id).out == f"{request_id}: done.\n"
    reply = robin.call("request_human", requestId=request_id)
    assert reply["observed"] == f"{account()} says it is done: a login at {site.url('')}."
    assert robin.call("evaluate_script", expression="document.querySelector('#name').value")["value"] == "ana"


def test_a_decision_is_answered_with_one_of_its_choices(running: Terminal, robin: Robin) -> None:
    request_id = robin.asks(kind="decision", message="Which?", choices=["red", "blue"])
    assert "Which? (red / blue)" in running.succeed("requests").out
    refused = running.run("requests", "done", request_id, "--answer", "green")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("VALIDATION_ERROR: A decision needs an answer, one of: red, blue.")
    running.succeed("requests", "done", request_id, "--answer", "blue")
    assert robin.call("request_human", requestId=request_id)["answer"] == "blue"


def test_a_refusal_says_why_and_what_is_answered_is_not_answered_again(running: Terminal, robin: Robin) -> None:
    request_id = robin.asks(kind="other", message="Pay, please.")
    assert running.succeed("requests", "refuse", request_id, "--reason", "too dear").out == f"{request_id}: refused.\n"
    assert robin.call("request_human", requestId=request_id)["answer"] == "too dear"
    assert running.run("requests", "done", request_id).err.startswith("INVALID_REQUEST: There is no open request")

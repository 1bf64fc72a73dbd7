"""Tests `flow` and its table: each row is done once, also if the service is killed under it."""

import csv
import signal
import sys
from pathlib import Path
from urllib.parse import parse_qs

import psutil
import pytest

from browser_service.cli.client import Client
from tests.support.site import Answer, Received, Site
from tests.support.terminal import Terminal, eventually

ORDER = "<form method=post action=/orders><label>Name <input name=who></label><button>Order</button></form>"
PAID = """
version = 1
name = "paid"
parameters.name = {{}}
steps = [
  {{action = "goto", url = "{login}"}},
  {{action = "click", selector = ["role=button"], repeatable = true, expect.requests = [{session}]}},
  {{action = "fill", selector = ["role=textbox"], value = "{{{{name}}}}"}},
  {{action = "click", selector = ["role=button"], expect.requests = [{orders}]}},
  {{action = "goto", url = "{receipt}"}},
  {{action = "extract_text", selector = ["role=status"], output = "text"}},
]
"""


@pytest.fixture
def shop(terminal: Terminal, site: Site) -> Site:
    """A shop, and a flow that orders there, taught by the command line."""
    site.page("/order", ORDER)
    site.page("/done", "<p role=status>Thanks</p>")
    site.routes["/orders"] = Answer(status=303, headers={"location": "/done"})
    terminal.succeed("up", "--detach")
    with Client(terminal.data_dir) as client:
        for body in (
            {"action": "goto", "url": site.url("/order")},
            {"action": "fill", "selector": "role=textbox", "value": "Ana"},
            {"action": "click", "selector": "role=button"},
            {"action": "extract_text", "selector": "role=status"},
        ):
            assert client.call({**body, "pageId": "cli"})["success"]
    terminal.succeed("flow", "save", "order", "--page", "cli")
    site.received.clear()
    return site


def ordered(shop: Site) -> list[str]:
    return sorted(parse_qs(each.body.decode())["who"][0] for each in shop.received if each.path == "/orders")


def statuses(report: Path) -> list[str]:
    with report.open(newline="", encoding="utf-8") as file:
        return [line["status"] for line in csv.DictReader(file)]


def test_a_flow_is_listed_edited_exported_and_run(terminal: Terminal, shop: Site) -> None:
    assert terminal.succeed("flow", "list").out.startswith("order  4 steps, needs name")
    done = terminal.succeed("flow", "run", "order", "--value", "name=Bo", "--json").json
    assert (done["result"]["outputs"], ordered(shop)) == ({"text": "Thanks"}, ["Bo"])
    change = "import sys; p = sys.argv[1]; t = open(p).read().replace('{{name}}', 'NEW'); open(p, 'w').write(t)"
    editor = f'{sys.executable} -c "{change}"'
    refused = terminal.run("flow", "edit", "order", EDITOR=editor.replace("NEW", "{{nome}}"))
    assert (refused.code, "steps name nome" in refused.err) == (1, True)
    second = editor.replace("{{name}}", "{{nome}}").replace("NEW", "Cy")
    again = terminal.succeed("flow", "edit", "order", EDITOR=second)
    assert "order.toml.broken" in again.out
    terminal.succeed("flow", "run", "order", "--value", "name=unused")
    assert ordered(shop) == ["Bo", "Cy"]
    assert terminal.succeed("flow", "schema").json["title"] == "Flow"
    compile(terminal.succeed("flow", "export", "order", "--python").out, "order.py", "exec")
    compile(terminal.succeed("flow", "export", "order", "--pytest").out, "test_order.py", "exec")


def test_each_row_is_done_once_though_the_service_is_killed(terminal: Terminal, shop: Site, tmp_path: Path) -> None:
    table, report = tmp_path / "people.csv", tmp_path / "people.order.csv"
    came: list[Received] = []
    table.write_text("name\n" + "".join(f"p{number}\n" for number in range(4)), "utf-8")
    missing = tmp_path / "missing.csv"
    missing.write_text("nome\nx\n", "utf-8")
    refused = terminal.run("flow", "run", "order", "--each", str(missing))
    assert ("no column 'name'" in refused.err, came) == (True, [])

    def killing(sent: Received) -> Answer:
        came.append(sent)
        if len(came) == 2:
            assert terminal.service
            psutil.Process(terminal.service.pid).send_signal(signal.SIGKILL)
        return Answer(status=303, headers={"location": "/done"})

    shop.routes["/orders"] = killing
    with terminal.start("flow", "run", "order", "--each", str(table)) as running:
        eventually(lambda: len(came) >= 2 and terminal.service is None)
        terminal.succeed("up", "--detach")
        running.communicate()
    assert (running.returncode, statuses(report)) == (1, ["ok", "unknown", "ok", "ok"])
    assert ordered(shop) == ["p0", "p1", "p2", "p3"]
    again = terminal.run("flow", "run", "order", "--each", str(table))
    assert (again.code, ordered(shop)) == (1, ["p0", "p1", "p2", "p3"])
    assert again.err.startswith("No row was run: each has its outcome.")
    assert "left out: what was read before" in terminal.succeed("flow", "save", "later", "--page", "cli").out


def test_a_row_is_known_that_was_killed_before_or_after_what_counts(
    terminal: Terminal, shop: Site, tmp_path: Path
) -> None:
    kills = {"/session": 2, "/receipt": 3}

    def answered(sent: Received, to: str) -> Answer:
        if shop.counts[sent.path] == kills.get(sent.path) and (running := terminal.service):
            psutil.Process(running.pid).send_signal(signal.SIGKILL)
        return Answer(status=303, headers={"location": to}) if to else Answer("<p role=status>Paid</p>")

    shop.page("/login", "<form method=post action=/session><button>Sign in</button></form>")
    shop.routes["/session"] = lambda sent: answered(sent, "/order")
    shop.routes["/receipt"] = lambda sent: answered(sent, "")
    sent = {name: f'{{method = "POST", path = "/{name}", status = 303}}' for name in ("session", "orders")}
    paid = PAID.format(login=shop.url("/login"), receipt=shop.url("/receipt"), **sent)
    (terminal.data_dir / "flows" / "paid.toml").write_text(paid, "utf-8")
    report = tmp_path / "people.paid.csv"
    (tmp_path / "people.csv").write_text("name\n" + "".join(f"p{number}\n" for number in range(4)), "utf-8")
    with terminal.start("flow", "run", "paid", "--each", str(tmp_path / "people.csv")) as running:
        for _ in kills:
            eventually(lambda: terminal.service is None)
            terminal.succeed("up", "--detach")
        running.communicate()
    assert (running.returncode, statuses(report)) == (0, ["ok"] * 4)
    assert ordered(shop) == ["p0", "p1", "p2", "p3"]

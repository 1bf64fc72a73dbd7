"""Tests `flow` and its table: each row is done once, also if the service is killed under it."""

import csv
import shutil
import signal
import sys
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory, shared_site: Site) -> Iterator[Terminal]:
    """Return a terminal where a service runs, with a flow that orders in the shop, taught by the command line."""
    terminal = Terminal(tmp_path_factory.mktemp("counter") / "data")
    try:
        terminal.succeed("up", "--detach")
        furnish(shared_site)
        with Client(terminal.data_dir) as client:
            for body in (
                {"action": "goto", "url": shared_site.url("/order")},
                {"action": "fill", "selector": "role=textbox", "value": "Ana"},
                {"action": "click", "selector": "role=button"},
                {"action": "extract_text", "selector": "role=status"},
            ):
                assert client.call({**body, "pageId": "cli"})["success"]
        terminal.succeed("flow", "save", "order", "--page", "cli")
        shutil.copytree(terminal.data_dir / "flows", taught(terminal))
        yield terminal
    finally:
        terminal.end()


@pytest.fixture
def shop(counter: Terminal, site: Site) -> Site:
    """A shop, with the service running that knows the way there, and no other flow."""
    furnish(site)
    shutil.rmtree(counter.data_dir / "flows")
    shutil.copytree(taught(counter), counter.data_dir / "flows")
    if counter.service is None:
        counter.succeed("up", "--detach")
    return site


def taught(counter: Terminal) -> Path:
    """Return where the flow is kept as it was taught."""
    return counter.data_dir.parent / "taught"


def furnish(site: Site) -> None:
    site.page("/order", ORDER)
    site.page("/done", "<p role=status>Thanks</p>")
    site.routes["/orders"] = Answer(status=303, headers={"location": "/done"})


def ordered(shop: Site) -> list[str]:
    return sorted(parse_qs(each.body.decode())["who"][0] for each in shop.received if each.path == "/orders")


def statuses(report: Path) -> list[str]:
    with report.open(newline="", encoding="utf-8") as file:
        return [line["status"] for line in csv.DictReader(file)]


def test_a_flow_is_listed_edited_exported_and_run(counter: Terminal, shop: Site) -> None:
    assert counter.succeed("flow", "list").out.startswith("order  4 steps, needs name")
    done = counter.succeed("flow", "run", "order", "--value", "name=Bo", "--json").json
    assert (done["result"]["outputs"], ordered(shop)) == ({"text": "Thanks"}, ["Bo"])
    change = "import sys; p = sys.argv[1]; t = open(p).read().replace('{{name}}', 'NEW'); open(p, 'w').write(t)"
    editor = f'{sys.executable} -c "{change}"'
    refused = counter.run("flow", "edit", "order", EDITOR=editor.replace("NEW", "{{nome}}"))
    assert (refused.code, "steps name nome" in refused.err) == (1, True)
    second = editor.replace("{{name}}", "{{nome}}").replace("NEW", "Cy")
    again = counter.succeed("flow", "edit", "order", EDITOR=second)
    assert "order.toml.broken" in again.out
    counter.succeed("flow", "run", "order", "--value", "name=unused")
    assert ordered(shop) == ["Bo", "Cy"]
    assert counter.succeed("flow", "schema").json["title"] == "Flow"
    compile(counter.succeed("flow", "export", "order", "--python").out, "order.py", "exec")
    compile(counter.succeed("flow", "export", "order", "--pytest").out, "test_order.py", "exec")


def test_each_row_is_done_once_though_the_service_is_killed(counter: Terminal, shop: Site, tmp_path: Path) -> None:
    table, report = tmp_path / "people.csv", tmp_path / "people.order.csv"
    came: list[Received] = []
    table.write_text("name\n" + "".join(f"p{number}\n" for number in range(4)), "utf-8")
    missing = tmp_path / "missing.csv"
    missing.write_text("nome\nx\n", "utf-8")
    refused = counter.run("flow", "run", "order", "--each", str(missing))
    assert ("no column 'name'" in refused.err, came) == (True, [])

    def killing(sent: Received) -> Answer:
        came.append(sent)
        if len(came) == 2:
            assert counter.service
            psutil.Process(counter.service.pid).send_signal(signal.SIGKILL)
        return Answer(status=303, headers={"location": "/done"})

    shop.routes["/orders"] = killing
    with counter.start("flow", "run", "order", "--each", str(table)) as running:
        eventually(lambda: len(came) >= 2 and counter.service is None)
        counter.succeed("up", "--detach")
        running.communicate()
    assert (running.returncode, statuses(report)) == (1, ["ok", "unknown", "ok", "ok"])
    assert ordered(shop) == ["p0", "p1", "p2", "p3"]
    again = counter.run("flow", "run", "order", "--each", str(table))
    assert (again.code, ordered(shop)) == (1, ["p0", "p1", "p2", "p3"])
    assert again.err.startswith("No row was run: each has its outcome.")
    assert "left out: what was read before" in counter.succeed("flow", "save", "later", "--page", "cli").out


@pytest.mark.long
def test_a_row_is_known_that_was_killed_before_or_after_what_counts(
    counter: Terminal, shop: Site, tmp_path: Path
) -> None:
    kills = {"/session": 2, "/receipt": 3}

    def answered(sent: Received, to: str) -> Answer:
        if shop.counts[sent.path] == kills.get(sent.path) and (running := counter.service):
            psutil.Process(running.pid).send_signal(signal.SIGKILL)
        return Answer(status=303, headers={"location": to}) if to else Answer("<p role=status>Paid</p>")

    shop.page("/login", "<form method=post action=/session><button>Sign in</button></form>")
    shop.routes["/session"] = lambda sent: answered(sent, "/order")
    shop.routes["/receipt"] = lambda sent: answered(sent, "")
    sent = {name: f'{{method = "POST", path = "/{name}", status = 303}}' for name in ("session", "orders")}
    paid = PAID.format(login=shop.url("/login"), receipt=shop.url("/receipt"), **sent)
    (counter.data_dir / "flows" / "paid.toml").write_text(paid, "utf-8")
    report = tmp_path / "people.paid.csv"
    (tmp_path / "people.csv").write_text("name\n" + "".join(f"p{number}\n" for number in range(4)), "utf-8")
    with counter.start("flow", "run", "paid", "--each", str(tmp_path / "people.csv")) as running:
        for _ in kills:
            eventually(lambda: counter.service is None)
            counter.succeed("up", "--detach")
        running.communicate()
    assert (running.returncode, statuses(report)) == (0, ["ok"] * 4)
    assert ordered(shop) == ["p0", "p1", "p2", "p3"]

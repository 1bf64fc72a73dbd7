"""Tests programs that use the Python client: the examples, one with modules of its own, and one that starts the
service."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from browse_together import Browser
from browse_together.contract import wire
from browser_service.cli.client import Client
from examples.python.orders import Orders, server
from tests.support.gateways import ROOT
from tests.support.site import Site
from tests.support.tab import closed_port
from tests.support.terminal import Terminal, eventually

WITHIN_S = 60


def run(*command: str, env: dict[str, str], folder: Path = ROOT) -> str:
    """Return what a program printed that succeeds."""
    done = subprocess.run(
        [sys.executable, *command], env=env, cwd=folder, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture
def shop() -> Iterator[tuple[Orders, str]]:
    """Return the orders of a shop, and its URL."""
    orders = Orders()
    with server(orders) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield orders, f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join(WITHIN_S)


def sign_in(running: Terminal, page: str) -> None:
    """Sign in as the person whom an agent asks, and say so."""
    with Client(running.data_dir, operator=True) as person:
        eventually(lambda: bool(person.get(wire.REQUESTS)["requests"]))
        for body in (
            {"action": "fill", "selector": "[name=name]", "value": "ana"},
            {"action": "fill", "selector": "[name=password]", "value": "casa"},
            {"action": "click", "selector": "role=button[name='Sign in']"},
        ):
            assert person.call({**body, "pageId": page})["success"]
    [request] = running.succeed("requests", "--json").json
    running.succeed("requests", "done", request["requestId"])


def test_a_person_signs_in_for_a_program_and_two_workers_share_the_orders(
    running: Terminal, program: dict[str, str], shop: tuple[Orders, str]
) -> None:
    orders, url = shop
    reading = subprocess.Popen(
        [sys.executable, "-m", "examples.python.login", url], env=program, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with reading:
        sign_in(running, "orders")
        said, _ = reading.communicate(timeout=WITHIN_S)
    assert said.splitlines()[0] == "A100 Ana 9.50"
    assert len(said.splitlines()) == len(orders.all)
    said = run("-m", "examples.python.workers", url, env=program)
    assert sorted(orders.packed) == sorted(orders.all)
    assert len(said.splitlines()) == len(orders.all)


def test_a_program_keeps_its_own_modules_named_client_and_shared(
    program: dict[str, str], site: Site, tmp_path: Path
) -> None:
    url = site.page("/", "<h1>here</h1>")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "__init__.py").write_text("name = 'its own'")
    (tmp_path / "client.py").write_text("name = 'its own'")
    (tmp_path / "job.py").write_text(
        f"import client\nfrom browse_together import Browser\nimport shared\nwith Browser() as browser:\n"
        f"    page = browser.page()\n    page.goto({url!r})\n"
        f"    print(page.page_id[:4], page.extract_text('h1'), client.name, shared.name)\n"
        f"    page.close_page()\n"
    )
    assert run("job.py", env=program, folder=tmp_path) == "job- here its own its own\n"


def test_a_program_starts_the_service_and_leaves_it_running(tmp_path: Path) -> None:
    fresh = Terminal(tmp_path / "data")
    env = fresh.environment(PORT=str(closed_port()), PYTHONPATH=os.pathsep.join([str(ROOT)]))
    code = """from browse_together import Browser
from browser_service.cli.client import Client
browser = Browser()
print(browser.list_pages().yours, browser.client_id == Browser().client_id, browser.client_id)"""
    try:
        pages, is_one_client, client_id = run("-W", "error", "-c", code, env=env).split()
        assert (pages, is_one_client) == ("[]", "True")
        assert client_id != Browser(data_dir=tmp_path).client_id
        assert fresh.service is not None
    finally:
        fresh.end()

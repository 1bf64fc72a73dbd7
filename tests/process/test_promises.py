"""Tests what everybody is promised, from end to end: real clients, gateways, services, the browser that users have.

`make test` runs these of all process tests; `make check` runs the others too, which prove the same in more ways.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from browse_together.client import instance
from browse_together.contract.wire import APP_NAME, VERSION
from scripts import wheel
from tests.support import processes
from tests.support.gateways import environment, text_of
from tests.support.site import Answer, Received, Site
from tests.support.tab import closed_port

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]


class Account:
    """A person's data directory, with a port that nobody uses, where any chat starts the service."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._env = environment(data_dir, PORT=str(closed_port()))

    def chat(self, name: str) -> AbstractAsyncContextManager[Client]:
        gateway = StdioServerParameters(command=sys.executable, args=["-m", "mcp_gateway"], env=self._env, cwd="/")
        info = Implementation(name=name, version="1")
        return Client(gateway, client_info=info, mode="legacy", read_timeout_seconds=60)

    @property
    def service(self) -> instance.Instance:
        found = instance.find(self.data_dir)
        assert found is not None
        return found

    async def kill(self) -> None:
        """kill -9 of the service alone: its browser and driver have to notice."""
        await processes.kill(psutil.Process(self.service.pid))

    @property
    def browser(self) -> psutil.Process:
        children = psutil.Process(self.service.pid).children(recursive=True)
        (found,) = [each for each in children if processes.is_browser(each, self.data_dir)]
        return found


@pytest.fixture
async def account(tmp_path: Path) -> AsyncIterator[Account]:
    account = Account(tmp_path / "data")
    yield account
    if left := instance.find(account.data_dir):
        instance.stop(left)


def signing_in(site: Site) -> str:
    """Let anybody sign in by a form, with a cookie that ends with the browser. Returns the URL of what it protects."""
    site.page("/session", Answer("", 303, headers={"location": "/account", "set-cookie": "sid=ana; Path=/; HttpOnly"}))
    site.page("/sign-in", "<form method=post action=/session><button>Sign in</button></form>")
    return site.page("/account", _account)


def _account(received: Received) -> Answer:
    if "sid=ana" in received.headers.get("Cookie", ""):
        return Answer("<title>Account</title><h1>Hello Ana</h1><button>Order</button>")
    return Answer("", 303, headers={"location": "/sign-in"})


async def said(chat: Client, tool: str, **arguments: str) -> str:
    """Return what a tool says to the model, which must be no error."""
    result = await chat.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def has_the_login_and_not_the_page(chat: Client, url: str) -> None:
    assert "Hello Ana" in await said(chat, "goto", pageId="own", url=url)
    refused = await chat.call_tool("click", {"pageId": "mine", "selector": "button"})
    assert refused.is_error
    assert text_of(refused).startswith('PAGE_OWNED: "mine" is in use by "Alice"')
    assert f'open_page {{"url": "{url}"}}' in text_of(refused)


async def signed_in(chat: Client, url: str) -> None:
    assert "Sign in" in await said(chat, "goto", pageId="mine", url=url)
    assert "Hello Ana" in await said(chat, "click", pageId="mine", selector="role=button[name='Sign in']", reply="full")


async def test_the_first_chat_starts_a_service_whose_login_others_have_and_pages_and_logins_outlast_whatever_dies(
    account: Account, site: Site
) -> None:
    url = signing_in(site)
    async with account.chat("Alice") as alice:
        await signed_in(alice, url)
        async with account.chat("Bob") as bob:
            await has_the_login_and_not_the_page(bob, url)
        await said(alice, "click", pageId="mine", selector="button")
        await processes.kill(account.browser)
        assert "Hello Ana" in await said(alice, "snapshot", pageId="mine")
        await account.kill()
        assert "Hello Ana" in await said(alice, "snapshot", pageId="mine")
        assert instance.stop(account.service)
    async with account.chat("Alice") as alice:
        assert "Hello Ana" in await said(alice, "goto", pageId="again", url=url)
        assert "mine" in await said(alice, "list_pages")
    assert site.counts["/session"] == 1


def test_the_wheel_installs_commands_that_run_without_this_source_tree(tmp_path: Path) -> None:
    target = tmp_path / "installed"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--no-deps",
        "--no-index",
        "--no-compile",
    ]
    subprocess.run([*pip, "--target", target, wheel.build(tmp_path)], check=True, stdin=subprocess.DEVNULL)
    # Without this environment's .pth files, by which it finds the source tree.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(target), sysconfig.get_path("purelib")))}
    for command, says in (("browse-together", VERSION), ("mcp-gateway", f"{APP_NAME} {VERSION}")):
        program = [sys.executable, "-S", str(target / "bin" / command), "--version"]
        ended = subprocess.run(program, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True)
        assert ended.stdout.strip() == says

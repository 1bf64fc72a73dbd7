"""Tests what a service starts: a browser that contacts only the pages' hosts, and processes that know no secret."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.account import caller
from tests.support.gateways import service_process
from tests.support.processes import told_to

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser, pytest.mark.own_start]

CANARY = "canary-of-this-test"
PAGE = (
    b"<html lang=fr><title>Bonjour</title><p>Une page dans une autre langue que celle du navigateur."
    b"<form method=post action=/x><input name=name autocomplete=name><input name=cc autocomplete=cc-number>"
    b"<input type=password name=password autocomplete=current-password><button>Envoyer</button></form></html>"
)


class Recorder:
    """A proxy with one site, which records the host of every requested URL and tunnel."""

    def __init__(self) -> None:
        self.hosts = list[str]()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            target = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            host = target.partition("://")[2].partition("/")[0] or target
            self.hosts.append(host)
            status, body = ("200 OK", PAGE) if host == "page.test" else ("502 Bad Gateway", b"")
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def recorder() -> AsyncIterator[Recorder]:
    found = Recorder()
    async with await asyncio.start_server(found.serve, "127.0.0.1", 0) as server:
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield found


async def test_the_browser_calls_only_the_pages_host_and_no_child_has_a_secret(tmp_path: Path) -> None:
    secrets = dict.fromkeys(("BROWSE_TOKEN", "AUTH_SECRET", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"), CANARY)
    async with recorder() as proxy, service_process(tmp_path, BROWSE_PROXY=proxy.url, **secrets) as service:
        async with caller(service, "agent") as agent:
            await agent.call("goto", pageId="p", url="http://page.test/")
            for name in ("name", "cc", "password"):
                await agent.call("fill", pageId="p", selector=f"[name={name}]", value="4111 1111 1111 1111")
            await agent.call("click", pageId="p", selector="button")
            await agent.call("goto", pageId="p", url="http://page.test/two")
        children = psutil.Process(service.pid).children(recursive=True)
        told = [told_to(child) for child in children]
    assert {*proxy.hosts} == {"page.test"}
    assert any("run-driver" in each for each in told)
    assert any("--type=renderer" in each for each in told)
    assert [each for each in told if CANARY in each] == []
    is_root = os.geteuid() == 0
    assert any("--no-sandbox" in each for each in told) is is_root, "the sandbox is off for root alone"
    assert any("--disable-extensions" in each for each in told)

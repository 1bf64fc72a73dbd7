"""Tests that nothing is sent to a program that took the port of a browser which was killed, and relays to its own."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from browse_together.contract import wire
from tests.support.persons import Persons
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def relaying(taken: Persons, own: Persons, log: Path) -> AsyncIterator[None]:
    """Run a process that listens where a browser did, and relays to another."""
    (port, path), (other_port, other_path) = (each.port_file.read_text().split() for each in (taken, own))
    words = ("-m", "tests.support.devtools_relay", port, path, other_port, other_path)
    with log.open("w") as said:
        relay = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=said)
        try:
            await become(lambda: "ready" in log.read_text())
            yield
        finally:
            relay.kill()
            await relay.wait()


async def test_who_relays_at_the_port_of_a_killed_browser_gets_no_connection_and_no_word_of_an_agents(
    start: StartService, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    site.page("/login", "<input id=p type=password>")
    theirs, attackers = Persons(tmp_path / "theirs"), Persons(tmp_path / "attackers")
    log = tmp_path / "relayed.txt"
    try:
        await theirs.ready()
        await attackers.ready()
        service = await start()
        async with service.agent(operator=True) as person, service.agent() as agent:
            attach = {"profileDir": str(tmp_path / "theirs")}
            assert (await person.http.post(wire.ATTACH, json=attach)).json()["result"]["state"] == "attached"
            await agent.call("goto", pageId="mine", sessionId="chrome", url=site.url("/login"))
            theirs.end(crashes=True)
            await become(lambda: not service.host.launcher.attachments.of("chrome").runs)
            async with relaying(theirs, attackers, log):
                where = theirs.port_file.read_text().split()
                async with connect("ws://127.0.0.1:{}{}".format(*where), proxy=None) as works:
                    await works.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
                    assert "targetInfos" in json.loads(await works.recv())["result"]
                dialled = log.read_text().count("GET /devtools/")
                filling = await agent.error("fill", pageId="mine", selector="#p", value="s3cret")
                anew = (await person.http.post(wire.ATTACH, json=attach)).json()["error"]
                for error in (filling, anew):
                    assert (error["code"], "Another program" in error["message"]) == ("BROWSER_LAUNCH_FAILED", True)
                    assert "Restart the browser" in error["hint"]
                assert log.read_text().count("GET /devtools/") == dialled == 1
                assert await attackers.tabs() == ["about:blank"]
            assert site.counts["/login"] == 1
    finally:
        theirs.end()
        attackers.end()

"""Tests that a person is told once, by each way they chose, that a login ends or has ended, also after a kill."""

import json
import os
from pathlib import Path

import pytest
from mcp import Client

from tests.support.gateways import chat, service_process, text_of
from tests.support.json import AnyJson
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


async def went(client: Client, url: str) -> str:
    return text_of(await client.call_tool("goto", {"pageId": "p", "url": url}))


async def test_the_last_day_and_the_end_of_a_login_are_told_once_whatever_is_killed(tmp_path: Path, site: Site) -> None:
    shown, program = tmp_path / "shown", tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" | tr "\\n" " " >> {shown}\necho >> {shown}\n')
    program.chmod(0o755)
    signed_in = {"set-cookie": "sid=0123456789abcdef; Path=/; HttpOnly; Max-Age=3000"}
    site.page("/in", Answer("in", headers=signed_in))
    site.page("/mail", Answer("", 303, headers={"location": "/login"}))
    site.page("/login", "<input type=password>")
    site.page("/hook", "taken")
    ways = {
        "BROWSE_NOTIFY_WEBHOOK": site.url("/hook"),
        "BROWSE_NOTIFY": "desktop",
        "PATH": f"{program.parent}:{os.environ['PATH']}",
    }

    def told() -> list[AnyJson]:
        logins = [json.loads(each.body)["login"] for each in site.received if each.path == "/hook"]
        return sorted((each["site"], each["state"]) for each in logins)

    def desktop() -> list[str]:
        return shown.read_text("utf-8").splitlines() if shown.exists() else []

    here, there = ("127.0.0.1", "ends"), ("127.0.0.1", "over")
    async with (
        service_process(tmp_path, **ways) as service,
        chat(service, "Claude", BROWSE_CLIENT_ID="chat-7") as client,
    ):
        await went(client, site.url("/in"))
        service.process.terminate()
        await service.process.wait()
    for number in range(2):
        async with (
            service_process(tmp_path, **ways) as service,
            chat(service, "Claude", BROWSE_CLIENT_ID="chat-7") as client,
        ):
            for _ in range(2):
                assert "the login at 127.0.0.1 seems to be over; a person signs in again" in await went(
                    client, site.url("/mail")
                )
            await become(lambda: told()[:2] == [here, there] and len(desktop()) >= 2)
            if number:  # what comes after it would come after what is told twice
                await went(client, site.url("/in", "localhost"))
                await went(client, site.url("/mail", "localhost"))
                await become(lambda: len(desktop()) >= 3 and len(told()) >= 3)
            service.process.kill()
    assert told() == [here, there, ("localhost", "over")]
    assert sum("It ends at" in each for each in desktop()) == 1
    assert len(desktop()) == 3

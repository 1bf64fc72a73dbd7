"""Tests that a secret in a call is not revealed afterwards: not in the journal, to callers, or in logs."""

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from browse_together.contract import wire
from tests.support.account import recorded
from tests.support.listening import connected, listening
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S


@pytest.mark.anyio
async def test_a_secret_is_in_no_file_reply_or_log_of_the_service(
    tmp_path: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "hunter2-Sw0rdfish"
    site.page("/login", lambda _: Answer("in", headers={"set-cookie": f"session={secret}"}))
    form = "<form action=/login><input id=pw name=pw type=password><button>Go</button></form><input id=otp>"
    async with listening(tmp_path) as service, connected(service, "a", "Alice") as agent:
        async with agent.http.stream("GET", wire.EVENTS, params={"activity": "1"}) as stream:
            lines = stream.aiter_lines()
            await anext(lines)
            await agent.call("goto", pageId="p", url=site.page("/", form) + f"?token={secret}")
            await agent.call("fill", pageId="p", selector="#pw", value=secret)
            await agent.call("type", pageId="p", selector="#otp", text=secret)
            headers = {"Authorization": f"Bearer {secret}", "X-Api-Key": secret}
            await agent.call(
                "fetch", pageId="p", url=f"/login?key={secret}", method="POST", body=secret, params={"headers": headers}
            )
            await agent.call("evaluate_script", pageId="p", expression=f"document.title = '{secret}'")
            await agent.error("evaluate_script", pageId="p", expression=f"throw new Error('{secret}')")
            await agent.call("click", pageId="p", selector="button")
            await agent.error("click", pageId="p", selector=f'[value="{secret}"]', timeout=100)
            assert secret in (await agent.call("get_current_url", pageId="p"))["url"]  # a form that sends by GET
            followed = ""
            async with asyncio.timeout(PATIENCE_S):
                while followed.count("event: activity") < 8:
                    followed += f"{await anext(lines)}\n"
        records = await recorded(agent, pageId="p")
        text = (await agent.call("get_activity", pageId="p"))["activity"]
        with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite3")) as db:
            kept = db.execute("SELECT * FROM activity").fetchall()
    assert len(records) == len(kept) == 8
    logged = capsys.readouterr()
    assert "action=fill" in logged.out
    for shown in (followed, json.dumps(records), text, repr(kept), logged.out, logged.err):
        assert secret not in shown

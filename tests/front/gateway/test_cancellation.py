"""Tests what a cancelled call does when there is nobody left to tell."""

import asyncio
from pathlib import Path

import pytest

from browse_together.client.autostart import Autostart
from browse_together.client.http import ServiceClient
from browse_together.contract.written import fingerprint
from mcp_gateway.chats import credentials
from mcp_gateway.settings import Settings

pytestmark = pytest.mark.anyio

_NOBODY = "http://127.0.0.1:9"


async def test_a_call_that_is_cancelled_after_its_connections_were_closed_leaves_no_task_that_fails(
    tmp_path: Path,
) -> None:
    settings = Settings(url=_NOBODY, data_dir=tmp_path, client_id="chat")
    client = ServiceClient(_NOBODY, credentials(settings), Autostart(_NOBODY, tmp_path, enabled=False), fingerprint())
    await client.close(1)
    before = asyncio.all_tasks()
    client.cancel("req_1")
    assert asyncio.all_tasks() == before

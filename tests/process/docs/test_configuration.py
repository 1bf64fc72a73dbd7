"""Tests that the configuration that the pages give to chat hosts is one that works."""

import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from browse_together.contract.toolsets import tools
from scripts.lint.documents import configurations


@pytest.mark.anyio
async def test_the_configured_command_is_a_gateway_that_lists_its_tools(tmp_path: Path) -> None:
    command = Path(str(configurations()[0]["command"]))
    installed = Path(sys.executable).parent / command.name
    gateway = StdioServerParameters(
        command=str(installed),
        env={"BROWSE_DATA_DIR": str(tmp_path), "BROWSE_AUTOSTART": "false", "BROWSE_CONFIG": os.devnull},
    )
    async with Client(gateway, mode="legacy", read_timeout_seconds=30) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {tool.name for tool in tools()}

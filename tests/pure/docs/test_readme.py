"""What the README says is so: its tables, its tools, its links, its configuration."""

import json
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from scripts.settings_tables import README, filled
from shared.catalogue import ACTIONS, tools

ROOT = README.parent
TEXT = README.read_text(encoding="utf-8")


def test_the_settings_tables_are_what_the_settings_classes_say() -> None:
    assert filled(TEXT) == TEXT, "run `make docs`"


def test_every_tool_is_named_and_no_other() -> None:
    section = TEXT.split("## The tools", 1)[1].split("[shared/TOOLS.md]", 1)[0]
    assert set(re.findall(r"`([a-z_0-9]+)`", section)) == set(ACTIONS)


def test_every_linked_file_exists() -> None:
    linked = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert [name for name in linked if not (ROOT / name).exists()] == []


def _configuration() -> dict[str, object]:
    block = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    servers = json.loads(block.group(1))["mcpServers"]
    assert list(servers) == ["browse-together"]
    return dict(servers["browse-together"])


def test_the_configuration_for_chat_hosts_has_the_usual_shape() -> None:
    configuration = _configuration()
    assert set(configuration) == {"command", "args", "env"}
    assert configuration["env"] == {"PORT": "8888"}


@pytest.mark.anyio
async def test_the_configured_command_is_a_gateway_that_lists_its_tools(tmp_path: Path) -> None:
    command = Path(str(_configuration()["command"]))
    installed = Path(sys.executable).parent / command.name
    gateway = StdioServerParameters(
        command=str(installed), env={"BROWSE_DATA_DIR": str(tmp_path), "BROWSE_AUTOSTART": "false"}
    )
    async with Client(gateway, mode="legacy", read_timeout_seconds=30) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {tool.name for tool in tools()}

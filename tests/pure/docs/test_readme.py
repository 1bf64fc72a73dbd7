"""Tests that what the README says is so: its tables, its tools, its links, its configuration."""

import json
import re

from scripts.settings_tables import README, filled
from shared.catalogue import ACTIONS

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

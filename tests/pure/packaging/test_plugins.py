"""Checks the skill, and the manifests by which chat clients install it together with the server from a clone."""

import json
import re

import pytest
import yaml

from browse_together.contract.installation import GATEWAY
from browse_together.contract.wire import APP_NAME
from scripts import wheel
from tests.support.json import AnyJson

SKILL = wheel.ROOT / "skills" / APP_NAME / "SKILL.md"
MOST_LINES = 150


def manifest(name: str) -> dict[str, AnyJson]:
    found: dict[str, AnyJson] = json.loads((wheel.ROOT / name).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", [".claude-plugin/plugin.json", "gemini-extension.json"])
def test_a_plugin_has_the_packages_name_and_version_and_starts_the_gateway(name: str) -> None:
    about, plugin = wheel.project()["project"], manifest(name)
    assert (plugin["name"], plugin["version"]) == (about["name"], about["version"])
    assert plugin["mcpServers"] == {APP_NAME: {"command": GATEWAY}}
    assert GATEWAY in about["scripts"]


def test_the_marketplace_offers_the_plugin_of_this_folder() -> None:
    (offered,) = manifest(".claude-plugin/marketplace.json")["plugins"]
    assert (offered["name"], offered["source"]) == (manifest(".claude-plugin/plugin.json")["name"], "./")


def test_the_skill_is_short_and_its_head_is_what_clients_take() -> None:
    text = SKILL.read_text(encoding="utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    assert head.keys() == {"name", "description"}
    assert head["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z-]{1,64}", head["name"])
    assert len(head["description"]) <= 1_024
    assert len(text.splitlines()) <= MOST_LINES

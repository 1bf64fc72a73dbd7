"""Tests that a page says what every usual setting of a browser server is here, and names only settings that
exist."""

import re

from browse_together.contract import setting_names
from browse_together.contract.catalogue import NAMES
from tests.support.docs import page

USUAL = {
    "server": {"name": "playwright-mcp", "version": "1.0.0", "description": None},
    "transport": {"type": "stdio", "maxMessageSize": 10_485_760},
    "browser": {
        "pool": {"minInstances": 1, "maxInstances": 10, "idleTimeout": 300_000},
        "launch": {"headless": True, "timeout": 30_000},
    },
    "session": {
        "storage": {"type": "sqlite", "ttl": 86_400_000},
        "cleanup": {"autoCleanup": True, "idleTimeout": 3_600_000},
    },
    "tools": {name: {"enabled": True} for name in ("navigation", "interaction", "extraction", "session", "network")},
    "resources": {
        "pages": {"enabled": True, "cacheTTL": 60_000},
        "elements": {"enabled": True, "cacheTTL": 30_000},
        "screenshots": {"enabled": True, "cacheTTL": 300_000},
        "sessions": {"enabled": True},
    },
    "security": {
        "authentication": {"required": False},
        "authorization": {"enabled": False},
        "urlWhitelist": [],
        "urlBlacklist": ["file://", "javascript:"],
    },
    "logging": {"level": "info", "format": "json", "output": "stdout"},
    "metrics": {"enabled": True, "port": 9_090, "prefix": "playwright_mcp_"},
}


def leaves(node: object, path: str = "") -> dict[str, object]:
    if not isinstance(node, dict):
        return {path: node}
    found: dict[str, object] = {}
    for name, value in node.items():
        found |= leaves(value, f"{path}.{name}" if path else name)
    return found


def rows() -> dict[str, tuple[str, str]]:
    settings = page("docs/coming-from.md").partition("\n## ")[0]
    found = re.findall(r"^\| `([\w.]+)` \| (.*?) \| (.*) \|$", settings, re.MULTILINE)
    assert len(found) == len({name for name, _, _ in found}), "a leaf is there twice"
    return {name: (usual, here) for name, usual, here in found}


def spelled(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(f"`{each}`" for each in value) or "`[]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def test_every_usual_setting_is_there_with_its_usual_value() -> None:
    expected = {name: spelled(value) if value is not None else "a sentence" for name, value in leaves(USUAL).items()}
    assert {name: usual for name, (usual, _) in rows().items()} == expected


def test_every_setting_and_tool_that_is_named_exists() -> None:
    text = page("docs/coming-from.md")
    known = {name.upper() for name in (*setting_names.SERVICE, *setting_names.GATEWAY)}
    named = {*re.findall(r"`BROWSE_(\w+)", text)}
    assert named
    assert named <= known
    of_another = text.partition("## agent-browser")[2]
    tools = {*re.findall(r"`(?:run )?([a-z]+_[a-z_]+)", of_another), *re.findall(r"`run (\w+)", of_another)}
    assert len(tools) > 40
    assert tools <= NAMES.keys()

"""Tests the MCP bundle and the registry's entry, against the rules of their formats."""

import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import jsonschema
import pytest

from browse_together.contract import toolsets
from browse_together.contract.wire import APP_NAME, VERSION
from browser_service.settings import Settings as ServiceSettings
from mcp_gateway.settings import Settings as GatewaySettings
from scripts import bundle, wheel
from tests.support.json import AnyJson

Schema = dict[str, AnyJson]

TEXT: Final[Schema] = {"type": "string", "minLength": 1}
TEXTS: Final[Schema] = {"type": "array", "items": {"type": "string"}}


def closed(needed: Schema, /, **optional: Schema) -> Schema:
    """Return the schema of an object with no other fields than these."""
    fields = {**needed, **optional}
    return {"type": "object", "properties": fields, "required": [*needed], "additionalProperties": False}


COMMAND: Final = closed({"command": TEXT}, args=TEXTS, env={"type": "object", "additionalProperties": TEXT})
MANIFEST: Final = closed(
    {
        "manifest_version": {"const": "0.4"},
        "name": TEXT,
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "description": TEXT,
        "author": closed({"name": TEXT}, email=TEXT, url=TEXT),
        "server": closed(
            {"type": {"enum": ["python", "node", "binary", "uv"]}, "entry_point": TEXT}, mcp_config=COMMAND
        ),
    },
    display_name=TEXT,
    long_description=TEXT,
    tools={"type": "array", "items": closed({"name": TEXT}, description=TEXT)},
    tools_generated={"type": "boolean"},
    prompts_generated={"type": "boolean"},
    keywords=TEXTS,
    license=TEXT,
    compatibility=closed(
        {},
        platforms={"type": "array", "items": {"enum": ["darwin", "win32", "linux"]}},
        runtimes=closed({}, python=TEXT, node=TEXT),
    ),
    user_config={
        "type": "object",
        "additionalProperties": closed(
            {
                "type": {"enum": ["string", "number", "boolean", "directory", "file"]},
                "title": TEXT,
                "description": TEXT,
            },
            required={"type": "boolean"},
            default={"type": ["string", "number", "boolean", "array"]},
            multiple={"type": "boolean"},
            sensitive={"type": "boolean"},
        ),
    },
)
"""The rules of manifest version 0.4, as far as ours has their fields; a field beside them is refused there too."""

VARIABLE: Final[Schema] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z_]+$"},
        "description": TEXT,
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "default": {"type": "string"},
    },
    "required": ["name"],
}
ARGUMENT: Final[Schema] = {
    "type": "object",
    "properties": {"type": {"enum": ["positional", "named"]}, "value": {"type": "string"}},
    "required": ["type", "value"],
}
PACKAGE: Final = closed(
    {
        "registryType": {"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
        "identifier": TEXT,
        "version": {"type": "string", "minLength": 1, "maxLength": 255, "not": {"const": "latest"}},
        "transport": closed({"type": {"const": "stdio"}}),
    },
    runtimeHint=TEXT,
    packageArguments={"type": "array", "items": ARGUMENT},
    environmentVariables={"type": "array", "items": VARIABLE},
)
SERVER: Final[Schema] = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string", "pattern": r"/schemas/\d{4}-\d\d-\d\d/server\.schema\.json$"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255},
        "packages": {"type": "array", "items": PACKAGE},
    },
    "required": ["name", "description", "version"],
}
"""The rules of the registry's schema of 2025-12-11, likewise."""


def offered() -> dict[str, str]:
    """Return the variables of the offered settings, and the settings' names."""
    return {f"BROWSE_{name.upper()}": name for names in bundle.OFFERED.values() for name in names}


def test_the_manifest_follows_the_rules_of_its_version() -> None:
    manifest = bundle.manifest()
    jsonschema.validate(manifest, MANIFEST)
    assert (manifest["name"], manifest["version"]) == (APP_NAME, VERSION)
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in toolsets.tools()]


def test_a_host_asks_for_settings_that_exist_and_hands_each_on_whether_it_was_given_or_not() -> None:
    manifest = bundle.manifest()
    asked, config = manifest["user_config"], manifest["server"]["mcp_config"]
    assert set(config["env"]) == set(offered())
    assert all(config["env"][variable] == f"${{user_config.{name}}}" for variable, name in offered().items())
    assert set(asked) == set(offered().values())
    assert all("default" in option for option in asked.values())
    used = re.findall(r"\$\{(?!user_config\.)(\w+)\}", json.dumps(config))
    assert set(used) == {"__dirname"}


def test_the_defaults_that_a_host_hands_on_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in offered():
        monkeypatch.delenv(variable, raising=False)
    before = (GatewaySettings(), ServiceSettings())
    for variable, name in offered().items():
        default = bundle.manifest()["user_config"][name]["default"]
        monkeypatch.setenv(variable, str(default).lower() if isinstance(default, bool) else default)
    assert (GatewaySettings(), ServiceSettings()) == before


def test_the_registrys_entry_follows_its_rules_and_starts_the_gateway_on_stdio() -> None:
    entry = bundle.server_json()
    jsonschema.validate(entry, SERVER)
    (package,) = entry["packages"]
    assert (package["registryType"], package["identifier"], package["version"]) == ("pypi", APP_NAME, VERSION)
    assert [argument["value"] for argument in package["packageArguments"]] == ["mcp"]
    assert {variable["name"] for variable in package["environmentVariables"]} == set(offered())
    assert "remotes" not in entry


def test_the_bundle_has_what_its_manifest_names_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    built = tmp_path / f"browse_together-{VERSION}-py3-none-any.whl"
    built.write_bytes(b"a wheel")
    made = bundle.pack(built, tmp_path)
    assert made.name == f"{APP_NAME}-{VERSION}.mcpb"
    first = made.read_bytes()
    assert bundle.pack(built, tmp_path).read_bytes() == first
    with zipfile.ZipFile(made) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(inside["manifest.json"])
    compile(inside[manifest["server"]["entry_point"]], "server.py", "exec")
    environment = tomllib.loads(inside["pyproject.toml"].decode())
    assert environment["tool"]["uv"]["sources"][APP_NAME] == {"path": built.name}
    assert environment["project"]["requires-python"] == wheel.project()["project"]["requires-python"]
    assert inside[built.name] == b"a wheel"
    assert b"MIT License" in inside["LICENSE"]

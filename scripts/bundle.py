"""Writes what others distribute: the wheel and the source archive, an MCP bundle, which a chat's host installs by a
click, and the registry's entry.

The bundle has the wheel but no dependencies, because compiled ones differ by platform: the host's uv installs them, in
the versions of constraints.txt. Both files are made from pyproject.toml and the settings classes.
"""

import json
import zipfile
from pathlib import Path
from typing import Any, Final, get_args

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from browse_together.contract import toolsets
from browser_service.settings import Settings as ServiceSettings
from mcp_gateway.settings import Settings as GatewaySettings
from scripts import wheel

Json = dict[str, Any]  # Any: JSON

INTO: Final = wheel.ROOT / "dist"
OFFERED: Final[dict[type[BaseSettings], tuple[str, ...]]] = {
    GatewaySettings: ("toolsets", "session"),
    ServiceSettings: ("headless", "executable_path", "data_dir", "cdp_url", "url_whitelist", "url_blacklist"),
}
"""Settings for which a host asks a person. All others can be set by environment variables."""
MANIFEST_VERSION: Final = "0.4"
"""The first version that knows servers of type uv."""
SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_ENTRY: Final = "server.py"
_TITLE: Final = "Browse together"
_ABOUT: Final = (
    "One browser on your machine for all your chats: sign in once, and each chat works in that login, in pages of its "
    "own. A page belongs to whoever opened it; another chat's act on it is refused, with the call to make instead.\n\n"
    "It uses an installed Chrome, Edge or Chromium, and says what to do where there is none. The first start takes a "
    "minute, because its packages are fetched then."
)
_PROGRAM: Final = '''"""Runs the gateway, which `uv run` has installed from the wheel beside this file."""

from browse_together.gateway import main

main()
'''
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""Date of every file in the bundle, so that the same sources make the same bytes."""


def manifest() -> Json:
    about = wheel.project()["project"]
    options = {name: (variable, field) for name, variable, field in _options()}
    command = ["run", "--project", "${__dirname}", "--quiet", f"${{__dirname}}/{_ENTRY}"]
    env = {variable: f"${{user_config.{name}}}" for name, (variable, _) in options.items()}
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": about["name"],
        "display_name": _TITLE,
        "version": about["version"],
        "description": about["description"],
        "long_description": _ABOUT,
        "author": {"name": about["authors"][0]["name"]},
        "server": {
            "type": "uv",
            "entry_point": _ENTRY,
            "mcp_config": {"command": "uv", "args": command, "env": env},
        },
        "tools": [{"name": tool.name, "description": _first_line(tool.description)} for tool in toolsets.tools()],
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": about["keywords"],
        "license": about["license"],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": about["requires-python"]},
        },
        "user_config": {name: _asked(name, field) for name, (_, field) in options.items()},
    }


def server_json() -> Json:
    """Return the entry of the MCP registry: the package of the index, whose command `mcp` speaks on stdio."""
    document = wheel.project()
    about = document["project"]
    variables = [
        {"name": variable, "description": field.description, "format": _format(name, field), **_given(field)}
        for name, variable, field in _options()
    ]
    package = {
        "registryType": "pypi",
        "identifier": about["name"],
        "version": about["version"],
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "environmentVariables": variables,
    }
    return {
        "$schema": SCHEMA,
        "name": document["tool"]["browse-together"]["registry-name"],
        "title": _TITLE,
        "description": about["description"],
        "version": about["version"],
        "packages": [package],
    }


def environment(wheel_name: str) -> str:
    """Return the bundle's pyproject.toml, which tells uv what to install."""
    about = wheel.project()["project"]
    lines = (wheel.ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    return "\n".join(
        [
            "[project]",
            f"name = {json.dumps(about['name'] + '-bundle')}",
            f"version = {json.dumps(about['version'])}",
            f"requires-python = {json.dumps(about['requires-python'])}",
            f"dependencies = [{json.dumps(about['name'])}]",
            "",
            "[tool.uv]",
            "package = false",
            f"constraint-dependencies = {json.dumps(pins, indent=2)}",
            "",
            "[tool.uv.sources]",
            f"{about['name']} = {{ path = {json.dumps(wheel_name)} }}",
            "",
        ]
    )


def pack(built: Path, into: Path) -> Path:
    """Write the bundle for a wheel."""
    about = wheel.project()["project"]
    bundle = into / f"{about['name']}-{about['version']}.mcpb"
    contents = {
        "manifest.json": as_text(manifest()).encode(),
        "pyproject.toml": environment(built.name).encode(),
        _ENTRY: _PROGRAM.encode(),
        "LICENSE": (wheel.ROOT / "LICENSE").read_bytes(),
        built.name: built.read_bytes(),
    }
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return bundle


def as_text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _options() -> list[tuple[str, str, FieldInfo]]:
    """Return name, variable and field of each offered setting."""
    return [
        (name, f"BROWSE_{name.upper()}", settings.model_fields[name])
        for settings, names in OFFERED.items()
        for name in names
    ]


def _asked(name: str, field: FieldInfo) -> Json:
    """Return how a host asks for a setting. Each has a default, because without one, hosts pass on the variable's
    name."""
    kind = (
        "directory" if name.endswith("_dir") else {"filepath": "file"}.get(_format(name, field), _format(name, field))
    )
    default = field.default if isinstance(field.default, bool) else _given(field).get("default", "")
    title = name.replace("_", " ").capitalize()
    return {"type": kind, "title": title, "description": field.description, "required": False, "default": default}


def _format(name: str, field: FieldInfo) -> str:
    parts = get_args(field.annotation)
    kinds = {field.annotation, *parts, *(inner for part in parts for inner in get_args(part))}
    if Path in kinds:
        return "filepath"
    if bool in kinds:
        return "boolean"
    if str in kinds:
        return "string"
    raise TypeError(f"a host cannot ask for {name}, which is {field.annotation}")


def _given(field: FieldInfo) -> dict[str, str]:
    """Return the default as an environment variable has it; nothing if there is none."""
    if isinstance(field.default, bool):
        return {"default": str(field.default).lower()}
    names = sorted(field.default) if isinstance(field.default, frozenset) else []
    return {"default": ",".join(names)} if names else {}


def _first_line(description: str) -> str:
    return description.strip().splitlines()[0]


def main() -> None:
    INTO.mkdir(exist_ok=True)
    built = wheel.build(INTO)
    entry = INTO / "server.json"
    entry.write_text(as_text(server_json()), encoding="utf-8")
    for made in (built, wheel.build_source(INTO), pack(built, INTO), entry):
        print(made.relative_to(wheel.ROOT))  # noqa: T201 - what a person asked for


if __name__ == "__main__":
    main()

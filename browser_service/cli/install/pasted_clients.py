"""The chat clients whose file a person edits: where it is on each platform, and the lines that go in."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from browser_service.cli.install.chat_clients import Gateway, Skills, in_home, vscode_file, words_of
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.texts import Entry

Variables = Mapping[str, str]
"""The gateway's."""


def _opencode(machine: Machine) -> Path:
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    with_comments = folder / "opencode.jsonc"
    return with_comments if with_comments.exists() else folder / "opencode.json"


def _zed(machine: Machine) -> Path:
    if machine.platform == "win32":
        return machine.settings_dir / "Zed" / "settings.json"
    return machine.folder("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json"


def _cline(machine: Machine) -> Path:
    """Return the file of the extension for VS Code if that is here, else that of the command line."""
    given = machine.environment.get("CLINE_MCP_SETTINGS_PATH")
    extension = vscode_file(machine).parent / "globalStorage" / "saoudrizwan.claude-dev"
    folder = extension if extension.is_dir() else machine.home / ".cline" / "data"
    return Path(given) if given else folder / "settings" / "cline_mcp_settings.json"


def _goose(machine: Machine) -> Path:
    if machine.platform == "win32":
        return machine.settings_dir / "Block" / "goose" / "config" / "config.yaml"
    return machine.home / ".config" / "goose" / "config.yaml"


def json_lines(section: str, name: str, entry: Entry) -> str:
    return json.dumps({section: {name: entry}}, indent=2)


def usual_entry(gateway: Gateway, variables: Variables) -> Entry:
    """Return the entry that most clients take."""
    return {**words_of(gateway), **({"env": {**variables}} if variables else {})}


def _opencode_entry(gateway: Gateway, variables: Variables) -> Entry:
    return {"type": "local", "command": [*gateway], **({"environment": {**variables}} if variables else {})}


def _copilot_entry(gateway: Gateway, variables: Variables) -> Entry:
    return {"type": "local", **usual_entry(gateway, variables), "tools": ["*"]}


def _goose_entry(gateway: Gateway, variables: Variables) -> Entry:
    how: Entry = {"type": "stdio", "enabled": True, "timeout": 300}
    return {**how, "cmd": gateway[0], "args": list(gateway[1:]), "envs": {**variables}}


def _yaml_lines(section: str, name: str, entry: Entry) -> str:
    values = {"name": name, **entry}
    lines = [f"    {key}: {json.dumps(value)}" for key, value in values.items()]  # YAML takes values as JSON has them
    return "\n".join([f"{section}:", f"  {name}:", *lines])


@dataclass(frozen=True)
class PastedClient:
    """A chat client whose file a person edits: where it is, and what goes in."""

    title: str
    file: Callable[[Machine], Path]
    section: str
    next_step: str
    entry: Callable[[Gateway, Variables], Entry]
    skills: Skills | None = None
    written: Callable[[str, str, Entry], str] = json_lines

    def lines(self, name: str, gateway: Gateway, variables: Variables) -> str:
        """Return the lines for a server of this name."""
        return self.written(self.section, name, self.entry(gateway, variables))


PASTED: Final[dict[str, PastedClient]] = {
    "windsurf": PastedClient(
        "Windsurf",
        file=in_home(".codeium", "windsurf", "mcp_config.json"),
        section="mcpServers",
        next_step="Refresh the servers in Windsurf's settings, under Cascade.",
        entry=usual_entry,
        skills=in_home(".codeium", "windsurf", "skills"),
    ),
    "opencode": PastedClient(
        "OpenCode",
        file=_opencode,
        section="mcp",
        next_step="Start a new chat: opencode. `opencode mcp list` shows the server.",
        entry=_opencode_entry,
        skills=lambda machine: machine.folder("XDG_CONFIG_HOME", ".config") / "opencode" / "skills",
    ),
    "zed": PastedClient(
        "Zed",
        file=_zed,
        section="context_servers",
        next_step="Open a new thread in Zed's agent panel; its settings show the server.",
        entry=usual_entry,
        skills=in_home(".agents", "skills"),
    ),
    "copilot": PastedClient(
        "Copilot CLI",
        file=lambda machine: machine.folder("COPILOT_HOME", ".copilot") / "mcp-config.json",
        section="mcpServers",
        next_step="Start a new chat: copilot. In it, /mcp show shows the server.",
        entry=_copilot_entry,
        skills=lambda machine: machine.folder("COPILOT_HOME", ".copilot") / "skills",
    ),
    "cline": PastedClient(
        "Cline",
        file=_cline,
        section="mcpServers",
        next_step="Open a new task in Cline; its MCP servers show it.",
        entry=usual_entry,
        skills=in_home(".agents", "skills"),
    ),
    "jetbrains": PastedClient(
        "JetBrains Junie",
        file=in_home(".junie", "mcp", "mcp.json"),
        section="mcpServers",
        next_step="Open a new task in Junie. AI Assistant has a list of its own in its settings: paste the same there.",
        entry=usual_entry,
    ),
    "goose": PastedClient(
        "Goose",
        file=_goose,
        section="extensions",
        next_step="Start a new chat: goose session.",
        entry=_goose_entry,
        written=_yaml_lines,
    ),
}

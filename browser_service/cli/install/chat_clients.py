"""The chat clients: where each lists its servers, in which format, and its own command for changes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import JsonValue

from browser_service.cli.install.machine import Machine
from browser_service.cli.install.texts import Entry, Format, JsonText, TomlText

ClientName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "codex", "windsurf", "gemini"]

Gateway = Sequence[str]
"""The words of the command that a client starts."""

_PLAIN: Final = JsonText()
_WITH_COMMENTS: Final = JsonText(comments=True)


@dataclass(frozen=True)
class ChatClient:
    """A chat client, and how to register a server there."""

    title: str
    file: Callable[[Machine], Path]
    """The account's configuration file, not a project's."""
    format: Format
    section: str
    next_step: str
    """What makes the client notice the change."""
    program: str = ""
    adding: Callable[[str, Gateway], list[str]] | None = None
    removing: Callable[[str], list[str]] | None = None
    says_type: bool = False
    """True if an entry names its transport."""

    def entry(self, gateway: Gateway) -> Entry:
        kind: dict[str, JsonValue] = {"type": "stdio"} if self.says_type else {}
        return {**kind, "command": gateway[0], "args": list(gateway[1:])}

    def is_on(self, machine: Machine) -> bool:
        """Return whether its program, file or folder exists."""
        file = self.file(machine)
        has_folder = file.parent != machine.home and file.parent.is_dir()
        return bool(self.program and machine.program(self.program)) or has_folder or file.exists()


def _claude_desktop(machine: Machine) -> Path:
    """Return its configuration file; for the Store package on Windows a separate one, because that does not see the
    usual file."""
    packages = machine.folder("LOCALAPPDATA", "AppData", "Local") / "Packages"
    packaged = sorted(packages.glob("Claude_*/LocalCache/Roaming/Claude")) if machine.platform == "win32" else []
    return (packaged[0] if packaged else machine.settings_dir / "Claude") / "claude_desktop_config.json"


def _claude_code(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR") / ".claude.json"


def _vscode(machine: Machine) -> Path:
    portable = machine.environment.get("VSCODE_PORTABLE")
    profile = Path(portable) / "user-data" if portable else machine.settings_dir / "Code"
    return profile / "User" / "mcp.json"


def _added_to_vscode(name: str, gateway: Gateway) -> list[str]:
    server = {"name": name, "type": "stdio", "command": gateway[0], "args": list(gateway[1:])}
    return ["--add-mcp", json.dumps(server)]


CLIENTS: Final[dict[ClientName, ChatClient]] = {
    "claude-desktop": ChatClient(
        "Claude Desktop",
        file=_claude_desktop,
        format=_PLAIN,
        section="mcpServers",
        next_step="Quit Claude Desktop and open it again.",
    ),
    "claude-code": ChatClient(
        "Claude Code",
        file=_claude_code,
        format=_PLAIN,
        section="mcpServers",
        next_step="Start a new chat: claude. In it, /mcp shows the server.",
        program="claude",
        adding=lambda name, gateway: ["mcp", "add", "--scope", "user", name, "--", *gateway],
        removing=lambda name: ["mcp", "remove", "--scope", "user", name],
        says_type=True,
    ),
    "cursor": ChatClient(
        "Cursor",
        file=lambda machine: machine.home / ".cursor" / "mcp.json",
        format=_WITH_COMMENTS,
        section="mcpServers",
        next_step="Open a new chat in Cursor; its settings show the server under MCP.",
    ),
    "vscode": ChatClient(
        "VS Code",
        file=_vscode,
        format=_WITH_COMMENTS,
        section="servers",
        next_step="Open a chat in agent mode; `MCP: List Servers` shows the server.",
        program="code",
        adding=_added_to_vscode,
        says_type=True,
    ),
    "codex": ChatClient(
        "Codex",
        file=lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
        format=TomlText(),
        section="mcp_servers",
        next_step="Start a new chat: codex. In it, /mcp shows the server.",
        program="codex",
        adding=lambda name, gateway: ["mcp", "add", name, "--", *gateway],
        removing=lambda name: ["mcp", "remove", name],
    ),
    "windsurf": ChatClient(
        "Windsurf",
        file=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
        format=_WITH_COMMENTS,
        section="mcpServers",
        next_step="Refresh the servers in Windsurf's settings, under Cascade.",
    ),
    "gemini": ChatClient(
        "Gemini CLI",
        file=lambda machine: machine.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json",
        format=_WITH_COMMENTS,
        section="mcpServers",
        next_step="Start a new chat: gemini. In it, /mcp shows the server.",
        program="gemini",
        adding=lambda name, gateway: ["mcp", "add", "--scope", "user", name, *gateway],
        removing=lambda name: ["mcp", "remove", "--scope", "user", name],
    ),
}

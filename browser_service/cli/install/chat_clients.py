"""The chat clients that are set up here: where each lists its servers, in which format, and its own command."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from browser_service.cli.install.machine import Machine
from browser_service.cli.install.texts import Entry, Format, JsonText, TomlText

Gateway = Sequence[str]
"""The words of the command that a client starts."""
Skills = Callable[[Machine], Path]
"""Returns the account's folder of skills."""

_PLAIN: Final = JsonText()
_WITH_COMMENTS: Final = JsonText(comments=True)


@dataclass(frozen=True)
class ChatClient:
    """A chat client in which a server can be registered."""

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
    kind: str = ""
    """The type of server in an entry, if the client asks for one."""
    skills: Skills | None = None

    def entry(self, gateway: Gateway) -> Entry:
        return {**({"type": self.kind} if self.kind else {}), **words_of(gateway)}

    def starts(self, entry: JsonValue, gateway: Gateway) -> bool:
        """Return whether an entry starts this gateway, however it is written."""
        if not isinstance(entry, dict):
            return False
        return all(entry.get(name, []) == words for name, words in words_of(gateway).items())

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


def vscode_file(machine: Machine) -> Path:
    portable = machine.environment.get("VSCODE_PORTABLE")
    profile = Path(portable) / "user-data" if portable else machine.settings_dir / "Code"
    return profile / "User" / "mcp.json"


def in_home(*parts: str) -> Callable[[Machine], Path]:
    return lambda machine: machine.home.joinpath(*parts)


def _added_to_vscode(name: str, gateway: Gateway) -> list[str]:
    server = {"name": name, "type": "stdio", "command": gateway[0], "args": list(gateway[1:])}
    return ["--add-mcp", json.dumps(server)]


def words_of(gateway: Gateway) -> dict[str, JsonValue]:
    """Return the words as most clients take them."""
    return {"command": gateway[0], "args": list(gateway[1:])}


CLIENTS: Final[dict[str, ChatClient]] = {
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
        kind="stdio",
        skills=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "skills",
    ),
    "cursor": ChatClient(
        "Cursor",
        file=lambda machine: machine.home / ".cursor" / "mcp.json",
        format=_WITH_COMMENTS,
        section="mcpServers",
        next_step="Open a new chat in Cursor; its settings show the server under MCP.",
        skills=in_home(".cursor", "skills"),
    ),
    "vscode": ChatClient(
        "VS Code",
        file=vscode_file,
        format=_WITH_COMMENTS,
        section="servers",
        next_step="Open a chat in agent mode; `MCP: List Servers` shows the server.",
        program="code",
        adding=_added_to_vscode,
        kind="stdio",
        skills=in_home(".copilot", "skills"),
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
        skills=in_home(".agents", "skills"),
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
        skills=lambda machine: machine.folder("GEMINI_CLI_HOME") / ".gemini" / "skills",
    ),
}

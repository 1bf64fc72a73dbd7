"""The chat clients: where each lists its servers, in which format, and its own command for changes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue

from browser_service.cli.install.machine import Machine
from browser_service.cli.install.texts import Entry, Format, JsonText, TomlText

ClientName = Literal[
    "claude-desktop",
    "claude-code",
    "cursor",
    "vscode",
    "codex",
    "windsurf",
    "gemini",
    "opencode",
    "zed",
    "copilot",
    "cline",
    "jetbrains",
]

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
    kind: str = ""
    """The type of server in an entry, if the client asks for one."""
    in_one: bool = False
    """True if `command` is a list of all words."""
    further: Entry = field(default_factory=dict)
    """What else an entry needs."""
    env_key: str = "env"
    """Where an entry has the variables of its server."""
    elsewhere: str = ""
    """A group in the section that has the servers instead, in files of another version."""
    skills: Callable[[Machine], Path] | None = None
    """The account's folder of skills."""

    def entry(self, gateway: Gateway) -> Entry:
        kind: dict[str, JsonValue] = {"type": self.kind} if self.kind else {}
        words = list[JsonValue](gateway)
        command: dict[str, JsonValue] = {"command": words} if self.in_one else {"command": words[0], "args": words[1:]}
        return {**kind, **command, **self.further}

    def starts(self, entry: JsonValue, gateway: Gateway) -> bool:
        """Return whether an entry starts this gateway, however it is written."""
        if not isinstance(entry, dict):
            return False
        wanted = self.entry(gateway)
        return all(entry.get(name, []) == wanted[name] for name in ("command", "args") if name in wanted)

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
    extension = _vscode(machine).parent / "globalStorage" / "saoudrizwan.claude-dev"
    folder = extension if extension.is_dir() else machine.home / ".cline" / "data"
    return Path(given) if given else folder / "settings" / "cline_mcp_settings.json"


def _in_home(*parts: str) -> Callable[[Machine], Path]:
    return lambda machine: machine.home.joinpath(*parts)


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
        kind="stdio",
        skills=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "skills",
    ),
    "cursor": ChatClient(
        "Cursor",
        file=lambda machine: machine.home / ".cursor" / "mcp.json",
        format=_WITH_COMMENTS,
        section="mcpServers",
        next_step="Open a new chat in Cursor; its settings show the server under MCP.",
        skills=_in_home(".cursor", "skills"),
    ),
    "vscode": ChatClient(
        "VS Code",
        file=_vscode,
        format=_WITH_COMMENTS,
        section="servers",
        next_step="Open a chat in agent mode; `MCP: List Servers` shows the server.",
        program="code",
        adding=_added_to_vscode,
        kind="stdio",
        skills=_in_home(".copilot", "skills"),
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
        skills=_in_home(".agents", "skills"),
    ),
    "windsurf": ChatClient(
        "Windsurf",
        file=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
        format=_WITH_COMMENTS,
        section="mcpServers",
        next_step="Refresh the servers in Windsurf's settings, under Cascade.",
        skills=_in_home(".codeium", "windsurf", "skills"),
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
    "opencode": ChatClient(
        "OpenCode",
        file=_opencode,
        format=_WITH_COMMENTS,
        section="mcp",
        next_step="Start a new chat: opencode. `opencode mcp list` shows the server.",
        kind="local",
        in_one=True,
        env_key="environment",
        elsewhere="servers",
        skills=lambda machine: machine.folder("XDG_CONFIG_HOME", ".config") / "opencode" / "skills",
    ),
    "zed": ChatClient(
        "Zed",
        file=_zed,
        format=_WITH_COMMENTS,
        section="context_servers",
        next_step="Open a new thread in Zed's agent panel; its settings show the server.",
        skills=_in_home(".agents", "skills"),
    ),
    "copilot": ChatClient(
        "Copilot CLI",
        file=lambda machine: machine.folder("COPILOT_HOME", ".copilot") / "mcp-config.json",
        format=_PLAIN,
        section="mcpServers",
        next_step="Start a new chat: copilot. In it, /mcp show shows the server.",
        kind="local",
        further={"tools": ["*"]},
        skills=lambda machine: machine.folder("COPILOT_HOME", ".copilot") / "skills",
    ),
    "cline": ChatClient(
        "Cline",
        file=_cline,
        format=_PLAIN,
        section="mcpServers",
        next_step="Open a new task in Cline; its MCP servers show it.",
        skills=_in_home(".agents", "skills"),
    ),
    "jetbrains": ChatClient(
        "JetBrains Junie",
        file=_in_home(".junie", "mcp", "mcp.json"),
        format=_PLAIN,
        section="mcpServers",
        next_step="Open a new task in Junie. AI Assistant has a list of its own in its settings: paste the same there.",
    ),
}


class Pasted(NamedTuple):
    """Where the lines go, and how they are made from the server's name, command and variables."""

    where: str
    lines: Callable[[str, Gateway, Mapping[str, str]], str]


def _goose(name: str, gateway: Gateway, variables: Mapping[str, str]) -> str:
    entry = {
        "name": name,
        "type": "stdio",
        "enabled": True,
        "cmd": gateway[0],
        "args": list(gateway[1:]),
        "envs": {**variables},
        "timeout": 300,
    }
    lines = [f"    {key}: {json.dumps(value)}" for key, value in entry.items()]  # YAML takes values as JSON has them
    return "\n".join(["extensions:", f"  {name}:", *lines])


def _usual(name: str, gateway: Gateway, variables: Mapping[str, str]) -> str:
    entry = {"command": gateway[0], "args": list(gateway[1:]), **({"env": {**variables}} if variables else {})}
    return json.dumps({"mcpServers": {name: entry}}, indent=2)


PASTED: Final[Mapping[str, Pasted]] = MappingProxyType(
    {
        "goose": Pasted(
            "~/.config/goose/config.yaml (%APPDATA%\\Block\\goose\\config\\config.yaml), in its `extensions`",
            _goose,
        )
    }
)
"""By client."""
UNKNOWN: Final = Pasted("the file in which it lists its MCP servers; most clients take this form", _usual)

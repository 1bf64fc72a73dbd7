"""Runs `browse-together` in this process for a user with an empty home, no programs on the PATH and no terminal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from typer.testing import CliRunner, Result

from browser_service.cli import root
from browser_service.cli.install.machine import Machine

ELSEWHERE = (
    "BROWSE_CONFIG",
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "VSCODE_PORTABLE",
    "COPILOT_HOME",
    "CLINE_MCP_SETTINGS_PATH",
    "XDG_RUNTIME_DIR",
)
"""Variables that would lead out of the home."""


@dataclass
class Home:
    path: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.path), "PATH": str(self.path / "bin"), "COLUMNS": "300", "TMPDIR": str(self.path)}
        return own | {"BROWSE_DATA_DIR": str(self.path / "data"), **self.variables}

    @property
    def machine(self) -> Machine:
        return Machine("linux", self.path, self.environment)

    def run(self, *arguments: str, answers: str = "", **variables: str) -> Result:
        none = dict.fromkeys(ELSEWHERE)
        env = {**none, **self.environment, **variables}
        return CliRunner().invoke(root.app, [*arguments], input=answers, env=env)

    def succeed(self, *arguments: str, **variables: str) -> str:
        done = self.run(*arguments, **variables)
        assert done.exit_code == 0, done.output
        return done.output

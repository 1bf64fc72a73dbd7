"""Copies the skill, which tells an agent how to work in this browser, into a client's folder of skills."""

from pathlib import Path
from typing import Final

import browse_together
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.wire import APP_NAME
from browser_service.cli import files
from browser_service.cli.install.chat_clients import ChatClient
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.pasted_clients import PastedClient

SOURCE: Final = Path(browse_together.__file__).parent / "skills" / APP_NAME / "SKILL.md"


def place(client: ChatClient | PastedClient, machine: Machine) -> Path | None:
    """Return where a client reads the skill; None if it has no folder of skills."""
    return client.skills(machine) / APP_NAME / SOURCE.name if client.skills else None


def required_place(client: ChatClient | PastedClient, machine: Machine) -> Path:
    """Return where a client reads the skill. Raises ValidationFailed if it has no folder of skills."""
    if path := place(client, machine):
        return path
    raise ValidationFailed(
        f"{client.title} has no folder of skills on this machine.", hint=f"Upload this file in its settings: {SOURCE}"
    )


def text() -> str:
    return SOURCE.read_text(encoding="utf-8")


def add(path: Path) -> Path | None:
    """Write the skill. Returns where a text that was changed by hand, or is of another version, is kept."""
    backup = _keep(path)
    files.replace(path, files.read(path), text())
    return backup


def remove(path: Path) -> Path | None:
    """Remove the skill, and its folder if nothing else is there. Returns where a changed text is kept, as above."""
    backup = _keep(path)
    path.unlink()
    if not any(path.parent.iterdir()):
        path.parent.rmdir()
    return backup


def _keep(path: Path) -> Path | None:
    """Copy a text that is not the skill's own, and return where to."""
    if (before := files.read(path)) in {None, text()}:
        return None
    return files.keep(path, before or "")

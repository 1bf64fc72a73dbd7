"""Plays a chat that uses agent-browser, a command for agents, by its skill text. Each command is a process."""

import asyncio
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from benchmarks.chats import NOTES, Chat, ref_in
from benchmarks.errands import Step
from benchmarks.figures import Skipped
from benchmarks.peer import install
from benchmarks.processes import Failed, environment

NAME: Final = "agent-browser"
VERSION: Final = "0.41.2"
_MACHINES: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_SKILLS: Final = ("skills/agent-browser", "skill-data/core")
_WITHIN_S: Final = 60


@dataclass(frozen=True)
class Command:
    """An installed command with its own browser, home and session."""

    program: Path
    skill: str
    home: str
    settings: dict[str, str]

    async def run(self, *arguments: str) -> tuple[bool, str]:
        """Return whether the command succeeded, and its output."""
        process = await asyncio.create_subprocess_exec(
            *(str(self.program), "--session", "task", *arguments),
            env=environment(**self.settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(_WITHIN_S):
                said, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            raise Failed(f"{arguments} took more than {_WITHIN_S} s") from None
        return process.returncode == 0, said.decode(errors="replace")


@asynccontextmanager
async def installed(browser: str) -> AsyncIterator[Command]:
    """Install the command if it is missing, and close its browser at the end. Raises Skipped."""
    npm, machine = shutil.which("npm"), _MACHINES.get(platform.machine().lower())
    if npm is None or machine is None:
        raise Skipped(f"skipped: {NAME} needs npm, and a program for this machine")
    folder = Path(platformdirs.user_cache_dir("browse-together", appauthor=False)) / f"{NAME}-{VERSION}"
    package = folder / "node_modules" / NAME
    if not (folder / "installed").exists():
        install(npm, folder, f"{NAME}@{VERSION}")
        (folder / "installed").touch()
    program = package / "bin" / f"{NAME}-{platform.system().lower()}-{machine}"
    program.chmod(0o755)
    skill = "".join((package / part / "SKILL.md").read_text() for part in _SKILLS)
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-", ignore_cleanup_errors=True) as home:
        settings = {"HOME": home, "AGENT_BROWSER_EXECUTABLE_PATH": browser}
        if os.geteuid() == 0:
            settings["AGENT_BROWSER_ARGS"] = "--no-sandbox"
        command = Command(program, skill, home, settings)
        try:
            yield command
        finally:
            await command.run("close")


@dataclass
class BySkill(Chat):
    """A chat that acts on the refs of the interactive snapshot, and waits for what it expects. If it `searches`, it
    names elements by role and label if these are unique, and reads by headings and words."""

    command: Command | None = None

    async def start(self) -> None:
        self.count(self._command.skill)

    @property
    def _command(self) -> Command:
        if self.command is None:
            raise Failed("the chat has no command")
        return self.command

    async def run(self, *arguments: str) -> bool:
        done, self.last = await self._command.run(*arguments)
        self.count(" ".join([NAME, "--session task", *arguments]), self.last)
        self.calls += 1
        return done

    async def open(self, url: str) -> None:
        await self.must("open", url)
        self.known = ""

    async def must(self, *arguments: str) -> None:
        if not await self.run(*arguments):
            raise Failed(f"{' '.join(arguments)}: {self.last[:600]}")

    async def expect(self, step: Step) -> None:
        if step.framed:  # a snapshot shows frames, but a wait does not see into them
            await self.must("snapshot")
            self.known = self.last
        elif step.value not in self.last:
            await self.must("wait", "--text", step.value)

    async def ask(self, step: Step) -> None:
        if self.searches:
            await self.must("read", "--filter", step.near)
        elif step.value not in self.known:
            await self.must("read")
            self.known = self.last

    async def target(self, step: Step) -> str:
        """Return a ref, or nothing if role or label names the element."""
        by_name = self.searches and not step.near and step.do in {"click", "fill", "check"}
        return ref_in(self.known, step) if by_name else await super().target(step)

    async def locate(self, step: Step) -> str:
        await self.must("snapshot", "-i")
        self.known = self.last
        return ref_in(self.known, step)

    async def act(self, step: Step, target: str) -> None:
        if target:
            await self._by_ref(step, f"@{target}")
        elif not await self._by_name(step):
            await self._by_ref(step, f"@{await super().target(step)}")
        if step.loads:
            self.known = ""

    async def _by_name(self, step: Step) -> bool:
        if step.do == "fill":
            return await self.run("find", "label", step.name, "fill", step.value)
        do = "check" if step.do == "check" else "click"
        return await self.run("find", "role", step.role, do, "--name", step.name)

    async def _by_ref(self, step: Step, ref: str) -> None:
        match step.do:
            case "fill":
                await self.must("fill", ref, step.value)
            case "choose":
                await self.must("select", ref, step.value)
            case "check":
                await self.must("check", ref)
            case "upload":
                notes = Path(self._command.home) / step.value
                notes.write_bytes(NOTES)
                await self.must("upload", ref, str(notes))
            case "download":
                await self.must("download", ref, str(Path(self._command.home) / step.value))
            case _:
                await self.must("click", ref)

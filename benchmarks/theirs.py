"""Plays a chat that uses @playwright/mcp."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chats import NOTES, REF, ToolChat, ref_in
from benchmarks.errands import Step
from benchmarks.processes import Failed


@dataclass
class Theirs(ToolChat):
    """A chat through @playwright/mcp, which writes what it sees after an act to a file that is then read or searched.
    `folder` is where it may take files from."""

    folder: str = ""

    async def open(self, url: str) -> None:
        await self.call("browser_navigate", url=url)
        self.known = ""

    async def fill(self, fields: Sequence[Step]) -> None:
        filled = []
        for step in fields:
            target = await self.target(step)
            filled.append({"target": target, "name": step.name, "type": step.role, "value": step.value or "true"})
        await self.call("browser_fill_form", fields=filled)

    async def act(self, step: Step, target: str) -> None:
        if not target:
            raise Failed(f"{step.role} {step.name!r} is not in what it was told: {self.last[:600]}")
        before = _url(self.last)
        match step.do:
            case "fill":
                said = await self.call("browser_type", target=target, text=step.value)
            case "choose":
                said = await self.call("browser_select_option", target=target, values=[step.value])
            case "upload":
                notes = Path(self.folder) / step.value
                notes.write_bytes(NOTES)
                await self.call("browser_click", target=target)
                said = await self.call("browser_file_upload", paths=[str(notes)])
            case _:
                said = await self.call("browser_click", target=target)
        if _url(said) != before:
            self.known = ""

    async def ask(self, step: Step) -> None:
        if self.searches:
            await self.call("browser_find", text=step.near)
        elif step.value not in self.known:
            self.known = await self.call("browser_snapshot")

    async def look_for(self, words: str) -> None:
        if self.searches:
            await self.call("browser_find", text=words)
        else:
            self.known = await self.call("browser_snapshot")

    async def locate(self, step: Step) -> str:
        if not self.searches:
            self.known = await self.call("browser_snapshot")
            return ref_in(self.known, step)
        said = await self.call("browser_find", text=(step.near or step.name).strip())
        if ref := ref_in(said, step):
            return ref
        outer = _outer(said, step)
        return ref_in(await self.call("browser_snapshot", **({"target": outer} if outer else {})), step)


def _outer(said: str, step: Step) -> str:
    """Return the row or card around the words that were found."""
    outer = ""
    for line in said.splitlines():
        found = REF.search(line)
        if found and f"- {step.item}" in line:
            outer = found.group(1)
        if step.near.strip() in line and outer:
            return outer
    return ""


def _url(said: str) -> str:
    found = re.search(r"Page URL: (\S+)", said)
    return found.group(1) if found else ""

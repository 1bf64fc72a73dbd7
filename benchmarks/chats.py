"""Plays a chat by a scripted policy: it acts on what replies told it, and reads if that is not enough."""

import json
import re
from dataclasses import dataclass
from typing import Final

from benchmarks.processes import Failed, Gateway
from tests.support.json import AnyJson

_REF: Final = re.compile(r"\[ref=((?:f\d+)?e\d+)\]")


@dataclass(frozen=True)
class Step:
    """Describes one thing that a person would ask for. `near` are words of its row or card, whose role is `item`."""

    do: str
    role: str = ""
    name: str = ""
    value: str = ""
    near: str = ""
    item: str = "listitem"


@dataclass
class Chat:
    """Plays one side: its server, and all that it was told. `known` is what it was told of the document, newest
    first."""

    server: Gateway
    base: str
    searches: bool
    page: str = ""
    bytes: int = 0
    calls: int = 0
    known: str = ""
    last: str = ""

    async def start(self) -> None:
        """Return what every chat is given first."""
        tools = (await self.server.ask("tools/list", {}))["tools"]
        said = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
        self.bytes += len(json.dumps(said, ensure_ascii=False).encode())

    async def call(self, tool: str, **arguments: AnyJson) -> str:
        result = await self.server.call(tool, **arguments)
        self.last = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        structured = result.get("structuredContent")  # which several hosts show alone where there is any
        shown = json.dumps(structured, ensure_ascii=False, separators=(",", ":")) if structured else self.last
        self.bytes += len(shown.encode()) + len(json.dumps(arguments).encode())
        self.calls += 1
        return self.last

    async def do(self, step: Step) -> None:
        if step.do == "open":
            await self.open(f"{self.base}{step.value}")
        elif step.do == "expect":
            if step.value not in self.last:
                await self.look_for(step.value)
            if step.value not in self.last:
                raise Failed(f"{step.value!r} is not in {self.last[-600:]!r}")
        else:
            target = _ref(self.known, step) or await self.locate(step)
            if not target:
                raise Failed(f"{step.role} {step.name!r} is not in what it was told: {self.last[:600]}")
            await self.act(step.do, target, step.value)

    async def open(self, url: str) -> None:
        raise NotImplementedError

    async def act(self, do: str, target: str, value: str) -> None:
        raise NotImplementedError

    async def look_for(self, words: str) -> None:
        raise NotImplementedError

    async def locate(self, step: Step) -> str:
        raise NotImplementedError


class Ours(Chat):
    """Runs chats through our gateway."""

    async def open(self, url: str) -> None:
        self.known = await self.call("goto", pageId=self.page, url=url)

    async def act(self, do: str, target: str, value: str) -> None:
        at = {"pageId": self.page, "selector": target}
        match do:
            case "click":
                said = await self.call("click", **at)
            case "fill":
                said = await self.call("fill", **at, value=value)
            case "check":
                said = await self.call("check", **at)
            case _:
                said = await self.call("select_option", **at, label=value)
        self.known = said if "in outline" in said else f"{said}\n{self.known}"

    async def look_for(self, words: str) -> None:
        if self.searches:
            await self.call("find", pageId=self.page, text=words)
        else:
            await self._read(since=True)

    async def locate(self, step: Step) -> str:
        if not self.searches:
            return await self._read_until(step)
        if not step.near:
            return _ref(await self.call("find", pageId=self.page, role=step.role, name=step.name), step)
        said = await self.call("find", pageId=self.page, role=step.item, text=step.near)
        found = _REF.search(said)
        return f'{found.group(1)} >> role={step.role}[name="{step.name}"]' if found else ""

    async def _read_until(self, step: Step) -> str:
        await self._read(since=False)
        while not (ref := _ref(self.known, step)):
            more = re.search(r'more: snapshot (\{"cursor": "[^"]*"\})', self.last)
            if more is None:
                return ""
            self.known += await self.call("snapshot", **json.loads(more.group(1)))
        return ref

    async def _read(self, *, since: bool) -> None:
        said = await self.call("snapshot", pageId=self.page, **({"since": True} if since else {}))
        self.known = f"{said}\n{self.known}" if since else said


class Theirs(Chat):
    """Runs chats through @playwright/mcp, which writes what it sees after an act to a file that is then read or
    searched."""

    async def open(self, url: str) -> None:
        await self.call("browser_navigate", url=url)
        self.known = ""

    async def act(self, do: str, target: str, value: str) -> None:
        before = _url(self.last)
        match do:
            case "click" | "check":
                said = await self.call("browser_click", target=target)
            case "fill":
                said = await self.call("browser_type", target=target, text=value)
            case _:
                said = await self.call("browser_select_option", target=target, values=[value])
        if _url(said) != before:
            self.known = ""

    async def look_for(self, words: str) -> None:
        if self.searches:
            await self.call("browser_find", text=words)
        else:
            self.known = await self.call("browser_snapshot")

    async def locate(self, step: Step) -> str:
        if not self.searches:
            self.known = await self.call("browser_snapshot")
            return _ref(self.known, step)
        said = await self.call("browser_find", text=(step.near or step.name).strip())
        if ref := _ref(said, step):
            return ref
        outer = _outer(said, step)
        return _ref(await self.call("browser_snapshot", **({"target": outer} if outer else {})), step)


def _ref(known: str, step: Step) -> str:
    """Find an element's ref in what was told: on the line with the words it is near to, or the first after them."""
    wanted = re.compile(rf'\b{step.role} "[^"]*{re.escape(step.name)}')
    passed = not step.near
    for line in known.splitlines():
        passed = passed or step.near in line
        named = wanted.search(line) if passed else None
        found = _REF.search(line, named.end()) if named else None
        if found and not line.endswith("is gone"):
            return found.group(1)
    return ""


def _outer(said: str, step: Step) -> str:
    """Return the row or card around the words that were found."""
    outer = ""
    for line in said.splitlines():
        found = _REF.search(line)
        if found and f"- {step.item}" in line:
            outer = found.group(1)
        if step.near.strip() in line and outer:
            return outer
    return ""


def _url(said: str) -> str:
    found = re.search(r"Page URL: (\S+)", said)
    return found.group(1) if found else ""

"""Plays a chat by a scripted policy, which acts on what replies say, and reads more if that is not enough."""

import base64
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from benchmarks.errands import Step
from benchmarks.processes import Failed
from tests.support.json import AnyJson

REF: Final = re.compile(r"\bref=((?:f\d+)?e\d+)\]")
_KINDS: Final = {"goto": "goto"} | dict.fromkeys(("click", "fill", "fill_form", "select_option"), "act")
_FILLING: Final = frozenset({"fill", "choose", "check"})
_LOOKS: Final = 3
_MOST_QUERIES: Final = 12
NOTES: Final = b"Buy kettles"


@dataclass
class Chat:
    """One side of the comparison, with counts of what it received. `known` is what it knows of the document, newest
    first."""

    searches: bool
    bytes: int = 0
    calls: int = 0
    known: str = ""
    last: str = ""
    ahead: list[Step] = field(default_factory=list)
    """The steps that follow."""

    async def start(self) -> None:
        """Record what every chat receives first."""
        raise NotImplementedError

    async def do_all(self, steps: Sequence[Step]) -> None:
        """Do the steps. Consecutive fields of a form are filled the tool's own way."""
        self.ahead = [*steps]
        for filling, group in itertools.groupby(steps, lambda step: step.do in _FILLING):
            fields = [*group]
            self.ahead = self.ahead[len(fields) :] if filling else self.ahead
            if filling and len(fields) > 1:
                await self.fill(fields)
            else:
                for step in fields:
                    self.ahead = self.ahead[1:] if not filling else self.ahead
                    await self.do(step)

    async def do(self, step: Step) -> None:
        if step.do == "open":
            await self.open(step.value)
        elif step.do == "expect":
            await self.expect(step)
        elif step.do == "ask":
            await self.ask(step)
            if step.value not in self.last and step.value not in self.known:
                raise Failed(f"{step.value!r} is not in {self.last[-600:]!r}")
        else:
            await self.act(step, await self.target(step))

    async def target(self, step: Step) -> str:
        """Return how to name the element, looking again for one that is not there yet."""
        target = ref_in(self.known, step)
        for _ in range(_LOOKS):
            target = target or await self.locate(step)
        return target

    async def expect(self, step: Step) -> None:
        if step.value not in self.last:
            await self.look_for(step.value)
        if step.value not in self.last:
            raise Failed(f"{step.value!r} is not in {self.last[-600:]!r}")

    async def fill(self, fields: Sequence[Step]) -> None:
        for step in fields:
            await self.do(step)

    async def open(self, url: str) -> None:
        raise NotImplementedError

    async def act(self, step: Step, target: str) -> None:
        raise NotImplementedError

    async def ask(self, step: Step) -> None:
        raise NotImplementedError

    async def look_for(self, words: str) -> None:
        raise NotImplementedError

    async def locate(self, step: Step) -> str:
        raise NotImplementedError

    def count(self, *texts: str) -> None:
        self.bytes += sum(len(text.encode()) for text in texts)


class Server(Protocol):
    """Something that answers like an MCP server."""

    @property
    def instructions(self) -> str: ...

    async def ask(self, method: str, params: dict[str, AnyJson], /) -> dict[str, AnyJson]: ...


@dataclass
class ToolChat(Chat):
    """A chat with the tools of an MCP server."""

    server: Server | None = None
    longest: dict[str, float] = field(default_factory=dict)
    """Tokens of the longest reply of each kind."""

    async def start(self) -> None:
        tools = (await self._server.ask("tools/list", {}))["tools"]
        said = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
        self.count(json.dumps(said, ensure_ascii=False, separators=(",", ":")), self._server.instructions)

    @property
    def _server(self) -> Server:
        if self.server is None:
            raise Failed("the chat has no server")
        return self.server

    async def call(self, tool: str, **arguments: AnyJson) -> str:
        result = await self._server.ask("tools/call", {"name": tool, "arguments": arguments})
        self.last = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        structured = result.get("structuredContent")  # if there is any, several hosts show nothing else
        shown = json.dumps(structured, ensure_ascii=False, separators=(",", ":")) if structured else self.last
        self.count(tool, json.dumps(arguments, ensure_ascii=False, separators=(",", ":")), shown)
        self.calls += 1
        kind = "error" if result.get("isError") else _KINDS.get(tool, "") and _kind(tool, self.last)
        self.longest[kind] = max(self.longest.get(kind, 0), len(self.last.encode()) / 4)
        if result.get("isError"):
            raise Failed(f"{tool}: {self.last}")
        return self.last


def _kind(tool: str, said: str) -> str:
    """Return the kind of a reply, among those that have a limit."""
    return f"{_KINDS[tool]} that leads elsewhere" if tool != "goto" and "in outline" in said else _KINDS[tool]


@dataclass
class Ours(ToolChat):
    """A chat through our gateway."""

    page: str = "main"
    places: dict[str, str] = field(default_factory=dict)
    """For some words, the ref of the row or card that contains them."""

    async def open(self, url: str) -> None:
        self.places.clear()
        if self.searches:
            await self.call("goto", pageId=self.page, url=url, reply="none")
            self.known = ""
        else:
            self.known = await self.call("goto", pageId=self.page, url=url)

    async def fill(self, fields: Sequence[Step]) -> None:
        if self.searches and not all(ref_in(self.known, step) for step in fields):
            await self._search(fields)
        filled = []
        for step in fields:
            target = await self.target(step)
            filled.append({"selector": target, "value": step.value or True})
        said = await self.call("fill_form", pageId=self.page, fields=filled)
        self.known = f"{said}\n{self.known}"

    async def act(self, step: Step, target: str) -> None:
        if not target:
            raise Failed(f"{step.role} {step.name!r} is not in what it was told: {self.last[:600]}")
        at = {"pageId": self.page, "selector": target}
        match step.do:
            case "fill":
                said = await self.call("fill", **at, value=step.value)
            case "choose":
                said = await self.call("select_option", **at, label=step.value)
            case "upload":
                files = [{"name": step.value, "data": base64.b64encode(NOTES).decode()}]
                await self.call("help", name="upload_file")
                said = await self.call("call_tool", name="upload_file", arguments={**at, "files": files})
            case _:  # a click checks, and downloads
                said = await self._click(at)
        if step.do == "download" and step.value not in said:
            raise Failed(f"no download in {said!r}")
        if "in outline" in said:
            self.places.clear()
        self.known = said if "in outline" in said else f"{said}\n{self.known}"

    async def _click(self, at: dict[str, AnyJson]) -> str:
        """Click. If the page replaced the element, click what the refusal names instead."""
        try:
            return await self.call("click", **at)
        except Failed:
            if not (other := re.search(r"(\w+) has the same role and name now", self.last)):
                raise
            return await self.call("click", **{**at, "selector": other[1]})

    async def ask(self, step: Step) -> None:
        """Read the passages about the question, or the section under its heading, and the rest by the cursor."""
        if self.searches:
            await self.call("content", pageId=self.page, query=step.question)
        else:
            told = re.compile(rf"^\s*{re.escape(step.name)} \[(\w+)\]$", re.MULTILINE)
            if not (heading := told.search(self.known)):
                self.known += await self.call("content", pageId=self.page)
                heading = told.search(self.known)
            await self.call("content", pageId=self.page, section=heading.group(1) if heading else step.name)
        while step.value not in self.last and (more := re.search(r'more: content (\{"cursor": "[^"]*"\})', self.last)):
            await self.call("content", **json.loads(more.group(1)))

    async def look_for(self, words: str) -> None:
        if self.searches:
            await self.call("find", pageId=self.page, text=words)
        else:
            await self._read(since=True)

    async def locate(self, step: Step) -> str:
        if not self.searches:
            return await self._read_until(step)
        place = self.places.get(step.near)
        if not place:
            await self._search([step])
            place = self.places.get(step.near)
        if step.near:
            return f'{place} >> role={step.role}[name="{step.name}"]' if place else ""
        return ref_in(self.last, step)

    async def _search(self, steps: Sequence[Step]) -> None:
        """Search, in one call, for what these steps and the following ones in the same document need."""
        soon = [*itertools.takewhile(lambda step: step.do not in {"open", "ask"}, self.ahead)]
        last = -1 if steps[-1].loads else next((n for n, step in enumerate(soon) if step.loads), len(soon))
        wanted = [step for step in (*steps, *soon[: last + 1]) if step.role and not ref_in(self.known, step)]
        wanted = [*{(step.near or step.role, step.near or step.name): step for step in reversed(wanted)}.values()]
        wanted = wanted[::-1][:_MOST_QUERIES]
        queries = [
            {"role": step.item, "text": step.near} if step.near else {"role": step.role, "name": step.name}
            for step in wanted
        ]
        said = await self.call("find", pageId=self.page, **(queries[0] if len(queries) == 1 else {"queries": queries}))
        self.known = f"{said}\n{self.known}"
        for number, step in enumerate(wanted, 1):
            found = re.search(rf"^{number}\. .*" if len(wanted) > 1 else r"^- .*", said, re.MULTILINE)
            if step.near and found and (ref := REF.search(found[0])):
                self.places[step.near] = ref[1]

    async def _read_until(self, step: Step) -> str:
        await self._read(since=False)
        while not (ref := ref_in(self.known, step)):
            more = re.search(r'more: snapshot (\{"cursor": "[^"]*"\})', self.last)
            if more is None:
                return ""
            self.known += await self.call("snapshot", **json.loads(more.group(1)))
        return ref

    async def _read(self, *, since: bool) -> None:
        said = await self.call("snapshot", pageId=self.page, **({"since": True} if since else {}))
        self.known = f"{said}\n{self.known}" if since else said


def ref_in(known: str, step: Step) -> str:
    """Find an element's ref in what is known: on the line with the words it is near to, or the first after them. An
    exact name comes first."""
    exact = re.compile(rf'\b{step.role} "{re.escape(step.name)}"')
    part = re.compile(rf'\b{step.role} "[^"]*{re.escape(step.name)}')
    return _first_ref(known.splitlines(), exact, step.near) or _first_ref(known.splitlines(), part, step.near)


def _first_ref(lines: Sequence[str], wanted: re.Pattern[str], near: str) -> str:
    passed = not near
    for line in lines:
        passed = passed or near in line
        named = wanted.search(line) if passed else None
        found = REF.search(line, named.end()) if named else None
        if found and not line.endswith("is gone"):
            return found.group(1)
    return ""

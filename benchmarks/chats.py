"""Plays a chat by a scripted policy, which acts on what replies say, and looks for more if that is not enough."""

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


class Server(Protocol):
    """Something that answers like an MCP server."""

    @property
    def instructions(self) -> str: ...

    async def ask(self, method: str, params: dict[str, AnyJson], /) -> dict[str, AnyJson]: ...


@dataclass
class Chat:
    """One side of the comparison, with counts of what it received. `known` is what it knows of the document, newest
    first."""

    server: Server
    bytes: int = 0
    calls: int = 0
    known: str = ""
    last: str = ""
    ahead: list[Step] = field(default_factory=list)
    """The steps that follow."""
    longest: dict[str, float] = field(default_factory=dict)
    """Tokens of the longest reply of each kind."""

    async def start(self) -> None:
        """Record what every chat receives first."""
        tools = (await self.server.ask("tools/list", {}))["tools"]
        said = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
        self._count(json.dumps(said, ensure_ascii=False, separators=(",", ":")), self.server.instructions)

    async def call(self, tool: str, **arguments: AnyJson) -> str:
        result = await self.server.ask("tools/call", {"name": tool, "arguments": arguments})
        self.last = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        structured = result.get("structuredContent")  # if there is any, several hosts show nothing else
        shown = json.dumps(structured, ensure_ascii=False, separators=(",", ":")) if structured else self.last
        self._count(tool, json.dumps(arguments, ensure_ascii=False, separators=(",", ":")), shown)
        self.calls += 1
        kind = "error" if result.get("isError") else _KINDS.get(tool, "") and _kind(tool, self.last)
        self.longest[kind] = max(self.longest.get(kind, 0), len(self.last.encode()) / 4)
        if result.get("isError"):
            raise Failed(f"{tool}: {self.last}")
        return self.last

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
                    await self._do(step)

    async def _do(self, step: Step) -> None:
        if step.do == "open":
            await self.open(step.value)
        elif step.do in {"expect", "ask"}:
            if step.do == "ask":
                await self.ask(step)
            elif step.value not in self.last:
                await self.look_for(step.value)
            if step.value not in self.last:
                raise Failed(f"{step.value!r} is not in {self.last[-600:]!r}")
        else:
            target = await self.target(step)
            if not target:
                raise Failed(f"{step.role} {step.name!r} is not in what it was told: {self.last[:600]}")
            await self.act(step, target)

    async def target(self, step: Step) -> str:
        """Return how to name the element, looking again for one that is not there yet."""
        target = ref_in(self.known, step)
        for _ in range(_LOOKS):
            target = target or await self.locate(step)
        return target

    async def open(self, url: str) -> None:
        raise NotImplementedError

    async def fill(self, fields: Sequence[Step]) -> None:
        raise NotImplementedError

    async def act(self, step: Step, target: str) -> None:
        raise NotImplementedError

    async def ask(self, step: Step) -> None:
        raise NotImplementedError

    async def look_for(self, words: str) -> None:
        raise NotImplementedError

    async def locate(self, step: Step) -> str:
        raise NotImplementedError

    def _count(self, *texts: str) -> None:
        self.bytes += sum(len(text.encode()) for text in texts)


def _kind(tool: str, said: str) -> str:
    """Return the kind of a reply, among those that have a limit."""
    return f"{_KINDS[tool]} that leads elsewhere" if tool != "goto" and "in outline" in said else _KINDS[tool]


@dataclass
class Ours(Chat):
    """A chat through our gateway."""

    page: str = "main"
    places: dict[str, str] = field(default_factory=dict)
    """For some words, the ref of the row or card that contains them."""

    async def open(self, url: str) -> None:
        self.places.clear()
        self.known = ""
        await self.call("goto", pageId=self.page, url=url, reply="none")

    async def fill(self, fields: Sequence[Step]) -> None:
        if not all(ref_in(self.known, step) for step in fields):
            await self._search(fields)
        filled = [{"selector": await self.target(step), "value": step.value or True} for step in fields]
        said = await self.call("fill_form", pageId=self.page, fields=filled)
        self.known = f"{said}\n{self.known}"

    async def act(self, step: Step, target: str) -> None:
        at: dict[str, AnyJson] = {"pageId": self.page, "selector": target}
        if step.do == "fill":
            said = await self.call("fill", **at, value=step.value)
        elif step.do == "choose":
            said = await self.call("select_option", **at, label=step.value)
        else:  # a click checks
            said = await self._click(at)
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
        """Read the passages about the question, and the rest by the cursor."""
        await self.call("content", pageId=self.page, query=step.question)
        while step.value not in self.last and (more := re.search(r'more: content (\{"cursor": "[^"]*"\})', self.last)):
            await self.call("content", **json.loads(more.group(1)))

    async def look_for(self, words: str) -> None:
        await self.call("find", pageId=self.page, text=words)

    async def locate(self, step: Step) -> str:
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


@dataclass
class Theirs(Chat):
    """A chat through @playwright/mcp, which writes what it sees after an act to a file that is then searched."""

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
        before = _url(self.last)
        if step.do == "fill":
            said = await self.call("browser_type", target=target, text=step.value)
        elif step.do == "choose":
            said = await self.call("browser_select_option", target=target, values=[step.value])
        else:
            said = await self.call("browser_click", target=target)
        if _url(said) != before:
            self.known = ""

    async def ask(self, step: Step) -> None:
        await self.call("browser_find", text=step.near)

    async def look_for(self, words: str) -> None:
        await self.call("browser_find", text=words)

    async def locate(self, step: Step) -> str:
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

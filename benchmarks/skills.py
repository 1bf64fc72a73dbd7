"""Measures what finished tasks cost an agent that has a shell and a skill: the skill's text once, then all commands and
what they print.

The tasks of `errands` are done by commands: by ours, by playwright-cli, by agent-browser, and by chrome-devtools, each
with the skill that its package ships. The policies are those of `tasks`; those of the last two look at snapshots, as
their skills advise.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from benchmarks import peer, sites
from benchmarks.chats import Chat, Ours, Theirs, ref_in
from benchmarks.errands import TASKS, Step
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import ROOT, Failed, browser_of, environment, gateway, service
from benchmarks.tasks import at
from browse_together.contract.schema import kebab
from tests.support.json import AnyJson
from tests.support.site import Site

NO_MORE: Final = Target(1.0)
PLAYWRIGHT_CLI: Final = "@playwright/cli@0.1.22"
AGENT_BROWSER: Final = "agent-browser@0.41.2"
CHROME_DEVTOOLS: Final = "chrome-devtools-mcp@1.11.0"
_ANSWERS_WITHIN_S: Final = 60
_LOOKS: Final = 3
_FAILED: Final = re.compile(r"^### Error|^✗|^Error: ", re.MULTILINE)
_PAGE_REF: Final = re.compile(r"\bref=@?(e\d+)")
_UID_LINE: Final = re.compile(r"^\s*uid=(\d+)_(\d+) (.*)$", re.MULTILINE)


@dataclass
class Shell:
    """A program that is called by commands, in a folder of its own."""

    program: Sequence[str]
    typed_as: str
    skill: str
    env: dict[str, str]
    folder: str

    async def run(self, *words: str) -> tuple[str, bool]:
        """Return what a command prints, and whether it failed."""
        process = await asyncio.create_subprocess_exec(
            *self.program,
            *words,
            cwd=self.folder,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await asyncio.wait_for(process.communicate(), _ANSWERS_WITHIN_S)
        text = printed.decode(errors="replace")
        return text, process.returncode != 0 or _FAILED.search(text) is not None


@dataclass
class Commands(Chat):
    """A chat that calls its program by commands, and counts them and what they print."""

    shell: Shell = field(kw_only=True)

    async def start(self) -> None:
        self._count(self.shell.skill)

    async def type(self, *words: str) -> str:
        text, has_failed = await self.shell.run(*words)
        self.last = text
        self._count(f"{self.shell.typed_as} {shlex.join(words)}", text)
        self.calls += 1
        if has_failed:
            raise Failed(f"{shlex.join(words)}: {text}")
        return text

    async def fill(self, fields: Sequence[Step]) -> None:
        for step in fields:
            await self.act(step, await self.target(step))


@dataclass
class OurCommands(Ours, Commands):
    """Our policy by our commands."""

    async def call(self, tool: str, **arguments: AnyJson) -> str:
        page = ["--page", str(arguments.pop("pageId"))] if "pageId" in arguments else []
        options = [
            word
            for name, value in arguments.items()
            for word in (f"--{kebab(name)}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        ]
        return await self.type("run", tool, *options, *page)


@dataclass
class PlaywrightCommands(Theirs, Commands):
    """The policy for Playwright's server, by playwright-cli."""

    async def call(self, tool: str, **arguments: AnyJson) -> str:
        if tool == "browser_fill_form":
            for each in arguments["fields"]:
                await self._fill(each["target"], each["type"], each["value"])
            return self.last
        words = [str(value) for name, value in arguments.items() if name != "values"]
        words += [str(value) for value in arguments.get("values", [])]
        names = {"navigate": "goto", "type": "fill", "select_option": "select"}
        name = tool.removeprefix("browser_")
        return await self.type(names.get(name, name), *words)

    async def _fill(self, target: str, role: str, value: str) -> None:
        verb = {"checkbox": "check", "radio": "check", "combobox": "select"}.get(role, "fill")
        await self.type(verb, target, *([] if verb == "check" else [value]))


@dataclass
class AgentBrowser(Commands):
    """A policy that looks at the interactive part of the page, then at the whole, and waits for what it expects."""

    async def open(self, url: str) -> None:
        self.known = ""
        await self.type("open", url)

    async def act(self, step: Step, target: str) -> None:
        verb = {"fill": "fill", "choose": "select", "check": "check"}.get(step.do, "click")
        await self.type(verb, f"@{target}", *([step.value] if verb in {"fill", "select"} else []))
        self.known = "" if step.loads else self.known

    async def ask(self, step: Step) -> None:
        await self.type("read", "--filter", step.name)

    async def look_for(self, words: str) -> None:
        await self.type("wait", "--text", words)
        self.last = words  # it came, or the command had failed

    async def locate(self, step: Step) -> str:
        for options in [[], *([["-i"]] if not step.near else [])][::-1]:
            self.known = _PAGE_REF.sub(r"ref=\1", await self.type("snapshot", *options))
            if found := ref_in(self.known, step):
                return found
        return ""


@dataclass
class ChromeDevtools(Commands):
    """A policy that looks at the whole page, because the program has no smaller look."""

    async def open(self, url: str) -> None:
        self.known = ""
        await self.type("navigate_page", "1", "--url", url)

    async def act(self, step: Step, target: str) -> None:
        words = (
            ["fill", "1", _uid(target), step.value] if step.do in {"fill", "choose"} else ["click", "1", _uid(target)]
        )
        try:
            await self.type(*words)
        except Failed:  # the page was drawn anew
            words[2] = _uid(await self.locate(step))
            await self.type(*words)
        self.known = "" if step.loads else self.known

    async def ask(self, step: Step) -> None:
        """Ask by a script for the text around the words: a snapshot would show all of a long document."""
        around = f"document.body.innerText.split({json.dumps(step.name)}).slice(1).map(text => text.slice(0, 80))"
        await self.type("evaluate_script", f"() => {around}", "--pageId", "1")

    async def look_for(self, words: str) -> None:
        for _ in range(_LOOKS):
            if words in await self.type("take_snapshot", "1"):
                return

    async def locate(self, step: Step) -> str:
        """A uid is kept as a ref with the number of its snapshot."""
        self.known = _UID_LINE.sub(r"\3 [ref=f\1e\2]", await self.type("take_snapshot", "1"))
        return ref_in(self.known, step)


def _uid(ref: str) -> str:
    return ref.removeprefix("f").replace("e", "_")


async def run(*, quick: bool) -> Report:
    tasks = dict([*TASKS.items()][:: 4 if quick else 1])
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        sites.open_all(site)
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-skills"))
        await gate.call("goto", pageId="first", url="about:blank")
        browser = browser_of(served.pid)
        env = environment(BROWSE_DATA_DIR=str(served.data_dir))
        ours = Shell(
            [sys.executable, "-m", "browser_service"],
            "browse-together",
            (ROOT / "skills" / "browse-together" / "SKILL.md").read_text(encoding="utf-8"),
            env | {"PYTHONPATH": str(ROOT)},
            str(served.data_dir),
        )
        playwright = await stack.enter_async_context(_playwright(browser))
        agent_browser = await stack.enter_async_context(_agent_browser(browser))
        chrome_devtools = await stack.enter_async_context(_chrome_devtools(browser))
        chats: list[Commands] = [
            OurCommands(gate, shell=ours),
            PlaywrightCommands(gate, shell=playwright),
            AgentBrowser(gate, shell=agent_browser),
            ChromeDevtools(gate, shell=chrome_devtools),
        ]
        notes = []
        for chat in chats:
            await chat.start()
            notes.append(f"skill of {chat.shell.typed_as}: {chat.bytes / 4:.0f} tokens")
        for task, steps in tasks.items():
            notes.append(f"{task}: {', '.join([await _done(chat, site.url(''), steps) for chat in chats])}")
    figures = list[Figure]()
    for chat in chats[1:]:
        name, ours_tokens, tokens = chat.shell.typed_as, chats[0].bytes / 4, chat.bytes / 4
        figures.append(Figure(f"tokens, beside {name}", ours_tokens, tokens, "tokens", "ratio", NO_MORE))
        figures.append(Figure(f"calls, beside {name}", chats[0].calls, chat.calls, "calls", "ratio", NO_MORE))
    return Report("skills", f"{PLAYWRIGHT_CLI}, {AGENT_BROWSER}, {CHROME_DEVTOOLS}", figures, notes)


async def _done(chat: Commands, base: str, steps: Sequence[Step]) -> str:
    """Do a task, and say what it cost. One that a side cannot finish is said, and its cost counts."""
    began, before, calls = time.perf_counter(), chat.bytes, chat.calls
    try:
        await chat.do_all([at(base, step) for step in steps])
        end = ""
    except Failed as failed:
        if isinstance(chat, OurCommands):
            raise
        end = f" (not finished: {str(failed).splitlines()[0][:80]})"
    cost = f"{(chat.bytes - before) / 4:.0f} in {chat.calls - calls} calls, {time.perf_counter() - began:.1f} s"
    return f"{chat.shell.typed_as} {cost}{end}"


@asynccontextmanager
async def _playwright(browser: str) -> AsyncIterator[Shell]:
    folder = peer.installed(PLAYWRIGHT_CLI)
    sandbox = {"PLAYWRIGHT_MCP_SANDBOX": "false"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-") as left:
        env = environment(PLAYWRIGHT_MCP_EXECUTABLE_PATH=browser, PLAYWRIGHT_MCP_ISOLATED="true", **sandbox)
        skill = folder.parents[1] / "playwright-core" / "lib" / "tools" / "skills" / "playwright-cli" / "SKILL.md"
        node = shutil.which("node") or "node"
        program = [node, str(folder / "playwright-cli.js"), f"-s=bench-{os.getpid()}"]
        shell = Shell(program, "playwright-cli", skill.read_text(encoding="utf-8"), env, left)
        try:
            await shell.run("open")
            yield shell
        finally:
            await shell.run("close")


@asynccontextmanager
async def _agent_browser(browser: str) -> AsyncIterator[Shell]:
    folder = peer.installed(AGENT_BROWSER)
    node = shutil.which("node") or "node"
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-") as left:
        arguments = {"AGENT_BROWSER_ARGS": "--no-sandbox"} if os.geteuid() == 0 else {}
        env = environment(
            AGENT_BROWSER_EXECUTABLE_PATH=browser,
            AGENT_BROWSER_SESSION=f"bench-{os.getpid()}",
            AGENT_BROWSER_NO_VERSION_CHECK="1",
            XDG_RUNTIME_DIR=left,
            **arguments,
        )
        stub, core = (folder / part / "SKILL.md" for part in ("skills/agent-browser", "skill-data/core"))
        skill = stub.read_text(encoding="utf-8") + core.read_text(encoding="utf-8")
        shell = Shell([node, str(folder / "bin" / "agent-browser.js")], "agent-browser", skill, env, left)
        try:
            yield shell
        finally:
            await shell.run("close")


@asynccontextmanager
async def _chrome_devtools(browser: str) -> AsyncIterator[Shell]:
    folder = peer.installed(CHROME_DEVTOOLS)
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-") as left:
        env = environment(
            CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS="1",
            CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS="1",
            CD4A_INTERNAL_DAEMON_SESSION_ID=f"{os.getpid():x}",
            XDG_RUNTIME_DIR=left,
        )
        skill = (folder / "skills" / "chrome-devtools-cli" / "SKILL.md").read_text(encoding="utf-8")
        program = [shutil.which("node") or "node", str(folder / "build" / "src" / "bin" / "chrome-devtools.js")]
        shell = Shell(program, "chrome-devtools", skill, env, left)
        sandbox = ["--chromeArg=--no-sandbox"] if os.geteuid() == 0 else []
        try:
            await shell.run("start", "--headless", "--isolated", "--executablePath", browser, *sandbox)
            yield shell
        finally:
            await shell.run("stop")

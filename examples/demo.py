"""Shows the main use: two agents behind two gateways share one logged-in browser, and never disturb each other.

`make demo` runs it. It stops everything that it starts, and exits 1 if a step fails."""

import asyncio
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, ImageContent, Implementation, TextContent
from rich.console import Console
from rich.markup import escape

from browse_together.contract.installation import command
from examples.processes import Ended, running, service

PICTURE = Path("output") / "demo.png"
START_WITHIN_S = 30
WAITS = 10
WAIT_ON = re.compile(r"Wait on: request_human (\{.*?\})")
"""A reply that says how to continue waiting for a person, who took longer than a reply may."""

console = Console(width=110, highlight=False)


class Unexpected(Exception):
    """A step did not go as it should."""


class Transcript:
    """A printer of numbered lines, with the time that each step took."""

    def __init__(self) -> None:
        self._began = self._last = time.perf_counter()

    def say(self, who: str, what: str) -> None:
        now = time.perf_counter()
        took, self._last = (now - self._last) * 1000, now
        console.print(f"[dim]{took:6.0f} ms[/dim]  [bold]{who:<8}[/bold] {what}", soft_wrap=True)

    def begin(self, what: str) -> None:
        """Say what is done now, before a step of some seconds."""
        console.print(f"[dim]      …    {what}[/dim]", soft_wrap=True)

    def end(self) -> None:
        console.print(f"\n[bold green]All as it should be[/bold green], in {time.perf_counter() - self._began:.1f} s.")


class Agent:
    """A chat: an MCP client with its own gateway process."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:  # Any: JSON arguments
        return await self._client.call_tool(tool, arguments)

    async def do(self, tool: str, **arguments: Any) -> str:  # Any: as there
        """Make a call, and return its text. Raises Unexpected if it fails."""
        result = await self.call(tool, **arguments)
        text = text_of(result)
        if result.is_error:
            raise Unexpected(f"{tool} failed: {text}")
        return text

    async def tools(self) -> int:
        return len((await self._client.list_tools()).tools)


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def expect(condition: object, what: str) -> None:
    if not condition:
        raise Unexpected(what)


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the user's settings, so that the demo leaves a running service alone."""
    ours = {"PORT", "LOG_LEVEL", "APP_ENV"}
    kept = {name: text for name, text in environment.items() if not name.startswith("BROWSE_") and name not in ours}
    return kept | {"BROWSE_CONFIG": os.devnull}


@asynccontextmanager
async def agent(name: str, env: dict[str, str]) -> AsyncIterator[Agent]:
    gateway = StdioServerParameters(command=sys.executable, args=["-m", "mcp_gateway"], env=env)
    info = Implementation(name=name, version="1.0")
    async with Client(gateway, client_info=info, mode="legacy", read_timeout_seconds=60) as client:
        yield Agent(client)


async def log_in(a: Agent, home: str, script: Transcript) -> None:
    await a.do("goto", pageId="ana", url=home)
    await a.do("fill", pageId="ana", selector="#username", value="ana")
    await a.do("fill", pageId="ana", selector="#password", value="casa")
    seen = await a.do("click", pageId="ana", selector='role=button[name="Log in"]')
    expect("navigated to" in seen, f"the log-in went nowhere: {seen}")
    script.say("Agent A", f"logs in, in its page [cyan]ana[/cyan]: {seen.splitlines()[0]}")


async def share_the_login(a: Agent, b: Agent, home: str, script: Transcript) -> None:
    await b.do("goto", pageId="garden", url=home)
    content = await b.do("content", pageId="garden", format="text")
    expect("Logged in as Ana" in content, f"B is not logged in: {content[:200]}")
    script.say("Agent B", "opens its own page [cyan]garden[/cyan] and is logged in already")
    seen = await b.do("click", pageId="garden", selector='role=switch[name="cocina"]')
    expect("/api/lights/cocina → 200" in seen, f"the light was not switched: {seen}")
    script.say("Agent B", f"switches the kitchen light: {seen.splitlines()[0]}")
    await a.do("wait_for_selector", pageId="ana", selector='[data-light="cocina"][aria-checked="true"]', timeout=5_000)
    script.say("Agent A", "sees the light go on in its own page, without a reload")


async def stay_apart(b: Agent, script: Transcript) -> None:
    refused = await b.call("click", pageId="ana", selector="#alarm")
    text = text_of(refused)
    expect(refused.is_error and "PAGE_OWNED" in text, f"B acted on A's page: {text}")
    script.say("Agent B", "tries to act on A's page and is refused politely:")
    for line in text.splitlines()[:2]:
        console.print(f"           [yellow]{escape(line)}[/yellow]", soft_wrap=True)
    content = await b.do("content", pageId="ana", format="text")
    expect("Logged in as Ana" in content, f"B does not read A's page: {content[:200]}")
    script.say("Agent B", "may read it all the same: Logged in as Ana")


async def take_a_picture(a: Agent, script: Transcript) -> None:
    shot = await a.call("screenshot", pageId="ana", fullPage=True)
    image = next((block for block in shot.content if isinstance(block, ImageContent)), None)
    if image is None:
        raise Unexpected(f"no picture came: {text_of(shot)}")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(base64.b64decode(image.data))
    script.say("Agent A", f"takes a picture: {PICTURE} ({PICTURE.stat().st_size // 1024} KB)")


async def browse_together(*command: str, env: dict[str, str]) -> str:
    """Run the command line as a person would. Raises Unexpected."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "browser_service", *command),
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), START_WITHIN_S)
    if process.returncode:
        raise Unexpected(f"browse-together {' '.join(command)}: {err.decode()}")
    return out.decode()


async def ask_a_person(a: Agent, b: Agent, home: str, env: dict[str, str], script: Transcript) -> None:
    await a.do("click", pageId="ana", selector='role=button[name="Log out"]')
    await b.do("wait_for_selector", pageId="garden", selector="#password")
    script.say("House", "the login has ended: both agents meet the login form")
    login = {"kind": "login", "message": "The house wants its password."}
    asking = asyncio.create_task(answered(a, pageId="ana", **login))
    await listed(env, 1)
    joining = asyncio.create_task(answered(b, pageId="garden", **login))
    request = await listed(env, 2)
    script.say("Agent A", f"asks a person: {request['kind']}, {request['message']} Agent B joins that request")
    text = text_of(await b.call("snapshot", pageId="ana"))
    expect("HUMAN_IN_CONTROL" in text, f"B saw the page while a password was typed: {text}")
    script.say("Agent B", "may not look at that page while a password is typed there")
    script.begin("a person signs in there, by four commands")
    for typed in (("fill", "#username", "ana"), ("fill", "#password", "casa"), ("click", 'role=button[name="Log in"]')):
        await browse_together("run", *typed, "--page", "ana", "--person", env=env)
    await browse_together("requests", "done", str(request["requestId"]), env=env)
    script.say(
        "Person", f"signs in there, and says so: [cyan]browse-together requests done {request['requestId']}[/cyan]"
    )
    for seen in await asyncio.gather(asking, joining):
        expect("says it is done: a login at" in seen, f"an agent was not told of the login: {seen}")
    await b.do("goto", pageId="garden", url=home)
    content = await b.do("content", pageId="garden", format="text")
    expect("Logged in as Ana" in content, f"B is not logged in again: {content[:200]}")
    script.say("Agents", "A and B go on at once, both logged in")


async def answered(agent: Agent, **asked: str) -> str:
    """Return what a person answered. If a reply says how to continue waiting, do so, as a model would."""
    for _ in range(WAITS):
        said = await agent.do("request_human", **asked)
        found = WAIT_ON.search(said)
        if found is None:
            return said
        asked = json.loads(found.group(1))
    raise Unexpected(f"no person answered: {said}")


async def listed(env: dict[str, str], agents: int) -> dict[str, Any]:  # Any: JSON
    """Return the one request, as soon as this many agents wait for it."""
    async with asyncio.timeout(START_WITHIN_S):
        while True:
            found = json.loads(await browse_together("requests", "--json", env=env))
            expect(len(found) <= 1, f"a person is asked more than once: {found}")
            if found and 1 + len(found[0]["joinedBy"]) == agents:
                request: dict[str, Any] = found[0]  # Any: JSON
                return request


async def count(home: str, script: Transcript) -> None:
    """Check at the smart home itself that everything was done exactly once."""
    async with httpx.AsyncClient(trust_env=False) as http:
        counts = (await http.get(f"{home}/api/counts")).json()
    expect({"login": 2, "set_light_state": 1}.items() <= counts.items(), f"something happened twice: {counts}")
    expect(not counts.get("set_alarm_state"), f"the refused click came through: {counts}")
    script.say("House", "counts 2 logins, 1 light switched, 0 alarms touched")


async def main() -> None:
    script = Transcript()
    script.begin("starts a browser service and a smart home; on a slow machine, and the first time, this takes a while")
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="browse-together-demo-")))
        env = {**without_settings(os.environ), "BROWSE_DATA_DIR": str(data), "BROWSE_NOTIFY": "off"}
        house = await stack.enter_async_context(
            running(sys.executable, "-m", "examples.smart_home", "--port", "0", env=env, stdout=subprocess.PIPE)
        )
        browser = await stack.enter_async_context(service(data, env))
        if house.stdout is None:
            raise Unexpected("the smart home says nothing")
        home = (await asyncio.wait_for(house.stdout.readline(), START_WITHIN_S)).decode().split()[1]
        script.say("Setup", f"the browser service runs at {browser.url}, the smart home at {home}")
        gateway = {**env, "BROWSE_URL": browser.url, "BROWSE_AUTOSTART": "false"}
        script.begin("starts two gateways, as two chats would")
        a = await stack.enter_async_context(agent("Agent A", gateway))
        b = await stack.enter_async_context(agent("Agent B", gateway))
        script.say("Setup", f"two chats, each with a gateway process of its own, list {await a.tools()} tools")
        script.begin("opens the first page, when the browser has started")
        await log_in(a, home, script)
        await share_the_login(a, b, home, script)
        await stay_apart(b, script)
        await take_a_picture(a, script)
        await ask_a_person(a, b, home, env, script)
        await count(home, script)
        script.begin("ends everything")
    script.say("Setup", "everything that was started is stopped")
    script.end()
    console.print(f"To have it in your own chats: {command('install', 'claude-code')}", soft_wrap=True)


def leaves(error: BaseException) -> list[BaseException]:
    """Yield the causes of a failure, out of the groups in which task groups wrap them."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (Unexpected, Ended, TimeoutError, MCPError, ExceptionGroup) as failure:
        for leaf in leaves(failure):
            console.print(f"[bold red]Not as it should be:[/bold red] {type(leaf).__name__}: {leaf}", markup=True)
        sys.exit(1)

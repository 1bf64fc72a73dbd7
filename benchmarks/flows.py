"""Measures whether flows do the right thing where their sites have changed since they were taught.

Scripted agents teach them through a gateway, on our own site and on other people's applications. Then they run with
another value: as the site was, on a narrow screen, in another language, with other data, and our own site also with
other ids, order and words. What was done is counted by what the sites themselves say. At the end each flow takes turns
with its own export, a plain script, for the time of a step.
"""

import asyncio
import os
import re
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import httpx
from playwright.sync_api import Error as PlaywrightError

from benchmarks import teas
from benchmarks.applications import APPS, NAME, PASSWORD, App, Taught
from benchmarks.figures import Figure, Report, Target
from benchmarks.plain import Timed, plain_scripts
from benchmarks.processes import Failed, Gateway, Service, environment, mcp_server, service
from browse_together.contract.data_files import FLOWS
from browse_together.contract.named_secrets import NamedSecret
from browser_service.flows.export import as_python
from browser_service.flows.files import FlowFiles
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.seal import Seal
from examples import processes
from tests.support.json import AnyJson
from tests.support.site import Site

_OTHER: Final = "bo"
_SESSIONS: Final[dict[str, dict[str, AnyJson]]] = {
    "plain": {},
    "narrow": {"viewport": {"width": 390, "height": 844}},
    "german": {"locale": "de-DE"},
}
_VALUE: Final = {"fill": "value", "select_option": "value", "type": "text", "press": "key"}
_STARTS_WITHIN_S: Final = 90.0
_TELLS_WITHIN_S: Final = 20.0
_LOOK_S: Final = 0.1
_TURNS: Final = 3
"""The first one is not measured."""


@dataclass
class _Bench:
    gate: Gateway
    files: FlowFiles
    script: Timed
    turns: int
    figures: list[Figure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    pages: int = 0

    async def call(self, tool: str, **arguments: AnyJson) -> AnyJson:
        """Return the result of a call. Raises Failed."""
        return (await self.gate.call(tool, **arguments))["structuredContent"]["result"]

    async def page(self, session: str) -> str:
        self.pages += 1
        await self.call("goto", pageId=f"p{self.pages}", sessionId=session, url="about:blank")
        return f"p{self.pages}"

    async def teach(self, page: str, base: str, taught: Taught) -> list[str]:
        """Do what an agent would do. Returns the values that become parameters."""
        query = taught.path.partition("?")[2]
        window, values = page, [query.partition("=")[2] or query] if query else []
        await self.call("goto", pageId=page, url=base + taught.path)
        for line in taught.acts.splitlines():
            tool, _, rest = line.partition(" ")
            target, _, value = rest.partition(" := ")
            at = window if target.startswith("@") else page
            arguments: dict[str, AnyJson] = {"pageId": at}
            if tool == "handle_dialog":
                arguments["accept"] = True
            else:
                arguments["selector"] = await self._found(at, target.removeprefix("@"))
            if value:
                name = value.removeprefix("secret:")
                arguments[_VALUE[tool]] = {"secret": name} if name != value else value
                values += [value] if name == value and tool != "press" else []
            window = next(iter((await self.call(tool, **arguments)).get("popups", [])), window)
        return values

    async def save(self, name: str, page: str, base: str, taught: Taught) -> dict[str, str]:
        """Teach a flow and save it. Returns the values of its parameters."""
        values = await self.teach(page, base, taught)
        saved = await self.call("save_flow", name=_slug(name), pageId=page)
        await self.call("close_page", pageId=page)
        if len(saved["parameters"]) != len(values):
            raise Failed(f"{name} has parameters {saved['parameters']} for {values}")
        return dict(zip(saved["parameters"], values, strict=True))

    async def _found(self, page: str, target: str) -> str:
        role, name, near = f"{target}||".split("|")[:3]
        selector = f'role={role}[name="{name}"i]' if name else target
        await self.call("wait_for_selector", pageId=page, selector=selector, timeout=40_000)
        if not name:
            return target
        found = (await self.call("find", pageId=page, role=role, name=name))["matches"]
        return next(str(each["ref"]) for each in found if near in each.get("in", "") and each["name"].strip() == name)

    async def run(
        self, what: str, page: str, taught: Taught, values: Mapping[str, str], told: Callable[[], list[str]]
    ) -> None:
        """Run a flow with another value, and count what came of it."""
        before, other = Counter(told()), self._other(taught)
        result = await self._begin(what, page, values, other)
        right = sorted(taught.done.replace(NAME, other).split("\n") if taught.done else [])
        ends_at = time.monotonic() + (0 if result.get("isError") else _TELLS_WITHIN_S)
        while (new := sorted((Counter(told()) - before).elements())) != right and time.monotonic() < ends_at:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(_LOOK_S)  # the site tells nothing when it writes
        said = result["content"][0]["text"]
        if result.get("isError"):
            outcome = "stopped" if "FLOW_STOPPED" in said and set(new) <= {*right} else "wrong"
        else:
            rows = [] if taught.done else result["structuredContent"]["result"]["outputs"]["table"]["tables"][0]["rows"]
            is_right = new == right and all(_OTHER in row.values() for row in rows) and bool(rows or taught.done)
            outcome = "finished" if is_right else "wrong"
        await self.call("close_page", pageId=page)
        self.counts[outcome] += 1
        if outcome != "finished":
            self.notes.append(f"{what}: {outcome}: {' '.join(said.split())[:300]} {new if outcome == 'wrong' else ''}")

    def _other(self, taught: Taught) -> str:
        """Return a value that no run had before. What is read must be there for each run."""
        return f"{_OTHER}{self.pages}" if taught.done else _OTHER

    async def _begin(self, what: str, page: str, values: Mapping[str, str], other: str) -> AnyJson:
        given = {name: value.replace(NAME, other) for name, value in values.items()}
        asked = {"name": _slug(what), "pageId": page, "values": given}
        return await self.gate.ask("tools/call", {"name": "run_flow", "arguments": asked})

    async def compare(
        self, what: str, taught: Taught, values: Mapping[str, str], cookies: Sequence[AnyJson] = ()
    ) -> None:
        """Compare the time of a flow's steps with that of its export, by turns on pages of the plain session."""
        flow, ours, theirs = self.files.load(_slug(what)), list[float](), list[float]()
        for _ in range(self.turns):
            page = await self.page("plain")
            began = time.perf_counter()
            result = await self._begin(what, page, values, self._other(taught))
            ours.append(time.perf_counter() - began)
            await self.call("close_page", pageId=page)
            self.pages += 1
            given = [value.replace(NAME, self._other(taught)) for value in values.values()]
            try:
                theirs.append(await self.script(as_python(flow), given, cookies))
            except (PlaywrightError, AssertionError, NotImplementedError) as error:
                self.notes.append(f"{what}: its export fails: {' '.join(str(error).split())[:300]}")
                return
            if result.get("isError"):
                self.notes.append(f"{what}: no time: {' '.join(result['content'][0]['text'].split())[:300]}")
                return
        own, plain = (statistics.median(each[self.turns > 1 :]) / len(flow.steps) * 1_000 for each in (ours, theirs))
        name = f"{what}, a step of {len(flow.steps)}"
        self.figures.append(Figure(name, own, plain, "ms", "ratio", Target(1.5)))


def _slug(what: str) -> str:
    return re.sub("[^a-z0-9]+", "-", what.partition(";")[0])


async def run(*, quick: bool, apps: str = "") -> Report:
    """`apps` is a folder with a virtual environment for each application, named as it; those not there are left out."""
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(
            service(BROWSE_URL_WHITELIST="127.0.0.1", BROWSE_URL_RULES_FOR="requests")
        )
        env = served.gateway_settings("bench-flows") | {"BROWSE_STRUCTURED": "true"}
        bench = _Bench(
            await stack.enter_async_context(mcp_server(sys.executable, "-m", "mcp_gateway", env=env)),
            FlowFiles(served.data_dir / FLOWS),
            await stack.enter_async_context(plain_scripts()),
            1 if quick else _TURNS,
        )
        for session, options in _SESSIONS.items():
            await bench.call("create_session", sessionId=session, **options)
        site = stack.enter_context(Site())
        await _own(bench, served, site)
        for name, app in [*APPS.items()][: 2 if quick else None]:
            bin_ = Path(apps, name, "bin")
            if bool(apps) and await asyncio.to_thread(bin_.exists):
                await _foreign(bench, name, app, bin_)
            else:
                bench.notes.append(
                    f"{name} is left out: --apps names no folder with a virtual environment of that name"
                )
    total = bench.counts.total()
    figures = [
        Figure("finished, of all runs", bench.counts["finished"], total, "runs", "percent", Target(95, at_least=True)),
        Figure("stopped at a named step", bench.counts["stopped"], total, "runs", "percent"),
        Figure("did something else", bench.counts["wrong"], 0, "runs", "difference", Target(0)),
        *bench.figures,
    ]
    return Report("flows", "what the sites say, and plain Playwright", figures, bench.notes)


async def _own(bench: _Bench, served: Service, site: Site) -> None:
    origin = site.url("").rstrip("/")
    secrets = NamedSecrets(served.data_dir, Seal(served.data_dir, "file"))
    secrets.set(NamedSecret(name="pw", value=PASSWORD, origins=(origin,)))
    told, known = partial(teas.done, site), {}
    for flow, taught in teas.FLOWS.items():
        teas.show(site)
        known[flow] = values = await bench.save(f"teas {flow}", await bench.page("plain"), origin, taught)
        for change in ("", *teas.CHANGES):
            teas.show(site, change)
            await bench.run(f"teas {flow}; {change or 'as it was'}", await bench.page("plain"), taught, values, told)
        teas.show(site)
        await bench.run(f"teas {flow}; narrow", await bench.page("narrow"), taught, values, told)
    os.environ["PW"] = PASSWORD  # where the export looks for the secret
    for flow, taught in teas.FLOWS.items():
        await bench.compare(f"teas {flow}", taught, known[flow])


async def _foreign(bench: _Bench, name: str, app: App, bin_: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-", ignore_cleanup_errors=True) as work:
        async with _running(app, bin_, Path(work)) as base:
            for session in _SESSIONS:
                if app.sign_in:
                    await bench.teach(await bench.page(session), base, app.sign_in)
            told, known = partial(app.told, Path(work)), {}
            for flow, taught in app.flows.items():
                known[flow] = await bench.save(f"{name} {flow}", await bench.page("plain"), base, taught)
            for change in (*_SESSIONS, *(["other data"] if app.more else [])):
                if app.more and change == "other data":
                    app.more(Path(work))
                session = change if change in _SESSIONS else "plain"
                for flow, taught in app.flows.items():
                    what = f"{name} {flow}; {change}"
                    await bench.run(what, await bench.page(session), taught, known[flow], told)
            login = (await bench.call("get_cookies", sessionId="plain"))["cookies"] if app.sign_in else []
            for flow, taught in app.flows.items():
                await bench.compare(f"{name} {flow}", taught, known[flow], login)


@asynccontextmanager
async def _running(app: App, bin_: Path, work: Path) -> AsyncIterator[str]:
    """Run an application until the block ends. Raises Failed if it does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (work / "app.py").write_text(app.script, encoding="utf-8")
    await asyncio.to_thread(app.prepare, bin_, work)
    env = environment(HOME=str(work), GRADIO_ANALYTICS_ENABLED="False")
    async with processes.running(*app.command.format(bin=bin_, work=work, port=port).split(), env=env):
        base, ends_at = f"http://127.0.0.1:{port}", time.monotonic() + _STARTS_WITHIN_S
        async with httpx.AsyncClient(trust_env=False) as http:
            while time.monotonic() < ends_at:
                try:
                    await http.get(base)
                    break
                except httpx.TransportError:
                    await asyncio.sleep(_LOOK_S)  # between two looks at a process that starts
            else:
                raise Failed(f"{app.command} does not answer")
        yield base

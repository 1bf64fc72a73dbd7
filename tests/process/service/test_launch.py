"""Tests how the browser is started."""

import asyncio
import contextlib
import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.async_api import async_playwright

from browse_together.contract.errors import BrowserLaunchFailed
from browser_service.host.sessions.driver import start_driver
from browser_service.host.sessions.executables import ask_early, find_executable, user_agent
from browser_service.host.sessions.options import HEADLESS_ARGS, UNWANTED_ARGS, LaunchOptions
from tests.process.service.conftest import whole_service as service
from tests.support import processes
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import become, found

__all__ = ["service"]

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]


async def test_the_browser_has_every_switch_that_playwright_gives_it_and_its_features_are_only_added_to(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    ours = _switches(processes.browser(service.settings.data_dir))
    mouse = "[matchMedia('(pointer: fine) and (hover: hover)').matches, matchMedia('(pointer: coarse)').matches]"
    assert (await agent.call("evaluate_script", pageId="p", expression=mouse))["value"] == [True, False]
    await agent.call("emulate", pageId="p", device="iPhone 13")
    assert (await agent.call("evaluate_script", pageId="p", expression=mouse))["value"] == [False, True]
    options = LaunchOptions(Path())
    async with async_playwright() as playwright:
        before = {*psutil.Process().children(recursive=True)}
        browser = await playwright.chromium.launch(
            executable_path=find_executable(playwright, options), chromium_sandbox=options.sandboxed
        )
        plain = _switches(next(_browsers({*psutil.Process().children(recursive=True)} - before)))
        await browser.close()
    first_window = "--no-startup-window"  # with a profile there is one
    assert plain.keys() - ours.keys() == {first_window, *UNWANTED_ARGS}
    for last in ("--disable-features", "--enable-features", "--blink-settings"):
        assert {*plain[last][-1].split(",")} < {*ours[last][-1].split(",")}
        assert f"{last}={ours[last][-1]}" in HEADLESS_ARGS


async def test_a_click_opens_one_window_and_blocked_ones_are_reported(agent: Agent, site: Site) -> None:
    site.page("/popup", "popup")
    many = "<button onclick='for (let i = 0; i < 20; i++) window.open(`/popup?${i}`)'>Go</button>"
    await agent.call("goto", pageId="p", url=site.page("/", many))
    reply = (await agent.reply("click", pageId="p", selector="button")).json()
    assert reply["result"]["popups"] == ["p~1"]
    told = "p: the browser blocked a popup that nobody clicked for: http"
    if told not in str(reply["notices"]):
        await found(lambda: agent.reply("list_pages"), lambda reply: told in reply.text)


WHAT_A_WORKER_SAYS = """async () => {
    const code = URL.createObjectURL(new Blob(['postMessage(navigator.userAgent)']));
    const worker = await new Promise(said => new Worker(code).onmessage = event => said(event.data));
    const full = await navigator.userAgentData.getHighEntropyValues(['fullVersionList']);
    return [navigator.userAgent, worker, full.fullVersionList.length > 0];
}"""


async def test_a_browser_without_windows_has_the_user_agent_of_one_with_them(agent: Agent, site: Site) -> None:
    site.page("/popup", "a window of the page's own")
    url = site.page("/", "<button onclick='window.open(`/popup`)'>b</button><img src=/picture>")
    await agent.call("goto", pageId="p", url=url)
    await agent.call("click", pageId="p", selector="button")
    await become(lambda: site.counts["/popup"] > 0)
    said = await agent.call("evaluate_script", pageId="p", expression=WHAT_A_WORKER_SAYS)
    page, worker, has_brands = said["value"]
    sent = {received.headers["User-Agent"] for received in site.received}
    assert sent == {page} == {worker}
    assert has_brands
    assert re.fullmatch(
        r"Mozilla/5.0 \(.+\) AppleWebKit/537.36 \(KHTML, like Gecko\) Chrome/\d+.0.0.0 Safari/537.36", page
    )
    assert not any("eadless" in value for received in site.received for value in received.headers.values())


WEBDRIVER = """async () => {
    const inFrame = async source => {
        const frame = Object.assign(document.createElement('iframe'), source);
        const loaded = new Promise(done => frame.onload = done);
        document.body.append(frame);
        await loaded;
        return frame.contentWindow.navigator.webdriver;
    };
    const popup = open('/popup');
    return [navigator.webdriver, await inFrame({}), await inFrame({srcdoc: 'x'}), popup.navigator.webdriver];
}"""


async def test_no_page_is_told_that_its_browser_is_automated(agent: Agent, site: Site) -> None:
    site.page("/popup", "a window of the page's own")
    url = site.page("/", "x")
    session = (await agent.call("create_session"))["sessionId"]
    own = (await agent.call("create_session", ownBrowser=True))["sessionId"]
    await agent.call("goto", pageId="p", url=url)
    await agent.call("goto", pageId="q", url=url, sessionId=session)
    await agent.call("goto", pageId="r", url=url, sessionId=own)
    for page in ("p", "q", "r"):
        said = await agent.call("evaluate_script", pageId=page, expression=WEBDRIVER)
        assert said["value"] == [False] * 4
    assert (await agent.call("evaluate_script", pageId="p~1", expression="navigator.webdriver"))["value"] is False


def _browsers(found: set[psutil.Process]) -> Iterator[psutil.Process]:
    commands = ((process, " ".join(processes.command(process))) for process in found)
    return (process for process, command in commands if "--headless" in command and "--type=" not in command)


def _switches(process: psutil.Process) -> dict[str, list[str]]:
    """Return the values of each switch, in their order."""
    found: dict[str, list[str]] = {}
    for word in process.cmdline()[1:]:
        name, _, value = word.partition("=")
        if name.startswith("--"):
            found.setdefault(name, []).append(value)
    return found


async def test_a_browser_that_was_asked_early_for_its_version_is_asked_again_at_its_next_start(tmp_path: Path) -> None:
    """It may be another one by then."""
    script, asked = tmp_path / "chromium", tmp_path / "asked"
    version = f"echo $1 >> '{asked}'; echo Chromium $(wc -l < '{asked}').0.0.0"
    script.write_text(f"#!/bin/sh\n{version}\n")
    script.chmod(0o700)
    async with async_playwright() as playwright:
        ask_early(playwright, LaunchOptions(Path(), executable=tmp_path / "nowhere"))
        ask_early(playwright, LaunchOptions(Path(), executable=script))
        await become(asked.exists)
        agents = [await user_agent(script), await user_agent(script)]
    assert [re.findall(r"Chrome/(\d+)", str(agent)) for agent in agents] == [["1"], ["2"]]
    assert asked.read_text() == "--version\n" * 2


async def test_the_error_for_a_driver_without_a_library_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, library = tmp_path / "node", "libsome_thing.so.1"
    says = f"{script}: error while loading shared libraries: {library}: cannot open shared object file"
    script.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 127\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(script))
    with pytest.raises(BrowserLaunchFailed, match=f"this machine lacks {library}") as failed:
        await start_driver()
    assert "apt-get install libsome-thing1" in str(failed.value.advice)


def test_a_driver_that_ends_before_the_first_message_gives_a_clear_error_and_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/bin/false")
    with asyncio.Runner() as runner:
        with pytest.raises(BrowserLaunchFailed, match="ended as"):
            runner.run(start_driver())
        runner.run(_write_to_an_ended_process())
        gc.collect()  # which is when asyncio reports what nobody read
    assert caplog.messages == []


async def _write_to_an_ended_process() -> None:
    """Do what Playwright does of a driver whose end the loop has not seen yet."""
    process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "read word", stdin=asyncio.subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"end\n")
    with contextlib.suppress(ChildProcessError):  # which asyncio's own thread waited for first
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - the loop is not to see it
    process.stdin.write(b"{}")
    await process.wait()

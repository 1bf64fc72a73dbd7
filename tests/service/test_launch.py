"""How the browser is started."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.async_api import async_playwright

from browser_service.browser.launcher import CHROMIUM_ARGS, LaunchOptions, find_executable
from tests.service import processes
from tests.service.conftest import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_the_browser_has_every_switch_that_playwright_gives_it_and_its_features_are_only_added_to(
    start: StartService, site: Site
) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        ours = _switches(processes.browser(service.settings.data_dir))
    options = LaunchOptions(Path())
    async with async_playwright() as playwright:
        before = {*psutil.Process().children(recursive=True)}
        browser = await playwright.chromium.launch(
            executable_path=find_executable(playwright, options), chromium_sandbox=options.sandboxed
        )
        plain = _switches(next(_browsers({*psutil.Process().children(recursive=True)} - before)))
        await browser.close()
    assert plain.keys() - ours.keys() == {"--no-startup-window"}  # with a profile there is a first window
    last = "--disable-features"
    assert {*plain[last][-1].split(",")} < {*ours[last][-1].split(",")}
    assert f"{last}={ours[last][-1]}" == CHROMIUM_ARGS[-1]


def _browsers(found: set[psutil.Process]) -> Iterator[psutil.Process]:
    commands = ((process, " ".join(process.cmdline())) for process in found)
    return (process for process, command in commands if "--headless" in command and "--type=" not in command)


def _switches(process: psutil.Process) -> dict[str, list[str]]:
    """The values of each switch, in their order."""
    found: dict[str, list[str]] = {}
    for word in process.cmdline()[1:]:
        name, _, value = word.partition("=")
        if name.startswith("--"):
            found.setdefault(name, []).append(value)
    return found

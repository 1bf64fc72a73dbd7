"""Provides the fixtures that all tests share: one service with one browser for the whole run, and fresh agents for each
test.

The folder of a test says what it needs, and is its marker: `pure` has no service and no browser, `front` has the
service without a browser or the gateway without a service, `page` has one service and one browser that all tests
share, and `process` starts processes, services or browsers of its own."""

import gc
import os
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import pytest
import structlog
from hypothesis import settings
from playwright.async_api import expect

from browser_service.settings import Settings
from tests.support import browsers, sharing
from tests.support.goldens.recorder import record_if_asked
from tests.support.service import Agent, RunningService, running_service, settings_for, visiting
from tests.support.sharing import hold
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

# Without a deadline, because a busy machine is no defect. CI repeats its examples, and judges what changed by them.
settings.register_profile("ours", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ours")
expect.set_options(timeout=PATIENCE_S * 1_000)  # for the same reason: five seconds are few there
# A traceback with the values of all variables takes the processor two seconds to draw.
drawn = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], drawn])


# No test reads the developer's own file of settings, nor does a process that inherits this.
os.environ["BROWSE_CONFIG"] = os.devnull
# Several hundred times Playwright's driver is started, and compiles the same 4 MB each time: a fifth of its start.
os.environ.setdefault("NODE_COMPILE_CACHE", str(Path(sys.prefix) / "node-cache"))


__all__ = ["hold"]

TESTS = Path(__file__).parent
THOROUGH = ("process", "page/security", "page/liars", "front/links")
"""Folders whose tests take long together: `make check` runs them, and `make test` of them only the promises."""
PROMISES = TESTS / "process" / "test_promises.py"
IS_REMOTE = os.environ.get("BROWSE_TESTS_HOST") == "remote"


def pytest_configure(config: pytest.Config) -> None:
    record_if_asked(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file that has none of the tests that are asked for."""
    if collection_path.suffix != ".py":
        return None
    asked = str(config.getoption("markexpr"))
    if asked.startswith("not (thorough"):
        return _is_thorough(collection_path) or None
    wanted = asked.partition(" ")[0]
    if wanted not in {"long", "thorough"} or (wanted == "thorough" and _is_thorough(collection_path)):
        return None
    return f"pytest.mark.{wanted}" not in collection_path.read_text(encoding="utf-8") or None


def _is_thorough(path: Path) -> bool:
    """Tell whether a file's folder makes all of its tests thorough."""
    return path.relative_to(TESTS).as_posix().startswith(THOROUGH) and path != PROMISES


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        item.add_marker(place.partition("/")[0])
        if _is_thorough(item.path):
            item.add_marker("thorough")
        if IS_REMOTE and (needs := item.get_closest_marker("host_here")) is not None:
            item.add_marker(pytest.mark.skip(*needs.args))
    sharing.bound(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the tests out of the garbage collection while they are made, which takes a third less time so, and later."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(10_000, 20, 100)
    gc.enable()
    return collected


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
def whole_browser(request: pytest.FixtureRequest) -> Iterator[None]:
    with browsers.whole() if request.node.get_closest_marker("whole_browser") else nullcontext():
        yield


@pytest.fixture(scope="session")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Share one service among all tests that leave nothing behind but pages of their own, which are closed for them."""
    async with _shared_service(settings_for(tmp_path_factory.mktemp("data"))) as running:
        yield running


def _shared_service(settings: Settings) -> AbstractAsyncContextManager[RunningService]:
    """Run the service in this process, and with BROWSE_TESTS_HOST=remote its host in another one."""
    if IS_REMOTE:
        from tests.support.remote import service_with_remote_host  # noqa: PLC0415 - no other run needs it

        return service_with_remote_host(settings)
    return running_service(settings)


@pytest.fixture(scope="session")
def shared_site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def site(shared_site: Site) -> Site:
    shared_site.reset()
    return shared_site


@pytest.fixture
async def agent(service: RunningService) -> AsyncIterator[Agent]:
    async with visiting(service) as agent:
        yield agent


@pytest.fixture
async def other(service: RunningService) -> AsyncIterator[Agent]:
    """Return a second client of the same service."""
    async with visiting(service) as agent:
        yield agent

"""Tests that a gateway says which settings of its environment the running service does not have."""

from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from browse_together.client.autostart import Autostart
from browse_together.client.http import ServiceClient
from browse_together.contract.written import fingerprint
from mcp_gateway import ineffective
from mcp_gateway.chats import credentials
from mcp_gateway.settings import Settings
from tests.support.service import RunningService
from tests.support.sharing import StartService

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ineffective.asked(dict.fromkeys(["BROWSE_MIN_INSTANCES", "HEADLESS", "APP_ENV"], "x")):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("BROWSE_EXECUTABLE_PATH", raising=False)


def gateway_of(service: RunningService, url: str) -> ServiceClient:
    """Return a gateway's way to a service in this process."""
    settings = Settings(url=url, data_dir=service.settings.data_dir, client_id="chat")
    autostart = Autostart(url, settings.data_dir, enabled=False)
    client = ServiceClient(url, credentials(settings), autostart, fingerprint())
    client.http = httpx.AsyncClient(transport=httpx.ASGITransport(service.app), base_url=service.base_url)
    return client


async def warnings(service: RunningService, url: str = "") -> list[str]:
    client = gateway_of(service, url or service.base_url)
    with capture_logs() as lines:
        await ineffective.warn(client)
    await client.close(1)
    return [str(line["event"]) for line in lines if line["log_level"] == "warning"]


async def test_a_setting_that_the_running_service_does_not_have_is_told_once_it_runs(
    start: StartService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await start(max_pages=50, url_blacklist=("a.example",))
    for variable, value in {
        "BROWSE_MAX_PAGES": "50",
        "BROWSE_URL_BLACKLIST": "a.example,b.example",
        "BROWSE_SANDBOX": "sometimes",
        "BROWSE_SESSION_IDLE_MS": "",
        "BROWSE_TOOLSETS": "core",
        "HEADLESS": "no",
        "BROWSE_LOG_LEVEL": "debug",
    }.items():
        monkeypatch.setenv(variable, value)
    told = await warnings(service)
    assert {line.partition(" has no effect: the service runs already, with ")[0]: line for line in told}.keys() == {
        "BROWSE_URL_BLACKLIST=a.example,b.example",
        "BROWSE_SANDBOX=sometimes",
        "HEADLESS=no",
    }
    (headless,) = (line for line in told if line.startswith("HEADLESS"))
    assert headless.startswith("HEADLESS=no has no effect: the service runs already, with headless true. It takes a ")
    elsewhere = await warnings(service, "https://browse.example")
    assert len(elsewhere) == 1
    names = "BROWSE_MAX_PAGES, BROWSE_SANDBOX, BROWSE_URL_BLACKLIST, HEADLESS"
    assert elsewhere[0].startswith(f"{names}: this has no effect")


async def test_nothing_is_asked_without_such_a_setting_or_without_a_service(
    start: StartService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    service = await start()
    assert await warnings(service) == []
    monkeypatch.setenv("HEADLESS", "true")
    assert await warnings(service) == []
    monkeypatch.setenv("HEADLESS", "false")
    client = ServiceClient(
        "http://127.0.0.1:9",
        credentials(Settings(data_dir=tmp_path)),
        Autostart("http://127.0.0.1:9", tmp_path, enabled=False),
        fingerprint(),
    )
    with capture_logs() as lines:
        await ineffective.warn(client)
    await client.close(1)
    assert lines == []

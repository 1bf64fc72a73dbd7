"""Tests what the service says of its own settings."""

import httpx
import pytest

from browse_together.contract import wire
from browser_service.settings import Settings
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.sharing import StartService

pytestmark = pytest.mark.anyio


async def result(agent: Agent, reply: httpx.Response) -> AnyJson:
    assert reply.status_code == 200, (agent.label, reply.text)
    return reply.json()["result"]


async def test_settings_are_shown_without_secrets_and_changed_ones_are_marked(
    start: StartService,
) -> None:
    service = await start(
        max_pages=50,
        notify_webhook="https://hooks.example/s3cret",
        cdp_url=None,
        session_idle_ms=60_000,
        url_whitelist=("a.example",),
    )
    async with service.agent() as agent:
        reply = await agent.http.get(wire.SETTINGS)
        told = await result(agent, reply)
    assert set(told["settings"]) == set(Settings.model_fields)
    assert told["settings"]["max_pages"] == 50
    assert told["settings"]["url_whitelist"] == ["a.example"]
    assert told["settings"]["notify_webhook"] == "https://hooks.example/…"
    assert "s3cret" not in reply.text
    assert {"max_pages", "notify_webhook", "session_idle_ms", "url_whitelist", "data_dir"} <= set(told["changed"])
    assert not {"max_instances", "headless"} & set(told["changed"])


async def test_settings_are_compared_as_the_service_reads_them(start: StartService) -> None:
    service = await start(max_pages=50)
    async with service.agent() as agent:
        asked = {"BROWSE_MAX_PAGES": "050", "headless": "No", "log_level": "LOUD", "no_such": "1", "BROWSE_PROXY": ""}
        told = await result(agent, await agent.http.post(wire.SETTINGS, json={"settings": asked}))
        assert told["ineffective"] == {"headless": True, "log_level": service.settings.log_level}
        wrong = await agent.http.post(wire.SETTINGS, json={"headless": "false"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "VALIDATION_ERROR")


async def test_settings_too_long_to_compare_are_refused(start: StartService) -> None:
    service = await start()
    async with service.agent() as agent:
        for asked in (
            {"url_whitelist": "a.example," * 1_001},
            {"url_whitelist": ["a"]},
            {f"x{n}": "1" for n in range(201)},
        ):
            refused = (await agent.http.post(wire.SETTINGS, json={"settings": asked})).json()["error"]
            assert (refused["code"], refused["details"]["context"]["field"]) == ("VALIDATION_ERROR", "settings")
            assert "10,000 characters" in refused["message"]

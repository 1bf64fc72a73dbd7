"""Tests that a person's own browser is attached to, and its tabs are shared, by the account's owner alone."""

import pytest

from browse_together.contract import wire
from tests.support.sharing import StartService

pytestmark = pytest.mark.anyio

PATHS = (
    ("POST", wire.ATTACH),
    ("POST", wire.DETACH),
    ("GET", wire.ATTACHMENT),
    ("GET", wire.TABS),
    ("POST", wire.TABS_SHARE),
    ("POST", wire.TABS_UNSHARE),
)


async def test_agents_neither_attach_nor_see_tabs(start: StartService) -> None:
    service = await start()
    async with service.agent() as agent:
        for method, path in PATHS:
            refused = await agent.http.request(method, path, json={})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "FORBIDDEN"), path
        gone = await agent.error("goto", sessionId="chrome", url="http://127.0.0.1:1/")
        assert (gone["code"], "attach chrome" in gone["hint"]) == ("SESSION_NOT_FOUND", True)
        assert (await agent.error("create_session", sessionId="chrome"))["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "names no browser"),
        ({"browser": "firefox"}, "no browser is called 'firefox'"),
        ({"profileDir": "nowhere"}, "no whole path"),
        ({"browser": "chrome", "sessionId": "default"}, "'default' is the name of something else"),
        ({"browser": "chrome", "sessionId": "no name"}, "sessionId"),
        ({"surprise": 1}, "surprise"),
    ],
)
async def test_what_names_no_browser_is_refused_and_changes_nothing(
    start: StartService, body: dict[str, object], says: str
) -> None:
    service = await start()
    async with service.agent(operator=True) as person:
        error = (await person.http.post(wire.ATTACH, json=body)).json()["error"]
        assert (error["code"], says in error["message"]) == ("VALIDATION_ERROR", True), error
        assert (await person.http.get(wire.ATTACHMENT)).json()["result"] == {"attachments": []}


@pytest.mark.parametrize(
    "settings", [{"private_network": "refuse"}, {"cdp_url": "http://127.0.0.1:1", "browser_type": "chromium"}]
)
async def test_settings_that_exclude_it_are_told(start: StartService, settings: dict[str, str]) -> None:
    service = await start(**settings)
    async with service.agent(operator=True) as person:
        refused = (await person.http.post(wire.ATTACH, json={"browser": "chrome"})).json()["error"]
        assert refused["code"] == "INVALID_REQUEST"

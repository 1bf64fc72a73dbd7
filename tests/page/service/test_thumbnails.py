"""Tests the thumbnails of acts: which acts get them, and what is not on them."""

import asyncio
import base64
import io
from pathlib import Path

import pytest
from PIL import Image
from structlog.testing import capture_logs

from browse_together.contract import wire
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.frames import View
from browser_service.host.tabs import secrecy
from browser_service.host.watching import screencast, thumbnails
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become, found

pytestmark = pytest.mark.anyio

PAINTED_S = 0.05
PAGE = """<body style="margin:0;background:red">
<button style="position:absolute;left:50px;top:40px;width:80px;height:30px"
 onclick="document.body.style.background='blue'">Go</button>
<input autocomplete="one-time-code" style="margin-top:99px">"""


async def pictures(service: RunningService, agent: Agent, action: str) -> dict[str, AnyJson]:
    """Wait for the pictures of the agent's last act of this kind, and return them."""
    async with service.agent(operator=True) as person:
        listed = await person.http.get(wire.ACTIVITY, params={"client": agent.label, "action": action})
        newest = str(listed.json()["result"]["records"][0]["id"])

        async def shown() -> dict[str, AnyJson]:
            answer = await person.http.get(wire.ACTIVITY_PICTURES, params={"ids": newest})
            return dict(answer.json()["result"]["pictures"])

        return dict((await found(shown))[newest])


def colour(picture: dict[str, AnyJson]) -> tuple[int, ...]:
    opened = Image.open(io.BytesIO(base64.b64decode(picture["data"]))).convert("RGB")
    pixel = opened.getpixel((opened.width - 5, opened.height - 5))
    assert isinstance(pixel, tuple)
    return tuple(round(each / 255) for each in pixel)


async def test_an_act_that_somebody_watches_is_pictured_before_and_after_with_its_target_but_never_with_a_secret(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "_AIMS_WITHIN_MS", 5_000)  # a machine may be busy
    monkeypatch.setattr(screencast, "LASTS_S", PATIENCE_S)
    monkeypatch.setattr(secrecy, "_WITHIN_S", 5.0)
    monkeypatch.setattr(thumbnails, "_WITHIN_S", PATIENCE_S)
    await agent.call("goto", pageId="pictured", url=site.page("/pictured", PAGE))
    await service.host.frame_after("pictured", 0, 0, View())
    await agent.call("hover", pageId="pictured", selector="button")
    first = await pictures(service, agent, "hover")
    await agent.call("click", pageId="pictured", selector="button")
    clicked = await pictures(service, agent, "click")
    assert "before" not in first
    assert colour(clicked["before"]) == colour(first["after"]) == (1, 0, 0)
    assert colour(clicked["after"]) == (0, 0, 1)
    assert clicked["target"] == {"x": 50, "y": 40, "width": 80, "height": 30}
    size = await service.window("pictured").evaluate("[innerWidth, innerHeight]")
    assert [clicked["after"]["width"], clicked["after"]["height"]] == size

    await agent.call("fill", pageId="pictured", selector="input", value="123456")
    filled = await pictures(service, agent, "fill")
    masked = Image.open(io.BytesIO(base64.b64decode(filled["after"]["data"]))).convert("L")
    scale, box = masked.width / filled["after"]["width"], filled["target"]
    assert masked.getpixel((round((box["x"] + 20) * scale), round((box["y"] + 9) * scale))) == pytest.approx(0, abs=9)
    async with service.agent(operator=True) as person:
        await person.http.delete(wire.ACTIVITY, params={"client": agent.label})
    kept = await service.parts.journal.read("SELECT 1 FROM thumbnails WHERE client_id = ?", agent.client_id)
    assert not kept
    denied = await agent.http.get(wire.ACTIVITY_PICTURES, params={"ids": "1"})
    assert denied.status_code == 403


@pytest.mark.thorough
async def test_acts_in_quick_succession_get_no_pictures_of_each_other_and_a_slow_page_is_not_called_secret(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "LASTS_S", PATIENCE_S)
    monkeypatch.setattr(secrecy, "_WITHIN_S", 5.0)
    monkeypatch.setattr(thumbnails, "_WITHIN_S", PATIENCE_S)
    await agent.call("goto", pageId="quick", url=site.page("/quick", PAGE))
    await service.host.frame_after("quick", 0, 0, View())
    await agent.call("hover", pageId="quick", selector="button")
    assert "after" in await pictures(service, agent, "hover")
    monkeypatch.setattr(thumbnails, "_PAINTED_S", 2.0)  # the next act comes within that
    await agent.call("click", pageId="quick", selector="button")
    await agent.call("focus", pageId="quick", selector="button")
    focused = await pictures(service, agent, "focus")
    assert (colour(focused["after"]), "before" in focused) == ((0, 0, 1), False)
    made = await service.parts.journal.read("SELECT 1 FROM thumbnails WHERE client_id = ?", agent.client_id)
    assert len(made) == 2
    monkeypatch.setattr(thumbnails, "_PAINTED_S", PAINTED_S)
    monkeypatch.setattr(secrecy, "_WITHIN_S", 0.0)
    await agent.call("press", pageId="quick", key="Shift")
    assert (await pictures(service, agent, "press"))["unseen"] == "slow"


async def test_all_acts_are_pictured_if_the_setting_says_so_and_the_oldest_pictures_go(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("browser_service.store.thumbnails.MOST_ROWS", 1)
    monkeypatch.setattr(thumbnails, "_WITHIN_S", PATIENCE_S)
    settings = settings_for(tmp_path, timeline="thumbnails")
    async with running_service(settings) as service, service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/p", PAGE))
        await pictures(service, agent, "goto")
        await agent.call("click", pageId="p", selector="button")
        await pictures(service, agent, "click")
        ((size,),) = await service.parts.journal.read("SELECT length(data) FROM thumbnails")
        assert 0 < int(str(size)) <= thumbnails.MOST_BYTES


async def test_an_act_that_nobody_watches_is_not_pictured_by_default_and_its_page_not_asked_for_secrets(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[object]()

    async def note(*of: object) -> None:
        asked.append(of)

    monkeypatch.setattr(secrecy, "secrets_on", note)
    await agent.call("goto", pageId="unseen", url=site.page("/unseen", PAGE))
    await agent.call("click", pageId="unseen", selector="button")
    await agent.call("fill", pageId="unseen", selector="input", value="123456")
    await agent.call("close_page", pageId="unseen")
    await asyncio.sleep(2 * PAINTED_S)  # nothing tells that no picture is taken
    kept = await service.parts.journal.read("SELECT 1 FROM thumbnails WHERE client_id = ?", agent.client_id)
    assert (service.settings.timeline, asked, kept) == ("watched", [], [])


async def test_a_picture_that_the_service_does_not_take_is_left_and_said_in_the_log(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def takes_none(*_: object) -> None:
        raise ServiceUnavailable("The service did not take or give the file.")

    monkeypatch.setattr(screencast, "LASTS_S", PATIENCE_S)
    monkeypatch.setattr(service.parts.artifacts, "keep_picture", takes_none)
    await agent.call("goto", pageId="left", url=site.page("/left", PAGE))
    await service.host.frame_after("left", 0, 0, View())
    with capture_logs() as said:
        await agent.call("click", pageId="left", selector="button")
        await become(lambda: "a picture of an act cannot be kept" in [each["event"] for each in said])

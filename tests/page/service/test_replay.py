"""Tests a replay in a browser: it plays, steps and is searched by keyboard, and asks no server for anything."""

import base64
import io
import re

import pytest
from PIL import Image
from playwright.async_api import expect

from browse_together.contract.calls import ActivityRecord
from browse_together.contract.frames import ActPictures, Box, ShownPicture
from browser_service.observability.replay import Act, Replay
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


def picture(colour: str) -> ShownPicture:
    out = io.BytesIO()
    Image.new("RGB", (64, 40), colour).save(out, "WEBP")
    data = base64.b64encode(out.getvalue()).decode()
    return ShownPicture(data=data, width=1280, height=800, time="2026-01-31T14:05:00.000Z")


def record(number: int, **facts: AnyJson) -> ActivityRecord:
    usual = {
        "time": f"2026-01-31T14:05:0{number}.000Z",
        "client": "Robin",
        "you": False,
        "durationMs": 5,
        "pageId": "shop",
    }
    return ActivityRecord.model_validate({**usual, "id": number, "outcome": "ok", "callId": str(number), **facts})


@pytest.mark.thorough
async def test_a_replay_is_played_and_searched_by_keyboard_and_asks_no_server(
    service: RunningService, agent: Agent, site: Site
) -> None:
    clicked = ActPictures(before=picture("red"), after=picture("blue"), target=Box(x=640, y=0, width=320, height=80))
    replay = Replay({"pageId": "shop"}, 1_000_000, more=False)
    title = "<img src=/evil onerror=evil()>"
    replay.add(
        [
            Act(record(4, action="click", pageId="other"), ActPictures()),
            Act(record(3, action="click", outcome="ELEMENT_NOT_FOUND"), ActPictures()),
            Act(record(2, action="fill", arguments={"selector": title}), ActPictures(unseen="secret")),
            Act(record(1, action="click", arguments={"selector": "#buy"}), clicked),
            Act(record(0, action="goto"), ActPictures()),
        ]
    )
    await agent.call("goto", pageId="replay", url=site.page("/replay", replay.html()))
    page, asked = service.window("replay"), list[str]()
    page.on("request", lambda request: asked.append(request.url) if not request.url.startswith("data:") else None)
    act, note = page.get_by_role("heading", level=2), page.locator("#note")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Replay of shop")
    await expect(page.get_by_role("img", name="Robin clicked: the page after")).to_be_visible()
    await page.keyboard.press("b")
    await expect(page.get_by_role("img", name="Robin clicked: the page before")).to_be_visible()
    target, paper = await page.locator("#target").bounding_box(), await page.locator("#paper").bounding_box()
    assert target is not None
    assert paper is not None
    assert round((target["x"] - paper["x"]) / paper["width"], 2) == 0.5
    await expect(page.locator("#count")).to_have_text("2 / 5")  # the first that has a picture
    await page.get_by_role("combobox", name="Page").select_option("shop")
    await act.click()
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#words")).to_have_text(title)
    await expect(note).to_contain_text("a password or a code might have been seen")
    await page.keyboard.press("End")
    await expect(page.locator("dd.wrong")).to_contain_text("There is no such element")
    await expect(page.locator("#count")).to_have_text("4 / 4")
    await page.keyboard.press("s")
    await page.keyboard.press(" ")
    await expect(act).to_have_text("opened")
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    await expect(act).to_have_text("filled")
    await page.keyboard.press("/")
    await page.keyboard.type("element_not")
    await expect(page.get_by_role("status").first).to_have_text("1 act")
    assert await page.get_by_role("listitem").count() == 1
    assert not asked


async def test_refusals_that_repeat_are_one_act_of_a_replay_with_their_number(
    service: RunningService, agent: Agent, site: Site
) -> None:
    stopped = [record(number, action="click", outcome="HUMAN_IN_CONTROL", stopped=True) for number in (4, 3, 2)]
    in_hand = record(1, action="click", outcome="HUMAN_IN_CONTROL")
    replay = Replay({}, 1_000_000, more=False)
    replay.add(Act(each, ActPictures()) for each in [*stopped, in_hand])
    await agent.call("goto", pageId="replay", url=site.page("/replay", replay.html()))
    page = service.window("replay")
    told = [re.compile("a person has the page in hand"), re.compile("a person has stopped the agent · 3 times")]
    await expect(page.get_by_role("listitem")).to_have_text(told)
    await expect(page.locator("#about")).to_contain_text("4 acts")


async def test_a_replay_of_what_nobody_watched_says_why_it_has_no_pictures(
    service: RunningService, agent: Agent, site: Site
) -> None:
    replay = Replay({}, 1_000_000, more=False)
    replay.add([Act(record(1, action="click", arguments={"selector": "#buy"}), ActPictures())])
    await agent.call("goto", pageId="replay", url=site.page("/replay", replay.html()))
    page = service.window("replay")
    await expect(page.locator("#note")).to_have_text(
        re.compile("Not pictured: .* watches or records .*BROWSE_TIMELINE")
    )
    await expect(page.get_by_role("button", name="Before")).to_be_hidden()
    await expect(page.get_by_role("heading", level=2)).to_have_text("clicked")
    theirs = Replay({}, 1_000_000, more=False, of_owner=False)
    theirs.add([Act(record(1, action="click"), ActPictures())])
    await agent.call("goto", pageId="replay", url=site.page("/theirs", theirs.html()))
    await expect(page.locator("#note")).to_contain_text("for the account's owner")

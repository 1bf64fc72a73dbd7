"""Tests videos of a page: what is on them, how they end, and who keeps them."""

import io
import sys
from collections.abc import Callable, Sequence
from typing import Any

import av
import pytest
from PIL import Image

from browse_together.contract.installation import install_command
from browser_service.host.record.recording import Video
from tests.support.service import Agent, RunningService
from tests.support.tab import Tab
from tests.support.waiting import become

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

Colour = tuple[int, int, int]
PAINTED = "<body style='margin: 0; background: rgb({colour})'>"
MOVING = "<p>moves<style>p { animation: 1s infinite alternate move } @keyframes move { to { margin-left: 99px } }"
RED, BLUE = "255, 0, 0", "0, 0, 255"


async def _bytes(agent: Agent, url: str) -> bytes:
    got = await agent.http.get(url)
    assert (got.status_code, got.headers["content-type"]) == (200, "video/mp4")
    return got.content


def _watched(data: bytes, x: int = 600, y: int = 500) -> list[tuple[float, Colour]]:
    """Return when each frame is shown, and its colour at a point."""
    with av.open(io.BytesIO(data), "r") as video:
        frames: list[Any] = list(video.decode(video=0))  # Any: its to_image has no type
        return [(frame.time, _colour(frame.to_image().getpixel((x, y)))) for frame in frames]


def _colour(pixel: Sequence[int]) -> Colour:
    """Round a colour to a few steps, because a video keeps colours roughly."""
    red, green, blue = (round(value / 80) * 80 for value in pixel)
    return red, green, blue


async def _told(service: RunningService, agent: Agent, told: Callable[[str], bool]) -> str:
    """Return the first notice of that kind, as soon as there is one."""
    while True:
        await become(lambda: service.has_news_for(agent))
        for notice in (await agent.reply("list_pages")).json()["notices"]:
            if told(notice["text"]):
                return str(notice["text"])


async def test_record_video_shows_what_the_page_showed_through_a_navigation(tab: Tab) -> None:
    await tab.show(PAINTED.format(colour=RED))
    await tab.sees("window.mark = 'same document'")
    began = await tab.call("record_video", command="start")
    assert "is being recorded" in began["observed"]
    assert await tab.sees("window.mark") == "same document"
    await tab.show(PAINTED.format(colour=BLUE), host="localhost")
    await tab.sees("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await tab.sees("document.body.style.background = 'rgb(0, 160, 0)'")
    await tab.sees("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await tab.call("screenshot")  # which waits until that is drawn
    found = await tab.call("record_video", command="stop")
    assert (found["width"], found["height"], "data" in found["artifact"]) == (1280, 720, False)
    frames = _watched(await _bytes(tab.agent, found["artifact"]["url"]))
    colours = [colour for _, colour in frames]
    assert colours[0] == (240, 0, 0)
    assert colours[-1] == (0, 160, 0)
    times = [at for at, _ in frames]
    assert times == sorted(set(times))
    assert found["seconds"] == pytest.approx(times[-1], abs=0.1)
    assert len(frames) >= found["frames"] >= 2


async def test_record_video_runs_once_per_page_and_only_for_clients_that_may_act(
    service: RunningService, tab: Tab, other: Agent
) -> None:
    await tab.show(PAINTED.format(colour=RED))
    nothing = await tab.error("record_video", command="stop")
    assert (nothing["code"], nothing["details"]["context"]["field"]) == ("VALIDATION_ERROR", "command")
    assert (await other.error("record_video", pageId="tab", command="start"))["code"] == "PAGE_OWNED"
    await tab.call("record_video", command="start")
    again = await tab.error("record_video", command="start")
    assert (again["code"], tab.agent.label in again["message"]) == ("VALIDATION_ERROR", True)
    await tab.call("share_page", access="act")
    stopped = await other.call("record_video", pageId="tab", command="stop")
    assert "artifact" not in stopped
    told = await _told(service, tab.agent, lambda text: "The video of tab is kept" in text)
    url = _file(told)
    assert _watched(await _bytes(tab.agent, url))
    assert (await other.http.get(url)).status_code == 404


async def test_record_video_is_kept_when_its_page_closes_and_when_its_time_is_over(
    service: RunningService, tab: Tab
) -> None:
    await tab.show(PAINTED.format(colour=RED) + MOVING)
    await tab.call("record_video", command="start", maxSeconds=1)
    over = await _told(service, tab.agent, lambda text: "its 1 s were over" in text)
    found = await tab.call("record_video", command="stop")
    assert found["artifact"]["artifactId"] in over
    assert found["seconds"] == pytest.approx(1, abs=0.9)
    await tab.call("record_video", command="start")
    await tab.call("close_page")
    closed = await _told(service, tab.agent, lambda text: "the page was closed" in text)
    url = _file(closed)
    assert {colour for _, colour in _watched(await _bytes(tab.agent, url))} == {(240, 0, 0)}


async def test_record_video_ends_before_the_page_becomes_private_to_another(
    service: RunningService, tab: Tab, other: Agent
) -> None:
    await tab.show(PAINTED.format(colour=RED))
    await tab.call("record_video", command="start")
    await other.call("list_pages")
    await tab.call("hand_over_page", to=other.label)
    await other.call("share_page", pageId="tab", access="private")
    await other.call("evaluate_script", pageId="tab", expression="document.body.style.background = 'rgb(0, 0, 255)'")
    told = await _told(service, tab.agent, lambda text: "became private" in text)
    url = _file(told)
    assert {colour for _, colour in _watched(await _bytes(tab.agent, url))} == {(240, 0, 0)}


@pytest.mark.host_here("it takes a package away from the host's process")
async def test_record_video_without_its_encoder_says_how_to_get_it_and_needs_no_restart_then(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.show(PAINTED.format(colour=RED))
    with monkeypatch.context() as missing:
        missing.setitem(sys.modules, "av", None)
        refused = await tab.agent.reply("record_video", command="start")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (424, "INVALID_REQUEST")
    assert "need the package av" in error["message"]
    assert install_command("video") in error["hint"]
    await tab.call("record_video", command="start")
    assert "artifact" in await tab.call("record_video", command="stop")


def _file(told: str) -> str:
    """Return the address of the file that a notice names."""
    return f"/api/files/{told.split(' is kept: ', 1)[1].split(',', 1)[0]}"


def _jpeg(width: int, height: int, colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "JPEG", quality=95)
    return out.getvalue()


def test_a_video_keeps_its_size_when_the_pictures_change_theirs() -> None:
    video = Video(_jpeg(201, 100, "red"), 1_000_000)
    video.show(_jpeg(201, 100, "red"), 0)
    video.show(_jpeg(100, 100, "blue"), 500)
    data = video.finish(1_000)
    assert video.size == (200, 100)
    assert [(at, colour) for at, colour in _watched(data, 100, 50)] == [
        (0, (240, 0, 0)),
        (0.5, (0, 0, 240)),
        (1, (0, 0, 240)),
    ]
    assert _watched(data, 10, 50)[-1][1] == (0, 0, 0)  # beside a picture that is narrower now


def test_a_video_says_when_it_is_as_large_as_it_may_be() -> None:
    video = Video(_jpeg(640, 480, "red"), 20_000)
    shown = 0
    while not video.full and shown < 500:
        noise = Image.effect_noise((640, 480), 90).convert("RGB")
        out = io.BytesIO()
        noise.save(out, "JPEG")
        video.show(out.getvalue(), shown * 100)
        shown += 1
    assert video.full
    assert len(video.finish(shown * 100)) < 1_000_000

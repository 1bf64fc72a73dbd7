"""Tests what those see who watch a page: its picture as it changes, the act that is done there, and no secrets."""

import asyncio
import base64
import io
from collections.abc import Callable

import pytest
from PIL import Image

from browser_service.host import masked, screencast
from shared.frames import Frame, View
from tests.support.listening import PATIENCE_S, become
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

MASKED = View(masked=True)


async def until(service: RunningService, page_id: str, holds: Callable[[Frame], object], view: View = View()) -> Frame:  # noqa: B008 - it does not change
    """Watch a page until a frame is as expected."""
    seq = 0
    async with asyncio.timeout(PATIENCE_S):
        while True:
            frame = await service.parts.host.frame_after(page_id, seq, 1_000, view)
            assert frame is not None
            if holds(frame):
                return frame
            seq = frame.seq


def colour(frame: Frame) -> str:
    """Name the colour in the middle of a picture."""
    if frame.picture is None:
        return "none"
    picture = Image.open(io.BytesIO(base64.b64decode(frame.picture))).convert("RGB")
    red, green, blue = picture.getpixel((picture.width // 2, picture.height // 2))  # type: ignore[misc] # three of RGB
    return {(True, False): "red", (False, True): "blue"}.get(
        (red > 128 > blue, blue > 128 > red), f"{red},{green},{blue}"
    )


async def test_a_page_is_seen_as_it_changes_and_no_picture_is_made_when_nobody_watches(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "LASTS_S", 0.2)
    await agent.call("goto", pageId="seen", url=site.page("/red", "<body style='background:red'>"))
    cast = service.host.pages["seen"].screencast
    assert not cast.watched
    seen = await until(service, "seen", lambda frame: colour(frame) == "red")
    size = await service.window("seen").evaluate("[innerWidth, innerHeight]")
    assert [seen.width, seen.height] == size
    change = "setTimeout(() => document.body.style.background = n < 8 ? 'black' : 'blue', 20 * n)"
    await agent.call("evaluate_script", pageId="seen", expression=f"{{ for (let n = 0; n < 9; n++) {change} }}")
    await until(service, "seen", lambda frame: colour(frame) == "blue")
    await become(lambda: not cast.watched)


async def test_the_act_is_seen_with_its_target_while_it_runs_and_a_moment_longer(
    service: RunningService, agent: Agent, site: Site
) -> None:
    button = "<button style='position:absolute;left:40px;top:60px;width:100px;height:30px'>b</button>"
    await agent.call("goto", pageId="aimed", url=site.page("/", button))
    await until(service, "aimed", lambda frame: frame.picture)
    await agent.call("click", pageId="aimed", selector="button")
    frame = await until(service, "aimed", lambda frame: frame.act and frame.act.action == "click" and frame.act.target)
    assert frame.act is not None
    assert frame.act.target is not None
    assert (frame.act.target.x, frame.act.target.y, frame.act.target.width) == (40, 60, 100)
    assert (frame.act.client_label, frame.act.state) == (agent.label, "done")
    await agent.error("click", pageId="aimed", selector="#none", timeout=100)
    assert (await until(service, "aimed", lambda frame: frame.act and frame.act.state == "failed")).act is not None


FIELDS = """<style>* {margin: 0} input, iframe {position: absolute; left: 0; width: 200px; height: 100px; border: 0}
body {background: red}</style><input id=p type=password style="top: 100px"><input id=name style="top: 300px">
<iframe style="top: 500px" srcdoc="<input id=code autocomplete=one-time-code>"></iframe>"""


def black_at(frame: Frame, *heights: int) -> list[bool]:
    """Say of places in the left half of a picture whether they are black, while the rest is red as ever."""
    if frame.picture is None:
        return []
    picture = Image.open(io.BytesIO(base64.b64decode(frame.picture))).convert("L")
    scale = picture.width / frame.width
    pixels = [picture.getpixel((round(100 * scale), round(y * scale))) for y in heights]
    rest = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(rest, int)
    assert 50 < rest < 100
    return [isinstance(pixel, int) and pixel < 20 for pixel in pixels]


async def test_who_may_not_see_secrets_sees_a_black_box_over_a_field_that_has_the_focus_or_a_value(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masked, "_EVERY_S", 0.05)
    await agent.call("goto", pageId="form", url=site.page("/", FIELDS))
    window, places = service.window("form"), (150, 350, 550)
    await until(service, "form", lambda frame: black_at(frame, *places) == [False, False, False], MASKED)
    await window.focus("#p")
    await until(service, "form", lambda frame: black_at(frame, *places) == [True, False, False], MASKED)
    await window.fill("#p", "secret")
    await window.frames[1].fill("#code", "123")
    await window.focus("#name")
    await until(service, "form", lambda frame: black_at(frame, *places) == [True, False, True], MASKED)
    await until(service, "form", lambda frame: black_at(frame, *places) == [False, False, False])
    await window.evaluate("document.documentElement.style.zoom = 2")  # nobody knows where the field is now
    await until(service, "form", lambda frame: frame.state == "hidden" and not frame.picture, MASKED)
    await window.evaluate("document.documentElement.style.zoom = 1")
    await window.fill("#p", "")
    await window.frames[1].fill("#code", "")
    await window.focus("#name")
    await until(service, "form", lambda frame: black_at(frame, *places) == [False, False, False], MASKED)


async def test_who_may_not_see_secrets_gets_no_picture_of_the_document_before(
    service: RunningService, agent: Agent, site: Site
) -> None:
    code = "<body style='background:red'><input autocomplete=one-time-code value=123456>"
    await agent.call("goto", pageId="code", url=site.page("/code", code))
    await until(service, "code", lambda frame: colour(frame) == "red")
    seen = list[str]()

    def shows_the_next(frame: Frame) -> bool:
        seen.append(colour(frame))
        return seen[-1] == "blue"

    await agent.call("goto", pageId="code", url=site.page("/next", "<body style='background:blue'>"))
    await until(service, "code", shows_the_next, MASKED)
    assert "red" not in seen
    await service.window("code").evaluate("history.pushState({}, '', '/same')")
    await until(service, "code", lambda frame: frame.state == "live" and colour(frame) == "blue", MASKED)


async def test_a_page_that_hangs_and_one_that_crashed_are_seen_to(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "_SILENT_S", 0.1)
    monkeypatch.setattr(screencast, "_ANSWERS_WITHIN_S", 0.2)
    await agent.call("goto", pageId="hung", url=site.page("/", "hello"))
    await until(service, "hung", lambda frame: frame.picture)
    hanging = asyncio.ensure_future(
        agent.reply("evaluate_script", pageId="hung", expression="while (true) {}", timeout=1_000)
    )
    await until(service, "hung", lambda frame: frame.state == "hung")
    await hanging
    await agent.call("goto", pageId="hung", url=site.url("/"))
    await until(service, "hung", lambda frame: frame.state == "live")
    tab = service.host.pages["hung"].tab
    assert tab is not None
    assert tab.cdp is not None
    asyncio.ensure_future(tab.cdp.send("Page.crash")).add_done_callback(lambda done: done.exception())
    await until(service, "hung", lambda frame: frame.state == "crashed")

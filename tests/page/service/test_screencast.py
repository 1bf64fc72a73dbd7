"""Tests what those see who watch a page: its picture as it changes, the act that is done there, and no secrets."""

import asyncio
import base64
import io
from collections.abc import Callable
from functools import partial

import pytest
from PIL import Image

from browse_together.contract.frames import Frame, View
from browse_together.contract.strokes import Stroke, Strokes
from browser_service.host.tabs import cast, secrecy
from browser_service.host.tabs.secrecy import secrets_on
from browser_service.host.watching import hands, screencast
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

MASKED = View(masked=True)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages take long to tell where their secrets are: on a busy machine the wall hides them meanwhile."""
    monkeypatch.setattr(secrecy, "_WITHIN_S", PATIENCE_S)


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
    cast = service.entry("seen").screencast
    assert not cast.watched
    seen = await until(service, "seen", lambda frame: colour(frame) == "red")
    size = await service.window("seen").evaluate("[innerWidth, innerHeight]")
    assert [seen.width, seen.height] == size
    change = "setTimeout(() => document.body.style.background = n < 8 ? 'black' : 'blue', 20 * n)"
    await agent.call("evaluate_script", pageId="seen", expression=f"{{ for (let n = 0; n < 9; n++) {change} }}")
    await until(service, "seen", lambda frame: colour(frame) == "blue")
    await become(lambda: not cast.watched)


async def test_a_viewer_with_a_later_number_from_another_host_gets_the_picture_that_there_is(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="moved", url=site.page("/still", "<body style='background:red'>"))
    seen = await until(service, "moved", lambda frame: colour(frame) == "red")
    for number in (seen.seq + (1 << 40), seen.seq - (1 << 32)):
        frame = await service.parts.host.frame_after("moved", number, 0, View())
        assert frame is not None
        assert colour(frame) == "red"


async def test_the_act_is_seen_with_its_target_while_it_runs_and_a_moment_longer(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "_AIMS_WITHIN_MS", 5_000)  # a machine may be busy
    monkeypatch.setattr(screencast, "_ACT_SHOWN_S", PATIENCE_S)
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


async def test_a_tile_holds_its_picture_back_until_an_act_is_over_but_not_that_of_one_that_takes_long(
    service: RunningService, agent: Agent, site: Site
) -> None:
    tile = View(width=480, fps=2)
    await agent.call("goto", pageId="held", url=site.page("/", "<body style='background:red'>"))
    first = await until(service, "held", colour, tile)
    await service.window("held").wait_for_timeout(600)  # a tile's pictures are half a second apart
    await agent.call("evaluate_script", pageId="held", expression="document.body.style.background = 'blue'")
    after = await until(service, "held", lambda frame: colour(frame) == "blue", tile)
    assert after.seq > first.seq
    slow = "document.body.style.background = 'red'; new Promise(end => globalThis.end = end)"
    running = asyncio.ensure_future(agent.call("evaluate_script", pageId="held", expression=slow))
    shown = await until(service, "held", lambda frame: colour(frame) == "red", tile)
    assert shown.act is not None
    assert shown.act.state == "running"
    await service.window("held").evaluate("end()")
    await running


FIELDS = """<style>* {margin: 0} input, iframe {position: absolute; left: 0; width: 200px; height: 100px; border: 0}
body {background: red}</style><input id=p type=password style="top: 100px"><input id=name style="top: 300px">
<iframe style="top: 500px" srcdoc="<input id=code autocomplete=one-time-code>"></iframe>"""


def black_at(frame: Frame, *heights: int) -> list[bool]:
    """Say of places in the left half of a picture whether they are black, if the rest is red as ever: a window may be
    white before its document is drawn."""
    if frame.picture is None:
        return []
    picture = Image.open(io.BytesIO(base64.b64decode(frame.picture))).convert("L")
    scale = picture.width / frame.width
    pixels = [picture.getpixel((round(100 * scale), round(y * scale))) for y in heights]
    rest = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(rest, int)
    if not 50 < rest < 100:
        return []
    return [isinstance(pixel, int) and pixel < 20 for pixel in pixels]


async def test_a_reader_sees_a_black_box_over_a_secret_field_with_focus_or_value(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrecy, "_EVERY_S", 0.05)
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


async def test_a_page_with_an_open_dialog_is_live_not_hidden(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrecy, "_WITHIN_S", 0.5)  # a page that a dialog has stopped tells nothing
    await agent.call("goto", pageId="asks", url=site.page("/asks", "<input type=password value=x>"))
    await service.window("asks").evaluate("document.documentElement.style.zoom = 2")
    await until(service, "asks", lambda frame: frame.state == "hidden", MASKED)
    await agent.call("evaluate_script", pageId="asks", expression="void setTimeout(() => alert('now'))")
    frame = await until(service, "asks", lambda frame: frame.dialog, MASKED)
    assert (frame.state, frame.picture) == ("live", None)
    await agent.call("handle_dialog", pageId="asks", accept=True)


async def test_a_reader_gets_no_picture_of_the_previous_document(
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


def asks_for(chooser: str | None, frame: Frame) -> bool:
    return frame.chooser == chooser


async def test_a_window_that_people_see_opens_its_own_choosers_but_for_what_was_just_pressed_at_the_wall(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await agent.call("open_page")
    monkeypatch.setattr(type(service.session()), "headless", False)
    monkeypatch.setattr(hands, "_CHOOSER_WITHIN_S", 60)
    await agent.call("goto", pageId="files", url=site.page("/", "<style>* {margin: 0}</style><input type=file>"))
    tab = service.entry("files").record.tab
    assert tab is not None
    made: list[tuple[list[Stroke], str | None]] = [
        ([Stroke(do="move", x=9, y=9)], None),
        ([Stroke(do="down", x=20, y=10), Stroke(do="up", x=20, y=10)], "one"),
        ([Stroke(do="files"), Stroke(do="key", key="Shift")], None),
    ]
    async with service.agent(operator=True) as ana:
        await ana.call("take_over", pageId="files")
        for number, (strokes, chooser) in enumerate(made):
            if number == len(made) - 1:
                monkeypatch.setattr(hands, "_CHOOSER_WITHIN_S", 0)
            assert tab.file_choosers.lasting is (number > 1)
            assert await service.host.hand("files", Strokes(batch_id=f"batch-{number}", made=strokes)) is None
            await until(service, "files", partial(asks_for, chooser))
        await become(lambda: not tab.file_choosers.lasting)
        await ana.call("give_back", pageId="files")


@pytest.mark.host_here("it changes a figure in the host's process")
async def test_pictures_go_on_after_one_that_was_wanted_anew_and_came_too_late(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tile = View(width=480, fps=2)
    await agent.call("goto", pageId="late", url=site.page("/", "<body style='background:red'>"))
    await until(service, "late", lambda frame: colour(frame) == "red", tile)
    await service.window("late").wait_for_timeout(600)  # a tile's pictures are half a second apart
    monkeypatch.setattr(cast, "_ANEW_WITHIN_S", 0)
    shown = service.entry("late").screencast
    shown.hold()
    assert await shown.anew() is None
    await service.window("late").evaluate("document.body.style.background = 'blue'")
    await until(service, "late", lambda frame: colour(frame) == "blue", tile)


async def test_hanging_and_crashed_pages_are_shown_as_such(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "_SILENT_S", 0.1)
    monkeypatch.setattr(screencast, "_ANSWERS_WITHIN_S", 0.2)
    monkeypatch.setattr(screencast, "_LOOK_S", 0.1)  # else it could first look when the script has been ended
    await agent.call("goto", pageId="hung", url=site.page("/", "hello"))
    await until(service, "hung", lambda frame: frame.picture)
    hanging = asyncio.ensure_future(
        agent.reply("evaluate_script", pageId="hung", expression="while (true) {}", timeout=2_000)
    )
    await until(service, "hung", lambda frame: frame.state == "hung")
    await hanging
    await agent.call("goto", pageId="hung", url=site.url("/"))
    await until(service, "hung", lambda frame: frame.state == "live")
    tab = service.entry("hung").record.tab
    assert tab is not None
    assert tab.cdp is not None
    asyncio.ensure_future(tab.cdp.send("Page.crash")).add_done_callback(lambda done: done.exception())
    await until(service, "hung", lambda frame: frame.state == "crashed")


CLOSED = """<style>* {margin: 0} iframe, .at {position: absolute; left: 0; width: 200px; height: 100px; border: 0}
body {background: red}</style><div class=at id=plain></div><div class=at id=open style="top: 200px"></div>
<iframe src="FRAME" style="top: 400px"></iframe><button style="position: absolute; top: 0; right: 0">b</button><script>
window.fields = ['plain', 'open'].map(id => {
  let host = document.getElementById(id);
  if (id === 'open') host = host.attachShadow({mode: 'open'}).appendChild(document.createElement('p'));
  const root = host.attachShadow({mode: 'closed'});
  root.innerHTML = '<input name=pin style="width: 200px; height: 100px; border: 0"><input id=search>';
  return root.firstChild;
});</script>"""
INNER = """<my-field><template shadowrootmode=closed><input name=pin value=1234 style="width: 99%; height: 90px">
</template></my-field>"""


async def test_a_field_in_a_closed_root_is_black_too_also_in_an_open_one_and_in_another_sites_frame(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrecy, "_EVERY_S", 0.05)
    site.page("/inner", "Hello")
    closed = CLOSED.replace("FRAME", site.url("/inner", host="localhost"))
    await agent.call("goto", pageId="closed", url=site.page("/closed", closed))
    window, places = service.window("closed"), (50, 250, 450)
    await until(service, "closed", lambda frame: black_at(frame, *places) == [False, False, False], MASKED)
    await window.evaluate("fields[0].focus()")
    await until(service, "closed", lambda frame: black_at(frame, *places) == [True, False, False], MASKED)
    tab = service.entry("closed").record.tab
    assert tab is not None
    with monkeypatch.context() as other_engine:
        other_engine.setattr(tab, "cdp", None)  # which shows no closed roots: there what has the focus is black
        found = await secrets_on(tab)
    assert found is not None
    assert [(box.x, box.y, box.width) for box in found.boxes] == [(0, 0, 200)]
    await window.evaluate("fields[1].value = '1234'")
    await window.click("button")
    await until(service, "closed", lambda frame: black_at(frame, *places) == [False, True, False], MASKED)
    site.page("/inner", INNER)
    await window.frames[1].goto(site.url("/inner", host="localhost"))
    await until(service, "closed", lambda frame: black_at(frame, *places) == [False, True, True], MASKED)
    decoys = "for (let n = 0; n < 5; n++) document.body.append(document.createElementNS('urn:x', 'x:input'))"
    await window.evaluate(f"{decoys}; fields[0].focus()")
    await until(service, "closed", lambda frame: black_at(frame, *places) == [True, True, True], MASKED)
    await window.evaluate("fields[0].blur(); fields[1].value = ''")
    await window.frames[1].goto(site.url("/none", host="localhost"))
    await until(service, "closed", lambda frame: black_at(frame, *places) == [False, False, False], MASKED)


async def test_a_password_that_its_page_shows_stays_black_and_so_does_one_that_only_its_words_give_away(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrecy, "_EVERY_S", 0.05)
    fields = FIELDS.replace("id=name", "id=name aria-label='Passwort anzeigen'").replace("one-time-code", "off")
    await agent.call("goto", pageId="eye", url=site.page("/eye", fields))
    window, places = service.window("eye"), (150, 350, 550)
    await window.fill("#p", "secret")
    await until(service, "eye", lambda frame: black_at(frame, *places) == [True, False, False], MASKED)
    await window.evaluate("p.type = 'text'; p.blur(); document.body.append('shown')")
    await window.fill("#name", "secret")
    await until(service, "eye", lambda frame: black_at(frame, *places) == [True, True, False], MASKED)


async def test_an_editable_element_for_a_secret_is_black_too(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrecy, "_EVERY_S", 0.05)
    secret = "<div id=pin contenteditable style='position: absolute; top: 300px; width: 200px; height: 100px"
    fields = FIELDS.replace('<input id=name style="top: 300px">', f"{secret}; -webkit-text-security: disc'></div>")
    await agent.call("goto", pageId="rich", url=site.page("/rich", fields))
    await service.window("rich").fill("#pin", "secret")
    await service.window("rich").evaluate("document.activeElement.blur()")
    await until(service, "rich", lambda frame: black_at(frame, 150, 350, 550) == [False, True, False], MASKED)

"""Tests the icons of sites, which viewers see beside a page's title, and that nobody else notices how they come."""

import base64
import io

import pytest
from PIL import Image

from browser_service.host.scripts import results, script
from shared.frames import View
from tests.page.service.test_screencast import until
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site

pytestmark = pytest.mark.anyio

SEEN = View(icon=True)


def icon(colour: str, more: int = 0) -> Answer:
    """Return an icon, with so many bytes behind it."""
    data = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(data, "PNG")
    return Answer(data.getvalue() + bytes(more), content_type="image/png")


def is_ours(request: Received) -> bool:
    """Say if it is no request for an icon that a whole browser sends by itself."""
    return request.headers.get("Sec-Fetch-Dest") == "empty"


async def test_the_icon_of_a_site_is_loaded_once_made_small_and_heard_of_by_nobody(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/own.png", icon("red"))
    with_icon = site.page("/with", "<link rel='shortcut icon' href=/own.png><link rel=icon href=/too.svg>")
    await agent.call("goto", pageId="seen", url=with_icon)
    await until(service, "seen", lambda frame: frame.picture)
    assert not [each for each in site.received if is_ours(each)], "nobody watches who shows it"
    shown = (await until(service, "seen", lambda frame: frame.icon, SEEN)).icon
    assert shown is not None
    picture = Image.open(io.BytesIO(base64.b64decode(shown)))
    assert (picture.format, picture.size) == ("PNG", (40, 40))
    assert picture.convert("RGB").getpixel((20, 20)) == (255, 0, 0)
    await agent.call("goto", pageId="second", url=site.page("/second", "<p>no link"))
    assert (await until(service, "second", lambda frame: frame.icon, SEEN)).icon == shown
    assert [each.path for each in site.received if is_ours(each)] == ["/own.png"]
    assert (await agent.call("get_network_log", pageId="seen", resourceTypes=["fetch"]))["count"] == 0


async def test_an_icon_that_is_missing_is_asked_for_once_and_no_console_reports_it(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/favicon.ico", lambda received: Answer(status=404 if is_ours(received) else 204))
    site.page("/own.png", icon("blue"))
    without = site.page("/", "<p>Here").replace("127.0.0.1", "without.localhost")
    site.page("/with", "<link rel=icon href=/own.png>")
    for _ in range(2):
        await agent.call("goto", pageId="seen", url=without)
        await until(service, "seen", lambda _: any(map(is_ours, site.received)), SEEN)
        await agent.call("goto", pageId="seen", url=site.url("/with", "with.localhost"))
        await until(service, "seen", lambda frame: frame.icon, SEEN)
    await agent.call("goto", pageId="seen", url=without)
    assert (await until(service, "seen", lambda frame: frame.picture, SEEN)).icon == ""
    assert [each.path for each in site.received if is_ours(each)] == ["/favicon.ico", "/own.png"]
    assert (await agent.call("get_console_messages", pageId="seen", all=True))["messages"] == []


async def test_what_is_no_small_picture_at_its_own_address_is_no_icon(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/large.png", icon("red", 32_768))
    site.page("/moved.png", Answer(status=302, headers={"Location": "/own.png"}))
    site.page("/own.png", icon("red"))
    await agent.call("goto", pageId="seen", url=site.page("/", "<p>Here"))
    tab, loaded = service.entry("seen").tab, results.bounded(script("site_icon"))
    assert tab is not None
    assert results.read(str, await tab.evaluate(loaded, site.url("/own.png")))
    for path in ("/missing.png", "/large.png", "/moved.png", "/"):
        assert results.read(str, await tab.evaluate(loaded, site.url(path))) == "", path

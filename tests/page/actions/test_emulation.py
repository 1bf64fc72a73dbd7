"""Tests another device, place, language or network for one page, as the page and the server see it; no other page
does."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from browser_service.host.tabs.secrecy import shot_without_secrets
from browser_service.host.watching.phone import Fit
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.tab import Tab
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

HTML = "<meta name=viewport content='width=device-width'><h1>x</h1>"
SEES = """({
  size: [innerWidth, innerHeight], pixels: devicePixelRatio, touch: navigator.maxTouchPoints > 0,
  language: navigator.language, locale: Intl.DateTimeFormat().resolvedOptions().locale,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone, dark: matchMedia('(prefers-color-scheme: dark)').matches,
  calm: matchMedia('(prefers-reduced-motion: reduce)').matches, print: matchMedia('print').matches,
  phone: navigator.userAgent.includes('Pixel 7'),
})"""
WHERE = """new Promise(done => navigator.geolocation.getCurrentPosition(
  p => done([p.coords.latitude, p.coords.longitude]), e => done(e.code), {timeout: 1000}))"""

WIDTH_SOON = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(innerWidth))))"


async def test_a_page_sees_what_is_emulated_and_no_other_page_does(tab: Tab, other: Agent, site: Site) -> None:
    url = await tab.show(HTML)
    await other.call("goto", pageId="others", url=url)
    before = await tab.sees(SEES)
    result = await tab.call(
        "emulate", viewport={"width": 400, "height": 300}, locale="de-DE", timezone="Asia/Tokyo", colorScheme="dark",
        reducedMotion="reduce", media="print",
    )  # fmt: skip
    assert result["emulated"]["timezone"] == "Asia/Tokyo"
    await tab.call("reload_page")
    seen = await tab.sees(SEES)
    wanted = {"size": [400, 300], "language": "de-DE", "locale": "de-DE", "zone": "Asia/Tokyo"}
    assert seen == {**before, **wanted, "dark": True, "calm": True, "print": True}
    path = url.removeprefix(site.url(""))
    languages = [each.headers.get("Accept-Language") for each in site.received if each.path == path]
    assert languages[-1] == "de-DE"
    assert languages[0] != "de-DE"
    assert (await other.call("evaluate_script", pageId="others", expression=SEES))["value"] == before
    await tab.call("emulate", reset=True)
    await tab.call("reload_page")
    assert await tab.sees(SEES) == before


async def test_a_device_has_its_size_pixels_touch_and_name(tab: Tab, site: Site) -> None:
    url = await tab.show(HTML)
    before = await tab.sees(SEES)
    await tab.call("emulate", device="Pixel 7")
    await tab.call("reload_page")
    seen = await tab.sees(SEES)
    assert (seen["size"], seen["touch"], seen["phone"]) == ([412, 839], True, True)
    assert seen["pixels"] == pytest.approx(2.625)
    assert "Pixel 7" in next(e for e in reversed(site.received) if url.endswith(e.path)).headers["User-Agent"]
    await tab.call("emulate", reset=True)
    await tab.call("reload_page")
    assert await tab.sees(SEES) == before


class NoCast:
    """A screencast that has no picture, and notes that it is asked for one."""

    def __init__(self, asked: asyncio.Event) -> None:
        self._asked = asked

    async def anew(self) -> None:
        self._asked.set()

    def next_seq(self) -> int:
        return 0


async def widths_beside_pictures(
    service: RunningService, begin: Callable[[], Awaitable[object]], end: Callable[[], Awaitable[object]]
) -> list[list[int]]:
    """Return how wide the page is after each beginning, and after an end that came while a picture of it was made."""
    shown = service.entry("tab").record.tab
    assert shown is not None
    widths = list[list[int]]()
    for _ in range(3):
        await begin()
        before, making = await shown.page.evaluate(WIDTH_SOON), asyncio.Event()

        picture = asyncio.create_task(shot_without_secrets(shown, 500, NoCast(making)))
        await making.wait()
        await asyncio.sleep(0)  # it is asked for by now
        await end()
        await picture
        widths.append([before, await shown.page.evaluate(WIDTH_SOON)])
    return widths


async def test_emulation_survives_a_screenshot(service: RunningService, tab: Tab) -> None:
    await tab.show(HTML)

    async def phone() -> None:
        await tab.call("emulate", reset=True, device="Pixel 7")

    async def small() -> None:
        await tab.call("emulate", reset=True, viewport={"width": 300, "height": 200})

    assert await widths_beside_pictures(service, phone, small) == [[412, 300]] * 3
    await tab.call("emulate", reset=True)


async def test_a_page_gets_its_width_back_after_a_phone_even_with_a_screenshot_meanwhile(
    service: RunningService, tab: Tab
) -> None:
    await tab.show(HTML)
    entry = service.entry("tab")
    shown, fit, width = entry.record.tab, Fit(entry.settings.emulation), await tab.sees("innerWidth")
    assert shown is not None
    assert await widths_beside_pictures(service, lambda: fit.begin(shown, 390, 500), fit.end) == [[390, width]] * 3


async def test_an_impossible_emulation_is_refused_by_field_and_changes_nothing(tab: Tab) -> None:
    await tab.show(HTML)
    before = await tab.sees(SEES)
    error = await tab.error("emulate", device="Pixel 77")
    assert (error["details"]["context"]["field"], "Pixel 7" in error["hint"]) == ("device", True)
    error = await tab.error("emulate", timezone="Nowhere/Town", colorScheme="dark")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "timezone")
    assert await tab.sees(SEES) == before


async def test_a_session_that_was_made_with_a_language_keeps_it(tab: Tab, site: Site) -> None:
    session = (await tab.call("create_session", locale="fr-FR"))["sessionId"]
    await tab.call("goto", pageId="french", sessionId=session, url=site.page("/french", HTML))
    error = await tab.error("emulate", pageId="french", locale="de-DE", colorScheme="dark")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "locale")
    assert "create_session" in error["message"]
    seen = (await tab.call("evaluate_script", pageId="french", expression=SEES))["value"]
    assert (seen["locale"], seen["dark"]) == ("fr-FR", False)


async def test_offline_is_for_the_page_with_its_frames_and_ends(tab: Tab, site: Site) -> None:
    site.page("/frame", "<h1>in</h1>")
    frame = site.url("/frame", "localhost")
    await tab.show(f"<iframe src={frame}></iframe>")
    asks = "fetch('/data').then(() => 'answered', () => 'failed')"
    await tab.call("emulate", offline=True)
    assert await tab.sees("navigator.onLine") is False
    assert await tab.sees(asks) == "failed"
    inside = await tab.call("evaluate_script", expression=asks, frame="iframe")
    assert (inside["value"], site.counts["/data"]) == ("failed", 0)
    assert (await tab.error("reload_page"))["code"] == "NAVIGATION_FAILED"
    await tab.call("emulate", offline=False)
    await tab.call("goto", pageId="tab", url=site.url("/frame"))
    assert await tab.sees(asks) == "answered"


async def test_a_position_is_the_pages_and_its_site_may_ask_for_it(tab: Tab, other: Agent) -> None:
    url = await tab.show(HTML)
    place = {"latitude": 41.9, "longitude": 12.5}
    await other.call("goto", pageId="others", url=url)
    error = await tab.error("emulate", geolocation=place)
    assert (error["code"], error["details"]["context"]["pages"]) == ("AFFECTS_OTHERS", ["others"])
    assert await tab.sees(WHERE) == 1
    await other.call("goto", pageId="others", url="about:blank")
    result = await tab.call("emulate", geolocation=place)
    assert "may ask for the position" in result["observed"]
    assert await tab.sees(WHERE) == [41.9, 12.5]


async def test_emulation_comes_back_with_a_lost_page(service: RunningService, tab: Tab, site: Site) -> None:
    await tab.show(HTML, "/lost")
    await tab.call("emulate", timezone="Asia/Tokyo", viewport={"width": 400, "height": 300})
    await tab.call("mock_response", pattern="/data", body="mocked")
    await tab.call("set_extra_headers", headers={"X-Mine": "1"})
    entry = service.entry("tab")
    lost = entry.record.tab
    assert lost is not None
    entry.tab_life.note_crash(lost)
    seen = await tab.sees(SEES)
    assert entry.record.tab is not lost
    assert (seen["zone"], seen["size"]) == ("Asia/Tokyo", [400, 300])
    assert await tab.sees("fetch('/data').then(r => r.text())") == "mocked"
    await tab.sees("fetch('/other').then(() => 1)")
    assert [each.headers.get("X-Mine") for each in site.received if each.path in {"/lost", "/other"}][-2:] == ["1", "1"]
    await become(lost.page.is_closed)

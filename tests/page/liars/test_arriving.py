"""Tests going to pages that do not end loading, or that lead nowhere."""

import threading

import pytest

from browser_service.actions.support import arrival
from tests.support.service import Agent
from tests.support.site import Answer, Site
from tests.support.tab import Tab

pytestmark = pytest.mark.anyio


@pytest.fixture
def tab(agent: Agent, site: Site) -> Tab:
    return Tab(agent, site)


def _slow_picture(tab: Tab) -> tuple[str, threading.Event]:
    release = threading.Event()
    tab.site.page("/slow.png", Answer(b"", content_type="image/png", hold=release))
    return tab.site.page("/album", "<img src=/slow.png><button onclick='window.hit = 1'>b</button>"), release


async def test_a_page_that_does_not_end_loading_is_used_once_it_can_be(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrival, "LOADING_S", 0.1)
    url, release = _slow_picture(tab)
    result = await tab.call("goto", pageId="tab", url=url)
    assert (result["status"], result["url"], result["navigatedTo"]) == (200, url, url)
    assert result["pending"] == {"count": 1, "urls": [tab.site.url("/slow.png")]}
    assert "the page can be used" in result["observed"]
    assert f"had not reached 'load' (1 request pending: {tab.site.url('/slow.png')})" in result["observed"]
    assert await tab.sees("document.readyState") == "interactive"
    await tab.call("click", selector="button")
    assert await tab.sees("window.hit") == 1
    reloaded = await tab.call("reload_page")
    assert reloaded["pending"]["count"] == 1
    assert not release.is_set()
    release.set()


async def test_a_page_with_nothing_left_to_load_has_loaded(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "LOADING_S", 0)
    result = await tab.call("goto", pageId="tab", url=tab.site.page("/late", "<p>late"))
    assert (result["observed"].startswith("HTTP 200"), "pending" in result) == (True, False), result


async def test_a_timeout_that_ends_before_the_load_of_a_page_that_can_be_used_is_no_failure(tab: Tab) -> None:
    url, release = _slow_picture(tab)
    result = await tab.call("goto", pageId="tab", url=url, timeout=1_000)
    assert result["pending"]["urls"] == [tab.site.url("/slow.png")]
    assert await tab.sees("location.href") == url
    assert not release.is_set()
    release.set()


async def test_a_page_whose_script_keeps_it_from_being_used_is_waited_for(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrival, "LOADING_S", 0.1)
    release = threading.Event()
    tab.site.page("/slow.js", Answer("", content_type="text/javascript", hold=release))
    url = tab.site.page("/app", "<script src=/slow.js></script><p>text")
    error = await tab.error("goto", pageId="tab", url=url, timeout=1_000)
    release.set()
    assert (error["code"], error["message"]) == ("NAVIGATION_FAILED", f"Navigation to {url} timed out")


async def test_goto_to_an_answer_without_content_says_that_it_led_nowhere(tab: Tab) -> None:
    here = await tab.show("here")
    url = tab.site.page("/empty", Answer(status=204))
    error = await tab.error("goto", pageId="tab", url=url)
    assert (error["code"], error["status"]) == ("NAVIGATION_FAILED", 502)
    assert error["message"] == f"Navigation to {url} led nowhere: the server answered 204, no content."
    assert "stays where it was" in error["hint"]
    assert (await tab.sees("location.href"), tab.site.counts["/empty"]) == (here, 1)

"""Tests what resources are made of: a page's state, an element, a picture, and how old an answer may be."""

import base64
import io
import threading

import pytest
from PIL import Image

from tests.support.service import Agent
from tests.support.site import Answer, Site
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

HEAD = """<meta name=Description content="All of the tea"><meta name=keywords content="tea, green tea ,">
<meta property=og:title content="Teas"><meta property=og:image content=/tea.png>"""
BODY = """<button id=buy class="big red" disabled style="position:absolute;left:10px;top:20px;width:90px;height:30px"
>Buy <b>tea</b></button><p hidden>gone</p><iframe srcdoc="<p>inside</p>"></iframe>"""
NO_BOX = {"x": 0, "y": 0, "width": 0, "height": 0}


async def test_a_page_says_where_it_is_how_far_it_has_loaded_and_what_it_is_about(tab: Tab) -> None:
    url = await tab.show(HEAD + BODY)
    assert await tab.call("get_page_state") == {
        "url": url,
        "title": "/page-1",
        "readyState": "complete",
        "loaded": True,
        "frameCount": 2,
        "metadata": {
            "description": "All of the tea",
            "keywords": ["tea", "green tea"],
            "ogTitle": "Teas",
            "ogImage": "/tea.png",
        },
    }
    await tab.show("<p>plain</p>")
    plain = await tab.call("get_page_state")
    assert plain["metadata"] == {"description": "", "keywords": [], "ogTitle": "", "ogImage": ""}
    assert plain["frameCount"] == 1


async def test_an_elements_state_is_reported_truthfully(tab: Tab) -> None:
    await tab.show(HEAD + BODY)
    found = await tab.call("get_element", selector="//button")
    style = found["attributes"].pop("style")
    assert found.pop("html").startswith('<button id="buy"')
    assert style.startswith("position:absolute")
    assert found == {
        "selector": "//button",
        "exists": True,
        "visible": True,
        "enabled": False,
        "boundingBox": {"x": 10, "y": 20, "width": 90, "height": 30},
        "attributes": {"id": "buy", "class": "big red", "disabled": ""},
        "text": "Buy tea",
    }
    hidden = await tab.call("get_element", selector="p")
    assert (hidden["exists"], hidden["visible"], hidden["boundingBox"]) == (True, False, NO_BOX)
    assert await tab.call("get_element", selector="#none") == {
        "selector": "#none",
        "exists": False,
        "visible": False,
        "enabled": False,
        "boundingBox": NO_BOX,
        "attributes": {},
        "text": "",
        "html": "",
    }
    assert (await tab.error("get_element", selector="p[["))["code"] == "INVALID_SELECTOR"


async def test_an_answer_may_be_as_old_as_requested_but_never_of_an_earlier_revision(tab: Tab, site: Site) -> None:
    later = threading.Event()
    site.page("/later", Answer("", hold=later))
    await tab.show("<p id=a>first</p><script>fetch('/later').then(() => a.textContent = 'second')</script>")

    async def text(max_age: int = 60_000) -> str:
        return str((await tab.call("get_element", selector="#a", maxAge=max_age))["text"])

    assert await text() == "first"
    later.set()
    await tab.call("wait_for_selector", selector="text=second")
    assert await text() == "first"
    assert await text(max_age=0) == "second"
    assert await text(max_age=1) == "second"
    await tab.call("evaluate_script", expression="void (a.textContent = 'third')")
    assert await text() == "third"


async def test_a_picture_is_taken_or_found_again(tab: Tab, other: Agent) -> None:
    await tab.show(BODY)
    current = (await tab.call("get_screenshot", maxAge=60_000))["artifact"]
    assert Image.open(io.BytesIO(base64.b64decode(current["data"]))).size == (1280, 720)
    assert (await tab.call("get_screenshot", maxAge=60_000))["artifact"] == current
    taken = (await tab.call("screenshot", selector="button"))["artifact"]
    again = (await tab.call("get_screenshot", screenshotId=taken["artifactId"]))["artifact"]
    assert again == taken
    assert (await tab.error("get_screenshot", screenshotId="art-none"))["status"] == 404
    theirs = await other.error("get_screenshot", pageId="tab", screenshotId=taken["artifactId"])
    assert (theirs["status"], theirs["code"]) == (404, "INVALID_REQUEST")


async def test_a_cached_state_is_refused_to_a_client_that_may_not_read_the_page(tab: Tab, other: Agent) -> None:
    await tab.show(BODY)
    await other.call("get_page_state", pageId="tab", maxAge=60_000)
    await tab.call("share_page", access="private")
    error = await other.error("get_page_state", pageId="tab", maxAge=60_000)
    assert error["code"] == "PAGE_OWNED"

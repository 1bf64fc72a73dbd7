"""Tests a page's console, what its scripts threw, and the frames that it is made of."""

import asyncio

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer, Site
from tests.support.tab import Tab
from tests.support.waiting import found

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


@pytest.fixture(autouse=True)
def icon(site: Site) -> None:
    """Serve the icon that browsers request of every site, because they report a missing one on the console."""
    site.page("/favicon.ico", Answer("", 204))


# --- elements --------------------------------------------------------------------------------------------------------


async def test_elements_are_counted_and_shown_with_refs_that_the_next_click_takes(tab: Tab) -> None:
    await tab.show(
        "<style>body { margin: 0 } button { position: absolute; width: 50px; height: 20px }</style>"
        "<button style='left: 10px; top: 5px' onclick='window.hit = 1'>One</button>"
        "<button style='left: 80px; top: 5px' onclick='window.hit = 2' data-n=2>Two</button>"
        "<button disabled hidden>Three</button>"
        "<div id=card><button style='left: 200px; top: 5px' onclick='window.hit = 4'>Four</button></div>"
    )
    result = await tab.call("find_elements", selector="button")
    assert result["count"] == 4
    one, two, three, four = result["elements"]
    assert {**two, "selector": ""} == {
        "selector": "",
        "tag": "button",
        "text": "Two",
        "visible": True,
        "enabled": True,
        "box": {"x": 80, "y": 5, "width": 50, "height": 20},
    }
    assert (three["visible"], three["enabled"], three["box"]) == (False, False, None)
    for element, hit in ((two, 2), (one, 1), (four, 4)):
        assert ">>" not in element["selector"]
        await tab.call("click", selector=element["selector"])
        assert await tab.sees("window.hit") == hit
    assert (await tab.call("extract_text", selector=three["selector"]))["text"] == "Three"
    card = (await tab.call("find_elements", selector="#card", attributes=True))["elements"][0]
    assert card["attributes"] == {"id": "card"}
    assert (await tab.call("extract_html", selector=card["selector"]))["html"].startswith("<button")
    assert len((await tab.call("find_elements", selector="button", limit=2))["elements"]) == 2
    assert await tab.call("find_elements", selector=".none") == {"elements": [], "count": 0}
    assert (await tab.error("find_elements", selector="p["))["code"] == "INVALID_SELECTOR"


async def test_elements_of_a_frame_have_their_box_in_the_window_and_their_state(tab: Tab) -> None:
    tab.site.page(
        "/inner",
        "<input type=checkbox checked style='margin: 0; position: fixed; top: 0; left: 0'>",
    )
    source = tab.site.url("/inner", "localhost")
    await tab.show(f"<iframe src={source} style='position: fixed; left: 100px; top: 50px; border: 0'></iframe>")
    (box,) = (await tab.call("find_elements", selector="input", frame="iframe"))["elements"]
    assert (box["checked"], box["box"]["x"], box["box"]["y"]) == (True, 100, 50)
    await tab.call("uncheck", selector=box["selector"])
    again = (await tab.call("find_elements", selector=box["selector"]))["elements"][0]
    assert (again["checked"], again["box"]) == (False, box["box"])


# --- the console -----------------------------------------------------------------------------------------------------

TALKS = """<script>
console.log('first', {a: 1}); console.warn('careful'); console.error('bad: ' + 'x'.repeat(5000));
console.debug('detail'); console.table([1]); console.assert(false, 'not so');
function broken() { throw new TypeError('no tea') }
setTimeout(broken);
</script>"""


async def _messages(agent: Agent, least: int, **arguments: object) -> list[dict[str, str]]:
    """Wait for a number of messages, which the browser reports a moment after they were written."""
    listed = await found(
        lambda: agent.call("get_console_messages", **arguments), lambda listed: len(listed["messages"]) >= least
    )
    return [*listed["messages"]]


async def test_console_messages_and_exceptions_are_listed_from_the_start(tab: Tab) -> None:
    url = await tab.show(TALKS)
    found = await _messages(tab.agent, 7)
    assert [(each["type"], each["text"].split(":")[0]) for each in found] == [
        ("log", "first {a"),
        ("warning", "careful"),
        ("error", "bad"),
        ("debug", "detail"),
        ("table", "[1]"),
        ("assert", "not so"),
        ("exception", "TypeError"),
    ]
    assert found[0]["location"].startswith(f"{url}:2:")
    assert found[-1]["text"] == "TypeError: no tea"
    assert "broken" in found[-1]["stack"]
    assert len(found[2]["text"]) == 2_000
    for filters, types in (
        ({"types": ["error"]}, ["error", "assert"]),
        ({"types": ["exception", "warning"]}, ["warning", "exception"]),
        ({"types": ["other"]}, ["table"]),
        ({"text": "TEA"}, ["exception"]),
        ({"limit": 2}, ["assert", "exception"]),
        ({"since": found[4]["number"]}, ["assert", "exception"]),
    ):
        assert [each["type"] for each in await _messages(tab.agent, 0, **filters)] == types, filters
    cut = await tab.call("get_console_messages", budget=100)
    assert (len(cut["messages"]), "cursor" in cut) == (100, True)
    error = await tab.error("get_console_messages", types=["fatal"])
    assert (error["code"], "types.0" in error["message"]) == ("VALIDATION_ERROR", True)


async def test_reading_on_from_the_last_number_returns_only_new_messages(tab: Tab) -> None:
    await tab.show("<script>console.log('one')</script>")
    await _messages(tab.agent, 1)
    last = (await tab.call("get_console_messages"))["last"]
    await tab.sees("(console.log('two'), 1)")
    assert [each["text"] for each in await _messages(tab.agent, 1, since=last)] == ["two"]


async def test_errors_stay_when_a_page_talks_without_end(tab: Tab) -> None:
    await tab.show("<script>console.error('the cause')</script>")
    await _messages(tab.agent, 1)
    await tab.sees("(() => { for (let n = 0; n < 3000; n++) console.log('talk', n); return 1 })()")
    await _messages(tab.agent, 1, text="talk 2999")
    found = await _messages(tab.agent, 100, limit=400)
    assert found[0]["text"] == "the cause"
    assert len(found) <= 401


@pytest.mark.host_here("it counts what the host's process does at once")
async def test_the_values_of_many_messages_are_released_some_at_a_time(tab: Tab) -> None:
    await tab.show("")
    before, most = len(asyncio.all_tasks()), 0

    def is_read(listed: dict[str, AnyJson]) -> bool:
        nonlocal most
        most = max(most, len(asyncio.all_tasks()) - before)
        return bool(listed["messages"])

    await tab.sees("(() => { for (let n = 0; n < 1500; n++) console.log({n}, 'talk ' + n); return 1 })()")
    await found(lambda: tab.call("get_console_messages", text="talk 1499"), is_read)
    assert most < 500


async def test_an_earlier_documents_messages_are_listed_on_request_for_the_holder_of_that_time(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="own", url=site.page("/a", "<script>console.log('the secret of one')</script>"))
    await _messages(agent, 1, pageId="own")
    assert [each["text"] for each in await _messages(other, 0, pageId="own")] == ["the secret of one"]
    await agent.call("goto", pageId="own", url=site.page("/b", "<script>console.log('public')</script>"))
    await _messages(agent, 2, pageId="own", all=True)
    told = await agent.call("get_console_messages", pageId="own")
    assert [each["text"] for each in told["messages"]] == ["public"]
    assert told["earlier"] == '1 more of earlier documents: "all": true'
    both = await agent.call("get_console_messages", pageId="own", all=True)
    assert [(each["text"], each.get("document")) for each in both["messages"]] == [
        ("the secret of one", "earlier"),
        ("public", None),
    ]
    assert "earlier" not in both
    for earlier in (False, True):
        reply = await other.reply("get_console_messages", pageId="own", all=earlier)
        assert ("public" in reply.text, "secret" in reply.text, "earlier" in reply.text) == (True, False, False)
    await agent.call("evaluate_script", pageId="own", expression="history.pushState({}, '', '/elsewhere')")
    await agent.call("evaluate_script", pageId="own", expression="location.hash = 'here'")
    assert [each["text"] for each in await _messages(agent, 0, pageId="own")] == ["public"]  # the same document
    await agent.call("share_page", pageId="own", access="private")
    assert (await other.error("get_console_messages", pageId="own"))["code"] == "PAGE_OWNED"


async def test_a_popup_and_a_page_that_hangs_have_their_console_too(tab: Tab) -> None:
    tab.site.page("/popup", "<script>console.log('popped')</script>")
    await tab.show("<button onclick=\"window.open('/popup')\">Open</button>")
    popup = (await tab.call("click", selector="button", pageId="tab"))["popups"][0]
    assert [each["text"] for each in await _messages(tab.agent, 1, pageId=popup)] == ["popped"]
    await tab.call("goto", pageId="tab", url=tab.site.page("/hang", "<script>console.log('busy')</script>"))
    await _messages(tab.agent, 1, pageId="tab", text="busy")
    error = await tab.error("evaluate_script", pageId="tab", expression="(() => { while (true); })()", timeout=300)
    assert error["code"] == "TIMEOUT"
    assert (await tab.call("get_console_messages", pageId="tab", text="busy"))["count"] == 1
    await tab.call("reload_page", pageId="tab")


async def test_frames_are_listed_with_the_selector_that_reaches_them(tab: Tab) -> None:
    tab.site.page("/leaf", "<p>leaf</p>")
    tab.site.page("/inner", "<p>inner</p><iframe name=leaf src=/leaf></iframe>")
    await tab.show(
        f"<iframe id=ad title=Ad src={tab.site.url('/inner', 'localhost')}></iframe><iframe src=/leaf hidden></iframe>"
        "<div id=host></div><script>"
        "host.attachShadow({mode: 'open'}).innerHTML = '<iframe src=/leaf></iframe>'</script>"
    )
    await tab.call("wait_for_load")
    frames = (await tab.call("list_frames"))["frames"]
    assert [
        (each["url"].rpartition("/")[2], each.get("name"), each.get("title"), each["visible"]) for each in frames
    ] == [
        ("inner", "ad", "Ad", True) if frames[0].get("name") == "ad" else ("inner", None, "Ad", True),
        ("leaf", "leaf", None, True),
        ("leaf", None, None, False),
        ("leaf", None, None, True),
    ]
    texts = [(await tab.call("extract_text", selector="p", frame=each["frame"]))["text"] for each in frames]
    assert texts == ["inner", "leaf", "leaf", "leaf"]
    await tab.show("<p>none</p>")
    assert (await tab.call("list_frames"))["frames"] == []

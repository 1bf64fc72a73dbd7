"""Tests what the page itself has not and one of its frames has: named by readings, and by acts that miss it."""

import anyio
import pytest

from browser_service.host.elements import frames
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

PAY = """<body><button onclick="this.textContent = 'Paid'">Pay</button><a href=/terms>Terms</a><b class=sum>12</b>
<input id=card><img src=/seal.png alt=Seal>"""
AT_ONCE_S = 15
"""Time limit of a test on a busy machine; the calls may take twice as long."""
PATIENT_MS = 30_000


async def _shop(tab: Tab, more: str = "") -> None:
    tab.site.page("/pay", PAY)
    tab.site.page("/outer", f"<iframe name=inner src={tab.site.url('/pay', 'localhost')}></iframe>")
    await tab.show(f"<iframe id=till src={tab.site.url('/pay', 'localhost')}></iframe>{more}")
    await tab.call("wait_for_load")


async def test_an_element_in_a_frame_is_reported_at_once(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_LATE_ELEMENT_MS", 100)
    await _shop(tab)
    for action, selector, arguments in (
        ("click", "text=Pay", {}),
        ("fill", "#card", {"value": "4111"}),
        ("press", "#card", {"key": "Tab"}),
        ("extract_text", ".sum", {}),
        ("content", ".sum", {"format": "text"}),
        ("snapshot", ".sum", {}),
    ):
        with anyio.fail_after(AT_ONCE_S):
            error = await tab.error(action, selector=selector, timeout=PATIENT_MS, **arguments)
        assert error["code"] == "ELEMENT_NOT_FOUND"
        assert error["message"] == (
            f"Element matching selector '{selector}' is not on the page itself, but in frame '#till' (1)."
        )
        assert error["hint"] == 'Repeat it with "frame": "#till".'
        assert error["details"]["context"]["frames"] == [{"frame": "#till", "count": 1}]
        await tab.call(action, selector=selector, frame="#till", **arguments)


async def test_a_form_names_the_frame_of_its_field(tab: Tab) -> None:
    await _shop(tab)
    with anyio.fail_after(AT_ONCE_S):
        error = await tab.error("fill_form", fields=[{"selector": "#card", "value": "4"}], timeout=PATIENT_MS)
    assert error["message"].startswith("fields.0: Element matching selector '#card' is not on the page itself, but")
    assert '"frame": "#till"' in error["hint"]


async def test_readings_that_find_nothing_on_the_page_name_the_frames_that_have_it(tab: Tab) -> None:
    await _shop(tab)
    there = 'frame \'#till\' (1): repeat it with "frame": "#till"'
    assert await tab.call("find_elements", selector=".sum") == {"elements": [], "count": 0, "inFrames": there}
    found = await tab.call("find", selector=".sum")
    assert (found["total"], found["found"], found["inFrames"]) == (0, "nothing matches on the page itself", there)
    assert (await tab.call("find", selector=".sum", frame="#till"))["total"] == 1
    for action, arguments in (
        ("extract_links", {}),
        ("extract_images", {}),
        ("extract_data", {"schema": {"sum": ".sum"}}),
        ("content", {"format": "text"}),
        ("content", {"format": "markdown"}),
    ):
        assert (await tab.call(action, **arguments))["inFrames"] == there, action
        assert "inFrames" not in await tab.call(action, frame="#till", **arguments)
    schema = {"sum": {"selector": ".sum", "required": True}}
    assert there in (await tab.error("extract_data", schema=schema, timeout=300))["hint"]
    assert "inFrames" not in await tab.call("find_elements", selector=".nowhere")


async def test_a_frame_in_a_frame_is_named_from_the_page_on(tab: Tab) -> None:
    tab.site.page("/pay", PAY)
    tab.site.page("/outer", f"<iframe name=inner src={tab.site.url('/pay', 'localhost')}></iframe>")
    await tab.show(f"<iframe hidden></iframe><iframe src={tab.site.url('/outer', 'localhost')}></iframe>")
    await tab.call("wait_for_load")
    (frame,) = (await tab.error("click", selector="text=Pay"))["details"]["context"]["frames"]
    await tab.call("click", selector="text=Pay", frame=frame["frame"])
    assert (await tab.call("extract_text", selector="button", frame=frame["frame"]))["text"] == "Paid"


async def test_a_frame_that_is_not_there_is_named_as_the_frame(tab: Tab) -> None:
    await _shop(tab, "")
    error = await tab.error("click", selector="text=Pay", frame="inner", timeout=500)
    assert (error["code"], "'inner'" in error["message"]) == ("ELEMENT_NOT_FOUND", True)
    assert "That is `frame`" in error["hint"]


async def test_an_element_that_the_page_makes_a_moment_later_is_waited_for(tab: Tab) -> None:
    await _shop(
        tab,
        "<script>onload = () => setTimeout(() => document.body.insertAdjacentHTML('beforeend', "
        "'<button onclick=\"window.hit = 1\">Pay</button>'), 300)</script>",
    )
    await tab.call("click", selector="text=Pay")
    assert await tab.sees("window.hit") == 1


async def test_a_hidden_frame_ends_no_wait_and_is_named_at_its_end(tab: Tab) -> None:
    tab.site.page("/pay", PAY)
    await tab.show("<iframe id=till src=/pay hidden></iframe>")
    await tab.call("wait_for_load")
    for action, timeout in (("click", 900), ("wait_for_selector", 1_000)):
        error = await tab.error(action, selector="text=Pay", timeout=timeout)
        assert error["message"] == f"Element matching selector 'text=Pay' not found after {timeout}ms"
        assert error["hint"] == 'It is in frame \'#till\' (1): repeat it with "frame": "#till".'
        assert error["details"]["context"]["frames"] == [{"frame": "#till", "count": 1}]


async def test_a_snapshot_has_the_names_of_frames_also_within_frames(tab: Tab) -> None:
    tab.site.page("/pay", PAY)
    tab.site.page("/outer", f"<iframe aria-label='Card number' src={tab.site.url('/pay', 'localhost')}></iframe>")
    await tab.show(
        f"<iframe title=Payment src={tab.site.url('/outer', 'localhost')}></iframe><iframe srcdoc=x></iframe>"
    )
    await tab.call("wait_for_load")
    tree = (await tab.call("snapshot"))["snapshot"]
    payment, card, other = [line.strip() for line in tree.splitlines() if "iframe" in line]
    assert payment.startswith('- iframe "Payment" [ref=')
    assert card.startswith('- iframe "Card number" [ref=')
    assert other.startswith("- iframe [ref=")
    ref = payment.split("ref=")[1].split("]")[0]
    assert "observed" in await tab.call("hover", selector=ref)

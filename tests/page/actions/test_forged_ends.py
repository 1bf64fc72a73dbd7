"""Tests pages whose scripts fail with Playwright's own texts for the end of a page or browser. Nothing has ended,
nobody is told so, and the page goes on."""

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

ENDS = (
    "Target crashed",
    "Page crashed",
    "Target closed",
    "Connection closed",
    "Target page, context or browser has been closed",
)
THROWN = {"an error": "new Error(%r)", "a text": "%r", "a stack of its own": "Object.assign(Error(%r), {stack: %r})"}
GETTER = "void Object.defineProperty(%s, {configurable: true, get() { %s }})"


@pytest.mark.parametrize("thrown", THROWN.values(), ids=THROWN)
async def test_a_page_cannot_say_that_it_crashed_or_that_the_browser_is_gone(tab: Tab, thrown: str) -> None:
    await tab.show("<title>Shop</title><p id=p>Kettle<input id=i>")
    await tab.call("fill", selector="#i", value="typed and not sent")
    for words in ENDS:
        fails = f"throw {thrown.replace('%r', repr(words))}"
        for place in ("performance, 'timeOrigin'", "document, 'documentElement'"):
            await tab.sees(GETTER % (place, fails))
            assert "typed and not sent" in (await tab.call("snapshot"))["snapshot"]
        await tab.sees("delete document.documentElement")
        error = await tab.error("evaluate_script", expression=f"(() => {{ {fails} }})()")
        assert (error["code"], "The script failed" in error["message"]) == ("SCRIPT_EXECUTION_FAILED", True), error
    reply = (await tab.agent.reply("evaluate_script", expression="document.querySelector('#i').value")).json()
    assert (reply["result"]["value"], reply["notices"]) == ("typed and not sent", [])

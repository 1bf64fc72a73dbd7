"""Tests calls that no careful caller makes, on a page that exists: each ends in a result or a typed error."""

from random import Random

import pytest

from browse_together.contract import wire
from browse_together.contract.catalogue import ACTIONS
from tests.support import odd
from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window, pytest.mark.long]

PAGE = "<p id=p>x</p><input id=i><button>b</button><select><option>a</select><a href=#x>l</a><table><tr><td>1</table>"
CALLED = [name for name in ACTIONS if name not in odd.NOT_CALLED | {"close_page", "wait_for_navigation"}]


async def test_no_call_on_a_page_causes_an_internal_error(tab: Tab) -> None:
    random = Random(1)  # noqa: S311 - the same calls in each run
    for number, name in enumerate(CALLED):
        if number % 20 == 0:
            await tab.agent.reply("handle_dialog", pageId="tab", accept=True)
            await tab.show(PAGE)
        reply = await tab.agent.http.post(f"{wire.BROWSER}/tab", json=odd.body(ACTIONS[name], random))
        body = reply.json()
        assert body["success"] or body["error"]["code"] != "INTERNAL_ERROR", (name, body)


LIAR = """<title>t</title><input id=i value=x><div id=d draggable=true>drag</div><div id=e>here</div>
<form><input id=f></form>
<input id=u type=file><select id=s><option>a</select><iframe srcdoc=x></iframe><script>
const big = 'x'.repeat(5e6);
Array.prototype.map = Array.prototype.find = () => 5;
Object.entries = Object.fromEntries = () => 'odd';
String.prototype.replace = String.prototype.trim = () => { throw {message: big} };
String.prototype.slice = () => big;
Math.round = () => NaN;
Element.prototype.getBoundingClientRect = () => ({x: 'no'});
Object.defineProperty(document, 'title', {get: () => ({toString: 7})});
</script>"""
ON_LIAR: list[tuple[str, AnyJson]] = [
    *((name, {}) for name in ("snapshot", "content", "scroll", "list_frames", "get_page_state", "extract_links")),
    *((name, {"selector": "#i"}) for name in ("find", "find_elements", "get_element", "focus", "blur", "highlight")),
    ("content", {"format": "text"}),
    ("highlight", {}),
    ("fill", {"selector": "#i", "value": "new"}),
    ("type", {"selector": "#i", "text": "new"}),
    ("paste", {"selector": "#i", "text": "new"}),
    ("press", {"selector": "#i", "key": "Enter"}),
    ("select_option", {"selector": "#s", "value": "a"}),
    ("fill_form", {"fields": [{"selector": "#i", "value": "n"}, {"selector": "#f", "value": "m"}]}),
    ("upload_file", {"selector": "#u", "files": [{"name": "a.txt", "text": "a"}]}),
    ("drag_and_drop", {"source": "#d", "target": "#e"}),
    ("mouse", {"do": "click", "x": 20, "y": 20}),
    ("click", {"selector": "#missing"}),
    ("extract_table", {"selector": "body", "format": "csv"}),
    ("extract_data", {"schema": {"a": "#d"}, "format": "csv"}),
    ("get_storage", {"kind": "local"}),
]


async def test_no_page_that_replaces_builtins_causes_an_internal_error(tab: Tab) -> None:
    await tab.show(LIAR)
    for name, arguments in ON_LIAR:
        body = {"action": name, "timeout": 500, **arguments}
        reply = await tab.agent.http.post(f"{wire.BROWSER}/tab", json=body)
        said = reply.json()
        assert said["success"] or said["error"]["code"] not in {"INTERNAL_ERROR", "VALIDATION_ERROR"}, (name, said)
        assert len(reply.content) < 200_000, name

"""Tests calls that no careful caller makes, on a page that exists: each ends in a result or a typed error."""

from random import Random

import pytest

from shared import wire
from shared.catalogue import ACTIONS
from tests.support import odd
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

PAGE = "<p id=p>x</p><input id=i><button>b</button><select><option>a</select><a href=#x>l</a><table><tr><td>1</table>"
CALLED = [name for name in ACTIONS if name not in odd.NOT_CALLED | {"close_page", "wait_for_navigation"}]


async def test_no_call_on_a_page_is_a_defect_of_the_service(tab: Tab) -> None:
    random = Random(1)  # noqa: S311 - the same calls in each run
    for number, name in enumerate(CALLED):
        if number % 20 == 0:
            await tab.agent.reply("handle_dialog", pageId="tab", accept=True)
            await tab.show(PAGE)
        reply = await tab.agent.http.post(f"{wire.BROWSER}/tab", json=odd.body(ACTIONS[name], random))
        body = reply.json()
        assert body["success"] or body["error"]["code"] != "INTERNAL_ERROR", (name, body)

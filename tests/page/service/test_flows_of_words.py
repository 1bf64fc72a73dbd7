"""Tests that flows keep what a page said once something was sent, and only what it will say again."""

import tomllib
from itertools import count

import pytest

from browser_service.flows import running
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

NAMES = (f"invoice-{number}" for number in count(1))
FORM = """<h1>Invoices</h1><form method=post action=/invoices><label>Customer <input name=who></label>
<label>Pay <select name=pay><option value=a>in advance</option><option value=l>later on</option></select></label>
<button>Send</button></form><a href=/invoices/list>List</a>"""


def sent(site: Site, said: str) -> None:
    site.routes["/invoices"] = Answer(status=303, headers={"location": "/invoices/7"})
    site.page("/invoices/7", f"<nav><a href=/>Invoices and what was sent</a></nav>{said}<p>Thanks</p>")


async def taught(agent: Agent, site: Site) -> str:
    """Send an invoice by hand, and save it."""
    name = next(NAMES)
    site.page("/new", FORM)
    page_id = (await agent.reply("open_page", url=site.url("/new"))).json()["page"]["pageId"]
    await agent.call("fill", selector="[name=who]", value="Ana Lopez", pageId=page_id)
    await agent.call("select_option", selector="[name=pay]", value="l", pageId=page_id)
    await agent.call("click", selector="role=button", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    return name


async def last_step(agent: Agent, name: str) -> AnyJson:
    return tomllib.loads((await agent.call("list_flows", name=name))["flows"])["steps"][-1]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<h1>Invoice 7 sent</h1>", ["Invoice * sent"]),
        ("<h1>Invoices</h1><p role=status>Sent to <b>Ana</b></p>", ["Sent to *"]),
        (
            "<h1>Invoices</h1><p role=status>Sent to LOPEZ's office, to be paid later</p>",
            ["Sent to *'s office, to be paid *"],
        ),
        ("<h1>1 entry since 3 May</h1>", ["* entr* since * *"]),
        ("<h1>Ana Lopez</h1>", []),
        ("<h1>Invoices</h1>", []),
        ("<h1><img alt='Invoice house' src=x></h1>", []),
        ("<div role=dialog>May we keep cookies?</div>", []),
        (f"<h1>{'Long words ' * 12}</h1>", []),
    ],
)
async def test_what_came_once_something_was_sent_is_kept_as_far_as_it_will_come_again(
    agent: Agent, site: Site, said: str, kept: list[str]
) -> None:
    sent(site, said)
    step = await last_step(agent, await taught(agent, site))
    assert (step["expect"].get("shows", []), step["expect"]["url"]) == (kept, site.url("/invoices/*"))


async def test_of_a_page_to_which_a_link_led_nothing_is_kept_but_its_address(agent: Agent, site: Site) -> None:
    name = next(NAMES)
    site.page("/new", FORM)
    site.page("/invoices/list", "<h1>All invoices</h1><p role=status>Nothing is due</p>")
    page_id = (await agent.reply("open_page", url=site.url("/new"))).json()["page"]["pageId"]
    await agent.call("click", selector="role=link", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    assert (await last_step(agent, name))["expect"] == {"url": site.url("/invoices/list")}


async def test_a_flow_stops_where_the_page_says_something_else(
    agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(site, "<h1>Invoice 7 sent</h1>")
    name = await taught(agent, site)
    values = {"customer": "Bo", "pay": "a"}
    sent(site, "<main><h1>Invoice <b>18</b> was <i>sent</i></h1></main>")
    await agent.call("run_flow", name=name, values=values)
    monkeypatch.setattr(running, "_SHOWS_MS", 500)
    sent(site, "<h1>Invoice 19 is late</h1>")
    error = await agent.error("run_flow", name=name, values=values)
    assert "the page does not show 'Invoice * sent'" in error["message"]

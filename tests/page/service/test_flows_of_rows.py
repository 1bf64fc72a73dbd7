"""Tests that a flow acts in the row in which it was taught, or not at all."""

from itertools import count

import pytest

from browser_service.flows import running
from tests.support.service import Agent
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

NAMES = (f"row-{number}" for number in count(1))


def requests_of(*people: str) -> str:
    """Return a page that lists people's requests, each with the same buttons."""
    act = "fetch('/approve', {{method: 'POST', body: '{0}'}})"
    row = f'<tr><td>{{0}}<td>Leave<td><button onclick="{act}">Approve</button>'
    rows = "".join(row.format(who) for who in people)
    return f"<h1>Requests</h1><table><tr><th>Who<th>What<th>{rows}</table>"


def leaves_of(*asked: tuple[str, str]) -> str:
    """Return a page that lists who asks for which leave."""
    act = "fetch('/approve', {{method: 'POST', body: '{0} {1}'}})"
    row = f'<li><b>{{0}}</b> <i>{{1}}</i> <button onclick="{act}">Approve</button></li>'
    return f"<h1>Leave</h1><ul>{''.join(row.format(who, what) for who, what in asked)}</ul>"


def approved(site: Site) -> list[str]:
    return [each.body.decode() for each in site.received if each.method == "POST"]


@pytest.mark.parametrize(
    "selector",
    [
        "role=row >> nth=2 >> role=button",
        "role=button[name='Approve'] >> nth=1",
        "//tr[3]//button",
    ],
)
async def test_a_flow_that_was_taught_by_a_place_acts_in_that_row(
    agent: Agent, site: Site, selector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_FIRST_MS", 2_000)
    name = next(NAMES)
    site.routes["/approve"] = Answer("{}")
    site.page("/requests", requests_of("Ana", "Ben"))
    page_id = (await agent.reply("open_page", url=site.url("/requests"))).json()["page"]["pageId"]
    await agent.call("click", selector=selector, pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    site.page("/requests", requests_of("Cyd", "Ana", "Ben", "Dan"))
    await agent.call("run_flow", name=name)
    site.page("/requests", requests_of("Eve", "Ana", "Cyd"))
    error = await agent.error("run_flow", name=name)
    assert (error["code"], error["details"]["context"]["step"]) == ("FLOW_STOPPED", 2)
    assert approved(site) == ["Ben", "Ben"]


async def test_a_word_that_another_row_has_by_then_does_not_make_it_the_row_that_was_meant(
    agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_FIRST_MS", 2_000)
    name = next(NAMES)
    site.routes["/approve"] = Answer("{}")
    site.page("/leaves", leaves_of(("Ben", "Summer"), ("Ben", "Parental")))
    page_id = (await agent.reply("open_page", url=site.url("/leaves"))).json()["page"]["pageId"]
    await agent.call("click", selector="role=button[name='Approve'] >> nth=1", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    site.page("/leaves", leaves_of(("Ana", "Parental"), ("Ben", "Parental"), ("Ben", "Summer")))
    await agent.call("run_flow", name=name)
    site.page("/leaves", leaves_of(("Ana", "Parental"), ("Ben", "Summer")))
    assert (await agent.error("run_flow", name=name))["code"] == "FLOW_STOPPED"
    assert approved(site) == ["Ben Parental", "Ben Parental"]


async def test_a_place_counts_where_nothing_else_tells_an_element_apart(agent: Agent, site: Site) -> None:
    name = next(NAMES)
    site.routes["/more"] = Answer("{}")
    buttons = "".join(
        f"<p><button onclick=\"fetch('/more', {{method: 'POST', body: '{each}'}})\">More</button>" for each in "abc"
    )
    site.page("/cards", buttons)
    page_id = (await agent.reply("open_page", url=site.url("/cards"))).json()["page"]["pageId"]
    await agent.call("click", selector="role=button[name='More'] >> nth=1", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    await agent.call("run_flow", name=name)
    assert approved(site) == ["b", "b"]


async def test_a_flow_that_was_taught_with_a_download_is_not_done_without_one(agent: Agent, site: Site) -> None:
    name = next(NAMES)
    site.page("/export", "<a href=/rows-7.csv download>Export</a>")
    site.routes["/rows-7.csv"] = Answer("a,b", headers={"content-type": "text/csv"})
    page_id = (await agent.reply("open_page", url=site.url("/export"))).json()["page"]["pageId"]
    await agent.call("click", selector="role=link[name='Export']", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    assert 'files = ["rows-*.csv"]' in (await agent.call("list_flows", name=name))["flows"]
    assert "is done" in (await agent.call("run_flow", name=name))["observed"]
    site.routes["/rows-7.csv"] = Answer("gone", status=404)
    error = await agent.error("run_flow", name=name)
    assert (error["code"], error["details"]["context"]["step"]) == ("FLOW_STOPPED", 2)
    assert "it downloaded no file of 'rows-*.csv'" in error["message"]

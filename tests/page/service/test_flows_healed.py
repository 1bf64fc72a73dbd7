"""Tests what a flow does where a label was renamed, and what other clients may do with it."""

from itertools import count

import pytest

from browser_service.flows import running
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

NAMES = (f"healed-{number}" for number in count(1))
ROW = "<tr><td>{0}<td><button onclick=\"fetch('/done', {{method: 'POST', body: '{0} {1}'}})\">{1}</button>"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run wait less for what does not come."""
    monkeypatch.setattr(running, "_FIRST_MS", 1_000)


def buttons(*names: str) -> str:
    act = "<button onclick=\"fetch('/done', {{method: 'POST', body: '{0}'}})\">{0}</button>"
    return f"<h1>Note</h1><a href=#>Back</a>{''.join(map(act.format, names))}"


def rows(*people: str, name: str = "Approve") -> str:
    return f"<h1>Requests</h1><table>{''.join(ROW.format(who, name) for who in people)}</table>"


async def taught(agent: Agent, site: Site, page: str, selector: str) -> str:
    name = next(NAMES)
    site.routes["/done"] = Answer("{}")
    site.page("/note", page)
    page_id = (await agent.reply("open_page", url=site.url("/note"))).json()["page"]["pageId"]
    await agent.call("click", selector=selector, pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    return name


def done(site: Site) -> list[str]:
    return [each.body.decode() for each in site.received if each.method == "POST"]


async def test_a_renamed_element_is_taken_in_its_place_only_if_the_run_may_and_is_named(
    agent: Agent, site: Site
) -> None:
    name = await taught(agent, site, buttons("Save", "Delete"), "role=button[name=Save]")
    site.page("/note", buttons("Keep it", "Delete"))
    assert (await agent.error("run_flow", name=name))["code"] == "FLOW_STOPPED"
    healed = await agent.call("run_flow", name=name, heal=True)
    assert healed["observed"].endswith("healed: step 2 took button 'Keep it' in the place of 'Save'")
    assert done(site) == ["Save", "Keep it"]


async def test_what_moved_up_into_the_place_of_another_is_not_taken_for_it(agent: Agent, site: Site) -> None:
    name = await taught(agent, site, buttons("Save", "Delete"), "role=button[name=Save]")
    for page in (buttons("Delete"), buttons("Delete", "Print", "Send"), buttons("Delete").replace("button", "summary")):
        site.page("/note", page)
        assert (await agent.error("run_flow", name=name, heal=True))["code"] == "FLOW_STOPPED"
    assert done(site) == ["Save"]


async def test_a_place_in_a_row_is_never_taken_for_another_row(agent: Agent, site: Site) -> None:
    name = await taught(agent, site, rows("Ana", "Ben"), "role=row[name=Ben] >> role=button")
    for page in (rows("Ana", "Cyd"), rows("Ana", "Cyd", name="Accept")):
        site.page("/note", page)
        assert (await agent.error("run_flow", name=name, heal=True))["code"] == "FLOW_STOPPED"
    assert done(site) == ["Ben Approve"]


async def test_who_mends_the_flow_of_another_is_told_how_its_person_does(
    agent: Agent, other: Agent, site: Site
) -> None:
    name = await taught(agent, site, buttons("Save"), "role=button[name=Save]")
    site.page("/note", buttons("Keep it"))
    error = await other.error("run_flow", name=name)
    ref = error["details"]["context"]["candidates"][0]["ref"]
    told = (await other.call("mend_flow", name=name, selector=ref))["observed"]
    assert "the file is not mended" in told
    assert told.endswith(
        f'The account\'s person may put role=button[name="Keep it"] there: browse-together flow edit {name}'
    )


async def test_a_list_has_the_flows_that_the_token_allows(agent: Agent, site: Site, service: RunningService) -> None:
    name = await taught(agent, site, buttons("Save"), "role=button[name=Save]")
    for limits in ({"origins": ["https://shop.example"]}, {"readOnly": True}):
        async with service.agent(limits=limits) as narrow:
            told = await narrow.call("list_flows")
            assert name not in str(told)
            assert "beyond what your token allows" in told["flows"]
            assert (await narrow.error("list_flows", name=name))["code"] == "FORBIDDEN"
    async with service.agent(limits={"origins": [site.url("").rstrip("/")]}) as narrow:
        assert name in (await narrow.call("list_flows"))["flows"]
        assert "Save" in (await narrow.call("list_flows", name=name))["flows"]

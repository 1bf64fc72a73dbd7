"""Tests that what a host told of a page, before another host opens it, is believed only where a caller's words would
be."""

from uuid import uuid4

import pytest

from browse_together.contract.pages import SessionSpec
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


async def given_up(service: RunningService, agent: Agent, site: Site) -> SessionSpec:
    """Return the spec of a session with a page `p…`, which no host has any more."""
    session_id = f"s{uuid4().hex[:8]}"
    await agent.call("create_session", sessionId=session_id)
    await agent.call("goto", pageId=f"p{session_id}", sessionId=session_id, url=site.page("/told", "told"))
    return await closed(service, session_id)


async def closed(service: RunningService, session_id: str) -> SessionSpec:
    """Close a session on the host, and return what it is opened by."""
    spec = await service.host.close(session_id)
    assert spec is not None
    await service.host.settle(session_id)
    return spec


async def opened(service: RunningService, spec: SessionSpec) -> str:
    """Open a session on the host, and return the name of its page."""
    await service.host.open(spec)
    await service.parts.feeds.drain()
    return spec.pages[0].page_id


@pytest.mark.parametrize("url", ["chrome://version", "devtools://devtools/bundled/inspector.html", "file:///etc/hosts"])
async def test_an_address_that_no_caller_may_open_is_not_opened_because_a_host_told_it(
    service: RunningService, agent: Agent, site: Site, url: str
) -> None:
    spec = await given_up(service, agent, site)
    page_id = await opened(service, spec.model_copy(update={"pages": [spec.pages[0].model_copy(update={"url": url})]}))
    error = await agent.error("evaluate_script", pageId=page_id, expression="location.href")
    assert (error["code"], "may not be opened" in error["message"]) == ("BROWSER_CRASHED", True)
    again = await agent.call("goto", pageId=page_id, url=site.page("/again", "again"))
    assert again["status"] == 200


async def test_a_page_comes_back_whatever_a_host_told_of_what_it_had(
    service: RunningService, agent: Agent, site: Site
) -> None:
    spec = await given_up(service, agent, site)
    told: list[AnyJson] = [
        {"page": 1},
        {"storage": [1]},
        {"settings": {}},
        {"dialogs": ["a"]},
        {"history": "x"},
        {"settings": {"rules": [], "headers": {}, "init_scripts": {}, "emulation": {"device": {"name": "none"}}}},
        {
            "settings": {
                "rules": [{"patterns": ["/(/"], "answer": None, "method": None, "types": [], "route_id": "r"}],
                "headers": {},
                "init_scripts": {},
                "emulation": {},
            }
        },
    ]
    for changes in told:
        former = {page_id: {**known, **changes} for page_id, known in spec.former.items()}
        page_id = await opened(service, spec.model_copy(update={"former": former}))
        shown = await agent.call("evaluate_script", pageId=page_id, expression="location.pathname")
        assert shown["value"] == "/told", changes
        await closed(service, spec.session_id)


async def test_a_history_that_a_host_told_has_addresses_of_sites_alone(
    service: RunningService, agent: Agent, site: Site
) -> None:
    spec = await given_up(service, agent, site)
    history = ["chrome://version", site.page("/before", "before"), "file:///etc/hosts"]
    former = {page_id: {**known, "history": history} for page_id, known in spec.former.items()}
    page_id = await opened(service, spec.model_copy(update={"former": former}))
    assert (await agent.call("evaluate_script", pageId=page_id, expression="history.length"))["value"] == 3  # and blank
    await agent.call("go_back", pageId=page_id)
    assert (await agent.call("evaluate_script", pageId=page_id, expression="location.pathname"))["value"] == "/before"

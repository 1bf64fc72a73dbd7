"""Tests the owner's rules on what pages send by themselves, whoever in the browser sends it."""

from collections.abc import AsyncIterator

import pytest

from tests.support.service import Agent, RunningService, running_service, settings_for, visiting
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

RULES = """
[[rule]]
name = "nothing is sent"
decision = "refuse"
methods = ["POST"]

[[rule]]
name = "not to the bank"
methods = ["PUT"]
origins = ["http://bank.localhost:*"]
"""


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    folder = tmp_path_factory.mktemp("request-rules")
    (folder / "policy.toml").write_text(RULES, encoding="utf-8")
    async with running_service(settings_for(folder)) as running:
        yield running


@pytest.fixture
async def agent(service: RunningService) -> AsyncIterator[Agent]:
    async with visiting(service) as agent:
        yield agent


async def test_requests_that_a_page_sends_by_itself_are_left_to_a_person(
    service: RunningService, agent: Agent, site: Site
) -> None:
    script = "setTimeout(() => fetch('/saved', {method: 'POST', headers: {'x-save': '1'}}))"
    frame = site.page("/frame", "<button id=inner onclick=\"fetch('/saved', {method: 'POST'})\">In</button>")
    site.page("/form", f'<button id=save onclick="{script}">Save</button><iframe src="{frame}"></iframe>')
    await agent.call("goto", pageId="p", url=site.url("/form"))
    reply = (await agent.reply("click", pageId="p", selector="#save")).json()
    said = [notice["text"] for notice in reply["notices"]]
    assert any('/saved was not sent: the rule "nothing is sent" leaves that to a person' in text for text in said), (
        reply
    )
    assert "failed" in reply["result"]["observed"]
    await agent.call("click", pageId="p", selector="#inner", frame="iframe")
    assert "/saved" not in site.counts
    async with service.agent(operator=True) as person:
        await person.call("goto", pageId="own", url=site.url("/form"))
        await person.call("click", pageId="own", selector="#save")
    assert site.counts["/saved"] == 1


WORKER = """onactivate = event => event.waitUntil(clients.claim());
onfetch = event => { if (event.request.method === 'POST') event.respondWith(fetch(event.request)); };
onmessage = async () => {
    for (;;) {
        await fetch('/saved', {method: 'POST'}).catch(() => 0);
        await fetch('/beat').catch(() => 0);
    }
};"""
SENDS_BY_WORKER = """async () => {
    await navigator.serviceWorker.register('/worker.js');
    if (!navigator.serviceWorker.controller)
        await new Promise(resolve => { navigator.serviceWorker.oncontrollerchange = resolve; });
    const said = await fetch('/saved', {method: 'POST'}).then(() => 'sent', () => 'failed');
    navigator.serviceWorker.controller.postMessage('on');
    return said;
}"""


async def test_a_service_workers_requests_need_a_person_too_even_after_its_page_closed(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/worker.js", Answer(WORKER, content_type="text/javascript"))
    await agent.call("goto", pageId="w", url=site.page("/other", "<p>works"))
    assert (await agent.call("evaluate_script", pageId="w", expression=SENDS_BY_WORKER))["value"] == "failed"
    await agent.call("close_page", pageId="w")
    before = site.counts["/beat"]
    await become(lambda: site.counts["/beat"] > before + 3)
    assert "/saved" not in site.counts
    async with service.agent(operator=True) as person:
        await person.call("goto", pageId="own", url=site.url("/other"))
        await person.call("evaluate_script", pageId="own", expression="fetch('/saved', {method: 'POST'})")
    assert "/saved" in site.counts


async def test_no_redirect_and_no_popup_sends_what_a_rule_keeps_a_page_from_sending(
    service: RunningService, agent: Agent, site: Site
) -> None:
    bank = site.url("/transfer", "bank.localhost")
    site.page("/to", Answer("", 307, headers={"Location": bank, "Access-Control-Allow-Origin": "*"}))
    site.page(
        "/transfer", Answer("", headers={"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "PUT"})
    )
    put = "fetch('/to', {method: 'PUT', mode: 'cors'}).catch(() => 0)"
    form = f'<form target=_blank method=post action="{site.url("/saved")}"><button id=form>Go</button></form>'
    inner = site.page("/frame", f'<button id=inner onclick="{put}">In</button>')
    frame = f'<iframe src="{inner}"></iframe>'
    url = site.page("/page", f'<button id=put onclick="{put}">Go</button>{form}{frame}')
    await agent.call("goto", pageId="p", url=url)
    for arguments in ({"selector": "#put"}, {"selector": "#inner", "frame": "iframe"}, {"selector": "#form"}):
        await agent.call("click", pageId="p", **arguments)
    assert (site.counts["/to"], arrived(site), site.counts["/saved"]) == (2, [], 0)
    async with service.agent(operator=True) as person:
        await person.call("goto", pageId="own", url=url)
        await person.call("click", pageId="own", selector="#inner", frame="iframe")
    await become(lambda: arrived(site) == ["PUT"])


def arrived(site: Site) -> list[str]:
    """Return how the bank was asked to act; that a browser asks beforehand whether it may is no act."""
    return [each.method for each in site.received if each.path == "/transfer" and each.method != "OPTIONS"]


@pytest.mark.long
async def test_a_page_that_insists_against_a_rule_sends_nothing_and_blocks_nobody(
    agent: Agent, other: Agent, site: Site
) -> None:
    loud = "setInterval(() => { for (let n = 0; n < 5; n++) fetch('/saved', {method: 'POST'}).catch(() => 0) }, 20)"
    await other.call("goto", pageId="own", url=site.page("/calm", "<button>Go</button>"))
    await agent.call("goto", pageId="p", url=site.page("/loud", f'<button id=go onclick="{loud}">Go</button>'))
    clicked = await agent.reply("click", pageId="p", selector="#go")
    for _ in range(5):
        await other.call("click", pageId="own", selector="button", timeout=60_000)
    assert len(clicked.json()["notices"]) <= 50
    assert (await agent.call("close_page", pageId="p"))["closed"] == "p"
    assert "/saved" not in site.counts

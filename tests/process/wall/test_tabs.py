"""Tests the wall's section of the person's own tabs, and how they choose one for an agent that asks."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from browse_together.client.credentials import mint_key
from browse_together.contract import wire
from tests.support.listening import connected, listening
from tests.support.persons import Persons, open_tab
from tests.support.service import Agent, RunningService, visiting
from tests.support.site import Site
from tests.support.wall import guest, seat, visit

pytestmark = pytest.mark.anyio

OPENS = "<button onclick=\"window.open('/popup')\">Open</button>"


@pytest.fixture(scope="module")
async def running(_persons: Persons, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("wall"), cdp_url=_persons.url) as service:
        yield service


@pytest.fixture
async def claude(running: RunningService, persons: Persons) -> AsyncIterator[Agent]:  # noqa: ARG001 - whose tabs are closed before
    """Return an agent that has a window in the person's browser."""
    async with visiting(running), connected(running, "c-1", "Claude") as agent:
        await agent.call("open_page", pageId="mine")
        yield agent


async def seen(agent: Agent) -> str:
    return str(await agent.call("list_pages", all=True))


async def test_a_person_shares_a_tab_to_read_and_takes_it_back_and_only_they_see_their_tabs(
    browser: Browser, running: RunningService, persons: Persons, claude: Agent, site: Site
) -> None:
    await open_tab(running, persons, site.page("/mail", "mail"))
    await open_tab(running, persons, site.page("/bank", "<button>Pay</button>"))
    window = await visit(browser, running)
    yours = window.get_by_role("region", name="Your tabs")
    await expect(yours.get_by_role("listitem")).to_have_count(3)  # one is the blank one of the browser's start
    await yours.get_by_role("button", name="Share to read: /bank").click()
    await expect(yours.get_by_role("listitem").first).to_contain_text(re.compile(r"/bank.*shared as bank · to read"))
    await expect(yours).to_contain_text("agents do not see 2 of them")
    assert ("/bank" in await seen(claude), "/mail" in await seen(claude)) == (True, False)
    page_id = next(page.page_id for page in running.parts.directory.pages() if page.of_person)
    assert (await claude.error("click", pageId=page_id, selector="button"))["code"] == "PAGE_OWNED"
    await yours.get_by_role("button", name="Take back: /bank").click()
    await expect(yours).to_contain_text("agents do not see them")
    assert "/bank" not in await seen(claude)
    reader = await visit(browser, running, read_only=True)
    await expect(reader.get_by_role("list", name="Pages")).to_be_visible()
    await expect(reader.get_by_role("region", name="Your tabs")).to_be_hidden()
    asked = await claude.call("request_human", pageId="mine", message="Look.", timeout=1)
    key = mint_key(running.parts.secret, asked["requestId"])
    async with seat(running, read_only=True) as looks_on, guest(running, asked["requestId"], key) as other:
        for viewer in (looks_on, other):
            await viewer.send("tabs", id=1)
            refused = await viewer.until(lambda message: message.get("id") == 1 or message["type"] == "refused")
            assert refused["type"] == "refused"
            assert "mail" not in str(refused)
    assert (await claude.http.get(wire.TABS)).json()["error"]["code"] == "FORBIDDEN"
    await window.context.close()
    await reader.context.close()


async def test_on_a_phone_a_person_chooses_the_tab_that_an_agent_asks_for(
    browser: Browser, running: RunningService, persons: Persons, claude: Agent, site: Site
) -> None:
    await open_tab(running, persons, site.page("/invoice", "<button>Pay</button>"))
    await open_tab(running, persons, site.page("/mail", "mail"))
    asked = await claude.call("request_human", kind="tab", message="The <b>invoice</b>.", timeout=1)
    context = await browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    phone = await context.new_page()
    await phone.goto(running.link_to(asked["requestId"]))
    await expect(phone.get_by_role("main")).to_contain_text("Claude asks for one of your tabs, in its own words:")
    await expect(phone.get_by_role("main")).to_contain_text("The <b>invoice</b>.")
    await phone.get_by_role("button", name="Share: /invoice").tap()
    await expect(phone.get_by_role("heading")).to_have_text('It is shared: agents call it "invoice".')
    answered = await claude.call("request_human", pageId="tab", requestId=asked["requestId"])
    assert 'shared a tab, which is "invoice".' in answered["observed"]
    assert (await claude.call("click", pageId="invoice", selector="button"))["observed"], "it stood behind another"
    await context.close()


async def test_tabs_whose_scripts_can_reach_each_other_are_shared_together(
    browser: Browser, running: RunningService, persons: Persons, claude: Agent, site: Site
) -> None:
    site.page("/popup", "popup")
    await open_tab(running, persons, site.page("/opener", OPENS))
    window = await visit(browser, running)
    yours = window.get_by_role("region", name="Your tabs")
    await yours.get_by_role("button", name="Share: /opener").click()
    await expect(yours.get_by_role("button", name="Take back: /opener")).to_be_visible()
    page_id = next(page.page_id for page in running.parts.directory.pages() if page.of_person)
    await claude.call("click", pageId=page_id, selector="button")
    await yours.get_by_role("button", name="Take back: /opener").click()
    await expect(yours.get_by_role("button", name="Share: /popup")).to_be_visible()
    await yours.get_by_role("button", name="Share: /opener").click()
    row = yours.get_by_role("listitem").filter(has_text="Scripts of this tab can reach another")
    await row.get_by_role("button", name="Cancel").click()
    assert "/opener" not in await seen(claude)
    await yours.get_by_role("button", name="Share: /opener").click()
    await row.get_by_role("button", name="Share them together").click()
    for path in ("/opener", "/popup"):  # one is shared after the other
        await expect(yours.get_by_role("button", name=f"Take back: {path}")).to_be_visible()
    assert ("/opener" in await seen(claude), "/popup" in await seen(claude)) == (True, True)
    await window.context.close()

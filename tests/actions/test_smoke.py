import pytest

from tests.support.service import Agent
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_goto_makes_the_page_and_says_where_it_is(agent: Agent, site: Site) -> None:
    url = site.page("/hello", "<h1>Hello</h1>")
    reply = (await agent.reply("goto", pageId="smoke", url=url)).json()
    assert reply["page"]["url"] == url
    assert reply["page"]["title"] == "/hello"

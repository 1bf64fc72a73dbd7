"""Makes the calls of the skill, in their order, as an agent does that has the tools, and as one that has a shell."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from browse_together.contract.wire import APP_NAME
from scripts.wheel import ROOT
from tests.support.docs import commands
from tests.support.gateways import chat, service_process, text_of
from tests.support.named_calls import named_calls
from tests.support.site import Site
from tests.support.terminal import Terminal

pytestmark = pytest.mark.anyio

SKILL = f"skills/{APP_NAME}/SKILL.md"
ORDERS = """<h1>Orders</h1><a href="/orders/new">New order</a>
<table><tr><th>Number<th>Customer<tr><td>7<td>Ana</table>"""
NEW = """<h1>New order</h1><form method="post" action="/orders/saved">
<label>Customer <input id="customer" name="customer"></label>
<label>Express <input id="express" type="checkbox" name="express"></label><button>Save order</button></form>"""
SAVED = """<h1>Order 8 saved</h1><table><tr><th>Number<th>Customer<tr><td>8<td>A customer</table>
<label>Password <input id="password" type="password"></label>"""


@pytest.fixture
def shop(site: Site) -> Site:
    site.page("/orders", ORDERS)
    site.page("/orders/new", NEW)
    site.page("/orders/saved", SAVED)
    return site


def customers(site: Site) -> list[str]:
    return [parse_qs(each.body.decode())["customer"][0] for each in site.received if each.method == "POST"]


def calls(site: Site) -> Iterator[tuple[str, dict[str, object]]]:
    said = (ROOT / SKILL).read_text(encoding="utf-8").replace("https://shop.example", site.url("").rstrip("/"))
    yield from named_calls(said, {"arguments": {}})


async def test_every_call_and_command_of_the_skill_does_what_it_says(tmp_path: Path, shop: Site) -> None:
    async with service_process(tmp_path / "data") as service, chat(service, "skilled") as agent:
        shell = Terminal(service.data_dir)
        kept = shell.run("secret", "set", "shop", "--origin", shop.url(""), "--from", str(secret_file(tmp_path)))
        assert kept.code == 0, kept
        said: dict[str, str] = {}
        for name, arguments in calls(shop):
            if name == "request_human":
                arguments["timeout"] = 500  # nobody is here
            reply = await agent.call_tool(name, arguments)
            assert not reply.is_error, (name, arguments, text_of(reply))
            if name == "request_human":
                (request,) = set(re.findall(r"ask-\w+", text_of(reply)))
                await agent.call_tool(name, {"requestId": request, "withdraw": True})
            said[str(arguments.get("name", name)) if name == "call_tool" else name] = text_of(reply)
        assert customers(shop) == ["Ana", "Ana"]
        assert "POST /orders/saved → 200" in said["fill_form"]
        assert "new-order" in said["list_flows"]
        await agent.call_tool("release_page", {"pageId": "orders"})
        for line in commands(SKILL):
            words = shlex.split(line.replace("https://shop.example", shop.url("").rstrip("/")))
            assert shell.succeed(*words[1:]).out, line
        assert customers(shop) == ["Ana", "Ana", "Ben", "Cleo"]


def secret_file(folder: Path) -> Path:
    file = folder / "password"
    file.write_text("a password", encoding="utf-8")
    return file

"""Tests flows in which windows open, dialogs ask, and secrets are typed."""

from itertools import count

import pytest

from browse_together.contract.named_secrets import NamedSecret
from tests.support.account import recorded
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

NAMES = (f"account-{number}" for number in count(1))
ACCOUNT = """<button onclick="window.open('/login')">Sign in</button>
<form method=post action=/close onsubmit="return confirm('Close it?')"><button>Close account</button></form>"""
LOGIN = "<form method=post action=/session><input type=password name=pw aria-label=Password><button>Go</button></form>"


@pytest.fixture
def account(site: Site) -> Site:
    """A site whose sign-in is in a window, and which asks before it closes an account."""
    site.page("/account", ACCOUNT)
    site.page("/login", LOGIN)
    site.page("/session", "<script>close()</script>")
    site.page("/closed", "Closed")
    site.routes["/close"] = Answer(status=303, headers={"location": "/closed"})
    return site


async def closed_account(agent: Agent, account: Site, service: RunningService) -> str:
    """Sign in and close the account by hand, and save it."""
    name, origin = next(NAMES), account.url("").rstrip("/")
    service.parts.secrets.set(NamedSecret(name="pw", value="Kx7qP2mWz9Lt", origins=(origin,)))
    page_id = (await agent.reply("open_page", url=account.url("/account"))).json()["page"]["pageId"]
    [window] = (await agent.call("click", selector="text=Sign in", pageId=page_id))["popups"]
    await agent.call("fill", selector="[name=pw]", value={"secret": "pw"}, pageId=window)
    await agent.call("click", selector="role=button", pageId=window)
    [close] = (await agent.call("find", role="button", name="Close account", pageId=page_id))["matches"]
    assert (await agent.call("click", selector=close["ref"], pageId=page_id))["suspended"]
    await agent.call("handle_dialog", accept=True, pageId=page_id)
    saved = await agent.call("save_flow", name=name, pageId=page_id)
    assert (saved["steps"], saved["parameters"]) == (6, [])
    return name


def posts(site: Site) -> list[str]:
    return [f"{each.path} {each.body.decode()}".strip() for each in site.received if each.method == "POST"]


async def test_windows_dialogs_and_secrets_are_repeated(agent: Agent, account: Site, service: RunningService) -> None:
    name = await closed_account(agent, account, service)
    assert "Kx7q" not in (await agent.call("list_flows", name=name))["flows"]
    pages = {each["pageId"] for each in (await agent.call("list_pages"))["yours"]}
    done = await agent.call("run_flow", name=name)
    assert posts(account) == ["/session pw=Kx7qP2mWz9Lt", "/close"] * 2
    assert {each["pageId"] for each in (await agent.call("list_pages"))["yours"]} - pages == {done["pageId"]}


async def test_a_window_that_does_not_open_and_a_dialog_that_nobody_answers_stop_a_flow(
    agent: Agent, account: Site, service: RunningService
) -> None:
    name = await closed_account(agent, account, service)
    account.page("/account", ACCOUNT.replace("window.open(", "alert("))
    assert "alert" in (await agent.error("run_flow", name=name))["message"]
    account.page("/account", ACCOUNT.replace("window.open(", "void("))
    stopped = await agent.error("run_flow", name=name)
    assert "it opened no 'page2'" in stopped["message"]
    assert stopped["details"]["context"]["step"] == 2
    assert posts(account)[2:] == []


async def test_what_cannot_be_told_apart_is_not_saved(agent: Agent, account: Site) -> None:
    page_id = (await agent.reply("open_page", url=account.url("/account"))).json()["page"]["pageId"]
    both = [{"action": "hover", "selector": "text=Sign in"}, {"action": "click", "selector": "text=Sign in"}]
    assert (await agent.reply("batch", steps=both, pageId=page_id)).json()["success"]
    window = next(each["pageId"] for each in (await agent.call("list_pages"))["yours"] if each["pageId"] != page_id)
    await agent.call("fill", selector="[name=pw]", value="x", pageId=window)
    refused = await agent.error("save_flow", name=next(NAMES), pageId=page_id)
    assert "opened a window, and it is not recorded which" in refused["message"]
    both[1]["selector"] = "text=Close account"
    await agent.call("batch", steps=both, pageId=page_id)
    await agent.call("handle_dialog", accept=False, pageId=page_id)
    calls = [
        each["callId"]
        for each in await recorded(agent, client="me", pageId=page_id)
        if each["action"] in {"batch", "handle_dialog"}
    ]
    refused = await agent.error("save_flow", name=next(NAMES), pageId=page_id, calls=calls[:2])
    assert "asked in a dialog, and it is not recorded which" in refused["message"]
    await agent.call("set_dialog_policy", policy="dismiss", pageId=page_id)
    await agent.call("click", selector="text=Close account", pageId=page_id)
    last = (await recorded(agent, client="me", pageId=page_id))[0]["callId"]
    refused = await agent.error("save_flow", name=next(NAMES), calls=[last])
    assert "answered by a policy from before that stretch" in refused["message"]

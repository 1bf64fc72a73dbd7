"""Tests what a client had filled and not sent when its page died: offered to it, and filled again when it asks."""

import pytest

from tests.process.service.conftest import lasting_service as service
from tests.support import processes
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import become

__all__ = ["service"]

pytestmark = pytest.mark.anyio

FORM = """
<form><input id=name name=name aria-label=Name><input type=password id=pw><input autocomplete=one-time-code id=sms>
<input name=cardCvc><select id=size><option>S<option>M<option>L</select><input type=checkbox id=news>
<input type=radio name=pay value=card id=card><input type=radio name=pay value=cash id=cash>
<textarea id=note></textarea><div id=rich contenteditable></div><input aria-label=Street></form>
<iframe id=inner srcdoc="<input id=inside>"></iframe>
"""


async def crashed(service: RunningService, page_id: str) -> None:
    """Crash the page's renderer, and wait until the service knows it."""
    await processes.kill(*processes.renderers(service.settings.data_dir))
    entry = service.entry(page_id)
    await become(lambda: entry.record.life.crashed)


async def notice(agent: Agent, page_id: str) -> str:
    """Return the notice that the next call on the page gets."""
    reply = (await agent.reply("get_page_title", pageId=page_id)).json()
    assert reply["success"], reply
    return " ".join(each["text"] for each in reply["notices"])


async def test_all_kinds_of_fields_are_offered_and_filled_again_and_secrets_are_named(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    url = site.page("/form", FORM)
    await agent.call("goto", pageId="p", url=url)
    assert "nothing" in (await agent.call("refill", pageId="p"))["observed"]
    await agent.call("fill", pageId="p", selector="#name", value="Ana")
    await agent.call("type", pageId="p", selector="#name", text=" B.")
    await agent.call("fill", pageId="p", selector="#pw", value="hunter2-hunter2")
    await agent.call("fill", pageId="p", selector="#sms", value="123456")
    await agent.call("fill", pageId="p", selector="[name=cardCvc]", value="987")
    await agent.call("select_option", pageId="p", selector="#size", value="M")
    await agent.call("check", pageId="p", selector="#news")
    fields = [{"selector": "[name=pay]", "value": "cash"}, {"selector": "#note", "value": "two\nlines"}]
    await agent.call("fill_form", pageId="p", fields=fields)
    await agent.call("paste", pageId="p", selector="#rich", text="rich")
    await agent.call("snapshot", pageId="p")
    (street,) = (await agent.call("find", pageId="p", role="textbox", name="Street"))["matches"]
    await agent.call("fill", pageId="p", selector=street["ref"], value="Main St 1")
    await agent.call("fill", pageId="p", selector="#inside", frame="#inner", value="within")
    await crashed(service, "p")
    told = await notice(agent, "p")
    kept = {field.selector: field.value for field in service.entry("p").filled_fields.offered(agent.client_id)}
    assert kept["#name"] == "Ana B."
    assert [kept[selector] for selector in ("#pw", "#sms", "[name=cardCvc]")] == [None, None, None]
    assert 'refill {"pageId": "p"}' in told
    assert "to be given again: #pw, #sms, [name=cardCvc]" in told
    assert "Ana" not in told
    assert (await other.error("refill", pageId="p"))["code"] == "PAGE_OWNED"
    result = await agent.call("refill", pageId="p")
    assert {each["selector"]: each["filled"] for each in result["fields"] if not each["filled"]} == dict.fromkeys(
        ["#pw", "#sms", "[name=cardCvc]"], False
    )
    assert "give again: #pw (a secret, which is not kept)" in result["observed"]
    script = """[...document.querySelectorAll('input, textarea, select')].map(e =>
        ['checkbox', 'radio'].includes(e.type) ? e.checked : e.value)
        .concat(document.querySelector('#rich').innerText, frames[0].document.querySelector('input').value)"""
    now = (await agent.call("evaluate_script", pageId="p", expression=script))["value"]
    assert now == ["Ana B.", "", "", "", "M", True, False, True, "two\nlines", "Main St 1", "rich", "within"]
    await crashed(service, "p")  # what was filled again is offered again
    assert "refill" in await notice(agent, "p")


async def test_sent_or_abandoned_fields_are_not_offered(service: RunningService, agent: Agent, site: Site) -> None:
    site.page("/sent", "sent")
    url = site.page("/form", "<input id=a><button onclick=\"fetch('/sent', {method: 'POST'})\">send</button>")
    await agent.call("goto", pageId="sent", url=url)
    await agent.call("fill", pageId="sent", selector="#a", value="x")
    await agent.call("click", pageId="sent", selector="button")
    await agent.call("goto", pageId="left", url=url)
    await agent.call("fill", pageId="left", selector="#a", value="x")
    await agent.call("goto", pageId="left", url=f"{url}?again")
    await crashed(service, "sent")
    for page_id in ("sent", "left"):
        told = await notice(agent, page_id)
        assert f"{page_id} was reopened" in told
        assert "refill" not in told
        assert (await agent.call("refill", pageId=page_id))["fields"] == []


async def test_a_vanished_field_is_reported_and_the_others_are_filled(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/form", "<input id=a><input id=b>")
    await agent.call("goto", pageId="p", url=url)
    for selector in ("#a", "#b"):
        await agent.call("fill", pageId="p", selector=selector, value="x")
    site.page("/form", "<input id=b oninput='value = value.toUpperCase()'>")
    await crashed(service, "p")
    await notice(agent, "p")
    result = await agent.call("refill", pageId="p", timeout=2_000)
    told = {each["selector"]: each.get("why") for each in result["fields"]}
    assert told == {"#a": "it is not there", "#b": "the page shows 'X' instead"}

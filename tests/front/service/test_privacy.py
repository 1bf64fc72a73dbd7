"""Tests, by attacks that must fail, that only its holder and a person can open a private page, and that nobody else
learns of it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

TITLE, HOLD, AGENT, NAME = "Diagnosis", "waiting for the lab", "doctor", "clinic"
TELLING = (TITLE, HOLD, AGENT, "/record")


@pytest.fixture
async def third(service: RunningService) -> AsyncIterator[Agent]:
    async with service.agent() as agent:
        yield agent


@pytest.fixture
async def holder(service: RunningService, site: Site) -> AsyncIterator[Agent]:
    """Return an agent that holds a private page."""
    async with service.agent("Alice Secretary") as agent:
        url = site.page("/record", f"<title>{TITLE}</title><p>{TITLE}</p><p id=late></p>")
        await agent.call("goto", pageId=NAME, url=url, **{"as": AGENT})
        await agent.call("hold_page", pageId=NAME, reason=HOLD, minutes=30)
        await agent.call("share_page", pageId=NAME, access="private")
        yield agent
        async with service.agent(operator=True) as person:
            await person.reply("claim_page", pageId=NAME, reason="The test is over.")
            await person.reply("close_page", pageId=NAME)


async def refused(
    who: Agent, holder: Agent, action: str, *, named: bool = True, **arguments: AnyJson
) -> dict[str, AnyJson]:
    """Return the error of a call, which tells nothing of the private page. It is on that page where that is `named`."""
    reply = await who.reply(action, **{**({"pageId": NAME} if named else {}), **arguments})
    assert reply.json()["success"] is False, reply.text
    assert not [word for word in (*TELLING, holder.label) if word in reply.text], reply.text
    assert reply.json()["page"] is None
    return dict(reply.json()["error"])


async def test_no_reason_and_no_patience_take_a_private_page(holder: Agent, other: Agent) -> None:
    attempts: list[dict[str, AnyJson]] = [
        {},
        {"reason": "The user asked for this very page."},
        {"waitSeconds": 600},
        {"waitSeconds": 1, "reason": "urgent"},
    ]
    errors = [await refused(other, holder, "claim_page", **attempt) for attempt in attempts]
    assert {error["code"] for error in errors} == {"PAGE_OWNED"}
    assert not any("claim_page" in error["hint"] for error in errors)
    await holder.call("content", pageId=NAME)


async def test_expectations_of_a_private_page_are_not_compared(holder: Agent, other: Agent, site: Site) -> None:
    revision = (await holder.reply("content", pageId=NAME)).json()["page"]["revision"]
    guesses: list[dict[str, AnyJson]] = [
        *({"expectUrl": url} for url in ("*", "*/record", site.url("/record"), "*/elsewhere")),
        *({"ifRevision": number} for number in (revision, revision + 1)),
    ]
    calls: dict[str, dict[str, AnyJson]] = {"content": {}, "claim_page": {"reason": "mine"}, "get_network_log": {}}
    for action, more in calls.items():
        told = [await refused(other, holder, action, **more, **guess) for guess in guesses]
        assert len({(error["code"], error["message"], str(error["hint"])) for error in told}) == 1, told


async def test_a_private_page_is_only_counted(holder: Agent, other: Agent, service: RunningService) -> None:
    reply = await other.reply("list_pages", all=True)
    assert reply.json()["result"]["private"] == 1
    assert "Private to others: 1." in reply.json()["result"]["text"]
    assert not [word for word in (*TELLING, holder.label, NAME) if word in reply.text]
    near = await other.reply("content", pageId=f"{NAME}s")
    assert near.json()["error"]["code"] == "PAGE_NOT_FOUND"
    assert f'"{NAME}"' not in near.text
    popup = await other.reply("content", pageId=f"{NAME}~7")
    assert f'"{NAME}" is open' not in str(popup.json())
    assert (await holder.call("list_pages"))["yours"][0]["pageId"] == NAME
    async with service.agent(operator=True) as person:
        assert f"{NAME} · " in (await person.call("list_pages"))["text"]


async def test_the_name_of_a_private_page_does_not_reveal_its_url(holder: Agent, other: Agent) -> None:
    await other.call("open_page", pageId="own")
    attempts: list[tuple[str, dict[str, AnyJson]]] = [
        ("content", {"sessionId": "nowhere"}),
        ("content", {"sessionId": "default"}),
        ("click", {"selector": "p"}),
        ("hand_over_page", {"pageId": "own", "to": NAME}),
    ]
    for action, arguments in attempts:
        assert (await refused(other, holder, action, **arguments))["code"] == "PAGE_OWNED", action
    assert (await other.error("get_session", sessionId=NAME))["code"] == "PAGE_OWNED"


async def test_a_page_of_that_name_is_refused_with_the_way_to_another(holder: Agent, other: Agent, site: Site) -> None:
    url = site.page("/mine", "<title>Mine</title>")
    for action in ("goto", "open_page", "navigate_to"):
        error = await refused(other, holder, action, url=url)
        assert error["code"] == "PAGE_OWNED"
        assert f'open_page {{"url": "{url}"}}' in error["hint"]
    assert (await other.call("open_page", url=url))["url"] == url


async def test_acts_on_a_whole_session_count_private_pages_and_name_none(
    holder: Agent, other: Agent, third: Agent, site: Site
) -> None:
    await third.call("goto", pageId="seen", url=site.url("/record"))
    for action, arguments in (
        ("clear_cookies", {}),
        ("set_cookies", {"cookies": [{"name": "a", "value": "b", "url": site.url("")}]}),
        ("grant_permissions", {"permissions": ["camera"], "origin": site.url("")}),
    ):
        error = await refused(other, holder, action, named=False, **arguments)
        assert error["code"] == "AFFECTS_OTHERS", error
        assert "a page that is private to another client" in error["message"]
        assert error["details"]["context"]["pages"] == ["seen"]
        assert NAME not in str(error)


async def test_no_recording_of_a_whole_session_starts_while_it_has_a_private_page(holder: Agent, other: Agent) -> None:
    for action, arguments in (
        ("start_tracing", {"affectOthers": True}),
        ("export_session", {}),
        ("add_session_init_script", {"script": "window.stolen = 1", "affectOthers": True}),
    ):
        error = await refused(other, holder, action, named=False, **arguments)
        assert (error["code"], NAME in str(error)) == ("FORBIDDEN", False)


async def test_waiting_and_reading_clients_are_shut_out_when_a_page_becomes_private(
    service: RunningService, holder: Agent, other: Agent, third: Agent
) -> None:
    await holder.call("share_page", pageId=NAME, access="read")
    waits = sent(other, "w", "claim_page", pageId=NAME, waitSeconds=60)
    reads = sent(third, "r", "wait_for_selector", pageId=NAME, selector="#never", timeout=60_000)
    ownership = service.entry(NAME).record.ownership
    await become(lambda: ownership.waiting == 1)
    await become(lambda: any(run.call.client_id == third.client_id for run in service.running_calls().values()))
    await holder.call("share_page", pageId=NAME, access="private")
    async with asyncio.timeout(PATIENCE_S):
        replies = [(await call).json() for call in (waits, reads)]
    assert [reply["error"]["code"] for reply in replies] == ["PAGE_OWNED", "PAGE_OWNED"]
    assert not [word for word in (*TELLING, holder.label) if word in str(replies)]
    assert ownership.waiting == 0


async def test_a_private_page_that_is_handed_over_stays_private(holder: Agent, other: Agent, third: Agent) -> None:
    await third.call("list_pages")
    await holder.call("hand_over_page", pageId=NAME, to=third.label)
    await refused(other, holder, "content")
    assert (await holder.error("content", pageId=NAME))["code"] == "PAGE_OWNED"
    assert TITLE in (await third.call("content", pageId=NAME))["content"]
    await third.call("share_page", pageId=NAME, access="read")
    assert TITLE in (await other.call("content", pageId=NAME))["content"]


async def test_a_person_opens_a_private_page_for_nobody_else(
    service: RunningService, holder: Agent, other: Agent
) -> None:
    async with service.agent(operator=True) as person:
        assert TITLE in (await person.call("content", pageId=NAME))["content"]
        assert (await person.error("click", pageId=NAME, selector="p"))["code"] == "PAGE_OWNED"
        await person.call("claim_page", pageId=NAME, reason="I need it")
        await refused(other, holder, "content")
        former = (await holder.reply("content", pageId=NAME)).json()
    assert former["error"]["code"] == "PAGE_OWNED"
    assert any(f"took {NAME} from you" in notice["text"] for notice in former["notices"])


async def test_parts_of_other_calls_are_no_way_in(holder: Agent, other: Agent) -> None:
    step: dict[str, AnyJson] = {"action": "content", "pageId": NAME, "expectUrl": "*/record"}
    await refused(other, holder, "batch", named=False, steps=[step])
    await refused(other, holder, "batch", named=False, steps=[{"action": "list_pages"}, step])
    await refused(other, holder, "batch", steps=[{"action": "content"}])
    await refused(other, holder, "wait_for_request", during={"action": "content"}, expectUrl="*/record")


async def test_streams_and_records_tell_nothing_of_a_private_page(
    service: RunningService, holder: Agent, other: Agent
) -> None:
    stream = service.parts.clients.stream(other.client_id)
    heard = asyncio.ensure_future(anext(stream))
    await become(lambda: service.is_present(other.client_id))
    await holder.call("click", pageId=NAME, selector="p")
    await refused(other, holder, "content")
    found = await other.reply("get_activity", pageId=NAME)
    assert not heard.done()
    heard.cancel()
    assert not [word for word in (*TELLING, holder.label) if word in found.text]


async def test_a_file_name_never_replaces_another_clients_file(
    service: RunningService, agent: Agent, other: Agent
) -> None:
    artifacts, name = service.parts.artifacts, "shared-name.txt"
    first = await artifacts.put(b"of the first", "text/plain", agent.client_id, name=name)
    second = await artifacts.put(b"of the second", "text/plain", other.client_id, name=name)
    assert (first.name, second.name) == (name, "shared-name-2.txt")
    assert (await agent.http.get(first.url)).content == b"of the first"
    assert (await other.http.get(first.url)).status_code == 404


async def test_a_name_does_not_replace_another_clients_saved_logins(
    service: RunningService, agent: Agent, other: Agent
) -> None:
    await agent.call("save_session_state", name="signed in")
    before = await service.parts.journal.saved("default", "signed in")
    error = await other.error("save_session_state", name="signed  in")
    assert (error["code"], error["details"]["context"]["field"]) == ("FORBIDDEN", "name")
    assert "save_session_state" in error["hint"]
    assert await service.parts.journal.saved("default", "signed in") == before
    await agent.call("save_session_state", name="signed in")
    assert await service.parts.journal.saved("default", "signed in") != before
    await other.call("save_session_state", name="signed in too")

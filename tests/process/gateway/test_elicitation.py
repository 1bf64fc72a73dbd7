"""Tests a client that shows forms: its person answers what an agent asks a person for. Real service, real gateways."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.types import (
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    Implementation,
)

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.secret import ensure_secret
from examples.processes import ServiceProcess
from mcp_gateway.settings import Settings
from tests.process.gateway.conftest import PUBLIC
from tests.support import gateways
from tests.support.gateway_fixtures import connection_to
from tests.support.gateways import text_of
from tests.support.json import AnyJson
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

DECISION: dict[str, AnyJson] = {"kind": "decision", "message": "Red or blue?", "choices": ["red", "blue"]}


class Person:
    """A client that answers forms."""

    def __init__(self, action: str = "accept", nothing: int = 0, **content: str) -> None:
        """Let the form come back empty `nothing` times first."""
        self.answer = ElicitResult.model_validate({"action": action, "content": content or None})
        self.nothing = nothing
        self.shown: asyncio.Queue[ElicitRequestFormParams] = asyncio.Queue()
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.withdrawn = asyncio.Event()

    async def __call__(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the SDK gives it
        params: ElicitRequestParams,
    ) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.shown.put_nowait(params)
        try:
            await self.goes_on.wait()
        except asyncio.CancelledError:
            self.withdrawn.set()
            raise
        empty = self.shown.qsize() <= self.nothing
        nothing = {"answer": " "} if self.shown.qsize() > 1 else None
        return ElicitResult(action="accept", content=nothing) if empty else self.answer


@asynccontextmanager
async def chat_beside(
    service: ServiceProcess, person: "Person | Follower | None", mode: str = "legacy"
) -> AsyncIterator[Client]:
    """Start a chat with a gateway in this process, for tests in which the wire does not matter."""
    settings = Settings(url=service.url, data_dir=service.data_dir, autostart=False)
    connection = connection_to(settings)
    connection.chats.own.appear()
    info = Implementation(name="Claude", version="1")
    async with (
        asyncio.timeout(PATIENCE_S),
        Client(
            connection.server(), client_info=info, mode=mode, elicitation_callback=person, read_timeout_seconds=50
        ) as client,
    ):
        yield client
    connection.chats.leave()
    await connection.chats.own.service.close(within_s=1)


@asynccontextmanager
async def chat(
    service: ServiceProcess, person: "Person | Follower | None", mode: str = "legacy"
) -> AsyncIterator[Client]:
    """Start a chat with a gateway that is a process."""
    asked = {"elicitation_callback": person}
    async with asyncio.timeout(PATIENCE_S), gateways.chat(service, "Claude", mode, does=asked) as client:
        yield client


async def asks(client: Client, site: Site, *, through: bool = False, **what: AnyJson) -> str:
    """Call `request_human`. With `through` it goes by call_tool, as from a host that has not listed the tool."""
    await client.call_tool("goto", {"url": site.page("/form", "<h1>Form</h1>")})
    tool, arguments = (
        ("call_tool", {"name": "request_human", "arguments": what}) if through else ("request_human", what)
    )
    return re.sub(r'"Claude \d+"', '"Claude"', text_of(await client.call_tool(tool, arguments)))  # of many of this name


async def answered(service: ServiceProcess, **said: str) -> None:
    """Let the account's person answer the open request elsewhere."""
    token = mint(ensure_secret(service.data_dir), "cli", "CLI", operator=True)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=service.url, headers=headers, trust_env=False) as http:
        (request,) = (await http.get(wire.REQUESTS)).json()["result"]["requests"]
        reply = await http.post(f"{wire.REQUESTS}/{request['requestId']}/resolve", json={"by": "Ana", **said})
        assert reply.is_success, reply.text


@pytest.mark.parametrize("through", [False, True], ids=["directly", "through call_tool"])
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_decision_is_made_in_the_chat(service: ServiceProcess, site: Site, mode: str, *, through: bool) -> None:
    person = Person(answer="blue")
    async with chat(service, person, mode) as client:
        said = await asks(client, site, through=through, **DECISION)
    assert said.startswith('The person at "Claude" decided. It says: blue')
    form = person.shown.get_nowait()
    assert "Red or blue?" in form.message
    assert form.requested_schema["properties"]["answer"]["enum"] == ["red", "blue"]
    assert form.requested_schema["required"] == ["answer"]
    assert person.shown.empty()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_who_answers_with_nothing_is_told_why_once_more_and_at_most_three_times(
    service: ServiceProcess, site: Site, mode: str
) -> None:
    person = Person(answer="blue", nothing=1)
    async with chat_beside(service, person, mode) as client:
        said = await asks(client, site, **DECISION)
    assert said.startswith('The person at "Claude" decided. It says: blue')
    first, second = (person.shown.get_nowait().message for _ in range(2))
    assert second == f"A decision needs an answer, one of: red, blue.\n{first}"
    person = Person(nothing=99)
    async with chat_beside(service, person, mode) as client:
        said = await asks(client, site, **DECISION, timeout=2_000)
        assert said.startswith("No person has answered yet")
        await answered(service, answer="red")
    assert person.shown.qsize() == 3


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_an_act_that_a_rule_leaves_to_a_person_is_allowed_in_the_chat(
    service: ServiceProcess, site: Site, mode: str
) -> None:
    url = site.page("/all", "<button onclick=\"document.title = 'gone'\">Delete all</button>")
    for answer, said in (("Refuse", "A person refused it. Nothing was done."), ("Allow once", '~ title "gone"')):
        person = Person(answer=answer)
        async with chat_beside(service, person, mode) as client:
            await client.call_tool("goto", {"url": url})
            reply = text_of(await client.call_tool("click", {"selector": "button"}))
        assert "click button 'Delete all'" in person.shown.get_nowait().message
        assert said in reply


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_what_is_declined_in_the_chat_is_refused(
    service: ServiceProcess, site: Site, mode: str, action: str
) -> None:
    async with chat_beside(service, Person(action), mode) as client:
        said = await asks(client, site, kind="other", message="Pay, please.")
    assert said.startswith(f'The person at "Claude" declined: something at {site.url("")}.')


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_nobody_is_asked_for_a_password(service: ServiceProcess, site: Site, mode: str) -> None:
    person = Person()
    async with chat_beside(service, person, mode) as client:
        said = await asks(client, site, kind="login", message="Please sign in.")
    assert said.startswith(f'The person at "Claude" says it is done: a login at {site.url("")}.')
    form = person.shown.get_nowait()
    assert form.requested_schema == {"type": "object", "properties": {}}
    assert "Sign in on that page of the shared browser, then accept." in form.message


class Follower:
    """A person whose client shows links too: it opens the link, and answers there."""

    def __init__(self, service: ServiceProcess, *, follows: bool = True) -> None:
        self.service, self.follows = service, follows
        self.shown: asyncio.Queue[ElicitRequestParams] = asyncio.Queue()

    async def __call__(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the SDK gives it
        params: ElicitRequestParams,
    ) -> ElicitResult:
        self.shown.put_nowait(params)
        assert isinstance(params, ElicitRequestURLParams)
        if not self.follows:
            return ElicitResult(action="decline")
        public, _, fragment = params.url.partition(f"{wire.WALL}#")
        assert public == PUBLIC
        key, _, request_id = fragment.partition("&request=")
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, trust_env=False) as http:
            reply = await http.post(
                f"{self.service.url}{wire.REQUESTS}/{request_id}/resolve", json={"answer": "724 115"}
            )
            assert reply.is_success, reply.text
        return ElicitResult(action="accept")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_code_passes_the_chat_by_where_the_client_shows_links(
    service: ServiceProcess, site: Site, mode: str
) -> None:
    person = Follower(service)
    async with chat_beside(service, person, mode) as client:
        said = await asks(client, site, kind="code", message="The code, please.")
    assert said.startswith(f'The person at "Claude" says it is done: a code at {site.url("")}. It says: 724 115')
    assert person.shown.qsize() == 1


async def test_a_link_that_is_not_followed_is_a_refusal(service: ServiceProcess, site: Site) -> None:
    async with chat_beside(service, Follower(service, follows=False)) as client:
        said = await asks(client, site, kind="code", message="The code, please.")
    assert said.startswith('The person at "Claude" declined: a code')


async def test_a_form_is_withdrawn_when_another_person_was_first(service: ServiceProcess, site: Site) -> None:
    person = Person(answer="blue")
    person.goes_on.clear()
    async with chat(service, person) as client:
        asking = asyncio.create_task(asks(client, site, **DECISION))
        await person.shown.get()
        await answered(service, answer="red")
        assert (await asking).startswith("Ana decided. It says: red")
        await person.withdrawn.wait()


async def test_a_client_without_forms_is_told_how_to_read_on(service: ServiceProcess, site: Site) -> None:
    async with chat_beside(service, None) as client:
        said = await asks(client, site, **DECISION, timeout=1)
        assert "No person has answered yet" in said
        assert 'request_human {"pageId": "' in said
        await answered(service, answer="red")
        seen = text_of(await client.call_tool("snapshot", {}))
    assert "Notice: Ana decided." in seen


async def test_a_call_that_waits_for_a_person_says_so_as_progress(service: ServiceProcess, site: Site) -> None:
    told: asyncio.Queue[str | None] = asyncio.Queue()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total) == (True, None)
        told.put_nowait(message)

    async with chat(service, None) as client:
        await client.call_tool("goto", {"url": site.page("/form", "<h1>Form</h1>")})
        arguments = {"name": "request_human", "arguments": DECISION}
        asking = asyncio.create_task(client.call_tool("call_tool", arguments, progress_callback=tell))
        while (said := await told.get()) and not said.startswith("waiting for a person"):
            pass
        assert said == f"waiting for a person: a decision at {site.url('')}"
        await answered(service, answer="red")
        assert "Ana decided" in text_of(await asking)

"""Tests the link between the front and a host elsewhere, over real sockets: what a host does here, it does there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.calls import Call
from tests.support.json import AnyJson
from tests.support.links import FrontSide, front_of, linked, opened
from tests.support.listening import listening
from tests.support.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[FrontSide]:
    async with listening(tmp_path, hosts=True) as service:
        yield front_of(service)


def call(number: int, action: str, client: str = "agent", page: str = "p", **arguments: AnyJson) -> Call:
    body = {"action": action, **arguments}
    return Call(
        call_id=f"{client}/c-{number}",
        seq=number,
        client_id=client,
        body=body,
        page_id=page,
        session_id="s",
        opens=action == "goto",
    )


async def test_calls_outcomes_and_events_cross_the_link(front: FrontSide, site: Site) -> None:
    site.page("/", "<title>There</title><h1>Hello</h1>")
    async with linked(front) as (host, _):
        await opened(front, host, "s")
        went = await host.run(call(1, "goto", url=site.url("/")))
        assert went.error is None, went.error
        batch = await host.events_after(0, 0, 100)
        assert went.as_of is not None
        assert went.as_of.incarnation == host.incarnation == batch.incarnation
        assert {event.kind for event in batch.events} >= {"page_opened", "page_changed"}
        read = await host.run(call(2, "content"))
        assert read.result is not None
        assert "Hello" in str(read.result["content"])
        assert [page.page_id for page in await host.describe()] == ["p"]

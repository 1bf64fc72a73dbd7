"""Tests the link between the front and a host elsewhere, over real sockets: what a host does here, it does there."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browser_service.rules.leases import Ownership
from shared.calls import Call
from shared.named_secrets import NamedSecret
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


async def test_a_host_hides_the_secrets_that_calls_gave_it_before_a_text_is_cut(front: FrontSide, site: Site) -> None:
    shown = NamedSecret(name="pw", value="K7Q2-9XVB-44TD", origins=("https://elsewhere.example",))
    site.page("/", f"<p>{'x' * 95} {shown.value} and more{' ' + 'y' * 900}</p>")
    async with linked(front) as (host, there):
        await opened(front, host, "s")
        named = call(1, "goto", url=site.url("/")).model_copy(update={"secrets": {"pw": shown}})
        assert (await host.run(named)).error is None
        read = await host.run(call(2, "content", budget=100))
        assert read.result is not None
        assert str(read.result["content"]).endswith("x «sec")
        assert f"127.0.0.1:{front.service.settings.port}" in there.end.own_places


async def test_a_time_that_a_host_tells_is_spelled_by_the_front(
    front: FrontSide, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with linked(front) as (host, _):
        await opened(front, host, "s")
        await host.run(call(1, "goto", url=site.url("/")))
        monkeypatch.setattr(Ownership, "free_at", lambda _: "\ufdd260 0\ufdd3")  # as a process of its own has it
        refused = await host.run(call(1, "goto", client="other", url=site.url("/")))
        assert refused.error is not None
        assert re.search(r"free at \d\d:\d\d:\d\d if idle", refused.error.message)

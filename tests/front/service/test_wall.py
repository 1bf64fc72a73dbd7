"""Tests the socket of the wall: who gets in, what they see and may do, and that nonsense is refused with a reason."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from browse_together.contract.wire import MAX_SOCKET_BYTES, PROOF, WALL_GIVEN
from browser_service.clients.presence import handle_of
from tests.support.account import recorded
from tests.support.json import AnyJson
from tests.support.listening import connected, listening, present
from tests.support.service import Agent, RunningService, tidy
from tests.support.site import Site
from tests.support.wall import door, entered, seat, socket

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("wall")) as service:
        yield service


@pytest.fixture
async def claude(running: RunningService, site: Site) -> AsyncIterator[Agent]:
    async with connected(running, "c-1", "Claude") as agent:
        await agent.call("goto", pageId="shop", url=site.page("/shop", "<title>Shop</title><button>b</button>"))
        yield agent
        await tidy(running, agent)


def with_page(page_id: str, **expected: AnyJson) -> Callable[[dict[str, AnyJson]], bool]:
    def holds(message: dict[str, AnyJson]) -> bool:
        page = message.get("pages", {}).get(page_id)
        return page is not None and all(page.get(key) == value for key, value in expected.items())

    return holds


async def refusal(running: RunningService, cookie: str, proof: str) -> str:
    async with socket(running, cookie) as viewer:
        with contextlib.suppress(ConnectionClosed):  # it may be refused by its cookie alone
            await viewer.send("hello", proof=proof)
        refused = await viewer.until(lambda message: message["type"] == "refused")
        assert refused["over"] is True
        with pytest.raises(ConnectionClosed) as closed:
            await viewer.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4403
        return f"{refused['reason']} {refused['hint']}"


async def test_a_viewer_needs_a_cookie_of_this_service_and_the_proof_of_its_page(running: RunningService) -> None:
    cookie, proof = await entered(running)
    assert "not signed in" in await refusal(running, "", proof)
    assert "not signed in to the wall of this service" in await refusal(running, f"{cookie}x", proof)
    assert "not from the wall's own page" in await refusal(running, cookie, "guessed")
    with pytest.raises(InvalidStatus) as foreign:
        async with socket(running, cookie, Origin="http://127.0.0.1:1"):
            pass
    assert b"the origin 'http://127.0.0.1:1' are not accepted" in (foreign.value.response.body or b"")
    async with socket(running, cookie, Origin=running.base_url) as viewer:
        await viewer.send("watch")
        assert "begins with hello" in (await viewer.until(lambda message: message["type"] == "refused"))["reason"]


async def test_a_viewer_needs_no_new_link_once_the_service_has_started_anew(tmp_path: Path) -> None:
    async with listening(tmp_path / "wall") as before:
        cookie, proof = await entered(before)
    async with listening(tmp_path / "wall") as anew, socket(anew, cookie) as viewer:
        await viewer.send("hello", proof=proof)
        assert (await viewer.until(lambda message: message["type"] in {"viewer", "refused"}))["name"] == "ana"


async def test_an_invalid_message_is_refused_and_a_too_long_one_ends_the_connection(running: RunningService) -> None:
    async with seat(running) as viewer:
        for wrong in (
            "{",
            "[]",
            '{"type": "fly"}',
            '{"type": "watch", "page": "../x"}',
            '{"type": "watch", "tiles": 1}',
        ):
            await viewer.socket.send(wrong)
            refused = await viewer.until(lambda message: message["type"] == "refused")
            assert "none of the wall's" in refused["reason"]
            assert "over" not in refused
        await viewer.socket.send("x" * (MAX_SOCKET_BYTES + 1))
        with pytest.raises(ConnectionClosed) as closed:
            await viewer.until(lambda _: False)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
    async with seat(running) as viewer:
        await viewer.socket.send(b"bytes")
        refused = await viewer.until(lambda message: message["type"] == "refused")
        assert (refused["over"], refused["reason"]) == (True, "A viewer sends text alone.")


async def test_a_viewer_who_sends_without_end_is_refused_with_a_reason(running: RunningService) -> None:
    async with seat(running) as viewer:
        with contextlib.suppress(ConnectionClosed):  # it ends while more is sent
            for width in range(100, 500):
                await viewer.send("watch", tiles={"shop": {"width": width}})
        refused = await viewer.until(lambda message: message["type"] == "refused")
        assert refused["over"] is True
        assert "within a second" in refused["reason"]


async def test_a_viewer_is_shown_the_pages_and_what_changes(running: RunningService, claude: Agent) -> None:
    async with seat(running) as viewer:
        state = await viewer.until(with_page("shop", title="/shop", group="agents"))
        owner = state["pages"]["shop"]["owner"]
        assert (owner["label"], "c-1" in str(state)) == ("Claude", False)
        await viewer.send("watch", tiles={"shop": {"width": 320, "fps": 4}}, page=None)
        await viewer.until(lambda message: message["type"] == "frame" and message["picture"][:2] == b"\xff\xd8")
        asked = await claude.call("request_human", pageId="shop", kind="other", message="Help.", timeout=1)
        patch = await viewer.until(lambda message: message.get("requests"))
        assert (patch["requests"][0]["message"], patch["requests"][0]["askedBy"]) == ("Help.", "Claude")
        await claude.call("request_human", pageId="shop", requestId=asked["requestId"], withdraw=True)
        await claude.call("close_page", pageId="shop")
        await viewer.until(lambda message: message.get("pages", {}).get("shop", 0) is None)


async def test_arrivals_and_departures_of_clients_are_shown_at_once(running: RunningService) -> None:
    def here(*names: str) -> Callable[[dict[str, AnyJson]], bool]:
        def holds(message: dict[str, AnyJson]) -> bool:
            agents = message.get("agents")
            return agents is not None and [each["label"] for each in agents if each["since"]] == [*names]

        return holds

    async with seat(running) as viewer:
        await viewer.until(here())
        async with connected(running, "c-9", "Quill") as quill, present(running, quill):
            await viewer.until(here("Quill"))
        await viewer.until(here())


@pytest.mark.usefixtures("claude")
async def test_a_file_is_accepted_from_the_walls_own_page_but_not_from_a_reader(
    running: RunningService,
) -> None:
    for read_only, proof, status in ((False, "guessed", 403), (True, "", 403), (False, "", 200)):
        cookie, own = await entered(running, read_only=read_only)
        headers = {PROOF: proof or own, "Content-Type": "application/octet-stream"}
        cookies = {door(running).cookie: cookie}
        async with httpx.AsyncClient(base_url=running.base_url, trust_env=False, cookies=cookies) as http:
            reply = await http.put(WALL_GIVEN, content=b"abc", headers=headers)
            foreign = await http.put(WALL_GIVEN, content=b"abc", headers={**headers, "Origin": "http://127.0.0.1:1"})
        assert (reply.status_code, foreign.status_code) == (status, 403)
    file = {"artifactId": reply.json()["result"]["artifactId"], "name": "a.txt"}
    async with seat(running) as person:
        assert "not in your hands" in (await person.ask("files", pageId="shop", files=[file]))["reason"]
        await person.call("take_over", pageId="shop")
        assert "asks for no files" in (await person.ask("files", pageId="shop", files=[file]))["reason"]
        await person.call("give_back", pageId="shop")
    assert not await running.parts.journal.read("SELECT 1 FROM artifacts WHERE artifact_id = ?", file["artifactId"])


async def test_a_reader_sees_a_lock_on_private_pages_and_can_do_nothing(
    running: RunningService, claude: Agent, site: Site
) -> None:
    await claude.call("goto", pageId="own", url=site.page("/own", "<title>Own</title>"))
    await claude.call("share_page", pageId="own", access="private")
    async with seat(running, read_only=True) as viewer, seat(running) as person:
        state = await viewer.until(with_page("own", locked=True))
        assert "/own" not in str(state)
        seen = await person.until(with_page("own"))
        assert "/own" in str(seen)
        assert (state["agents"][0]["last"], seen["agents"][0]["last"]["action"]) == (None, "share_page")
        assert (state["threads"], "threads" in seen) == ({}, True)
        await viewer.send("watch", tiles={"own": {}, "shop": {}}, page="own")
        frame = await viewer.until(lambda message: message["type"] == "frame")
        assert frame["pageId"] == "shop"
        for action in ("take_over", "give_back", "close_page", "tell_agent", "halt_agent", "content", "open_page", ""):
            assert "read-only" in (await viewer.call(action, pageId="shop"))["reason"]
        for kind, more in (("give", {"to": "own"}), ("point", {"at": {"x": 1, "y": 1}}), ("files", {"files": []})):
            assert "read-only" in (await viewer.ask(kind, pageId="shop", **more))["reason"]
        await viewer.send("input", pageId="shop", made=[{"do": "key", "key": "Enter"}])
        assert "read-only" in (await viewer.until(lambda message: message["type"] == "refused"))["reason"]
        assert "private" in (await viewer.call("get_console_messages", pageId="own"))["reason"]
        assert (await viewer.call("get_network_log", pageId="shop", format="records"))["result"]["requests"]
    await claude.call("click", pageId="shop", selector="button")


async def test_a_page_is_given_to_the_one_that_is_meant_of_several_chats_of_one_program(
    running: RunningService, claude: Agent
) -> None:
    def both(message: dict[str, AnyJson]) -> bool:
        return [each["label"] for each in message.get("agents") or () if each["since"]] == ["Zed", "Zed 2"]

    began = time.time()
    async with (
        seat(running) as person,
        connected(running, "c-21", "Zed") as one,
        connected(running, "c-22", "Zed") as other,
        present(running, one),
        present(running, other),
    ):
        agents = (await person.until(both))["agents"]
        assert "c-2" not in str(agents)
        assert all(began - 1 < each["since"] < time.time() + 1 for each in agents if each["since"])
        zeds = [each for each in agents if each["label"].startswith("Zed")]
        assert zeds[0]["colour"] != zeds[1]["colour"]
        for chat, none in ((one, other), (other, one)):
            (meant,) = [each for each in zeds if each["to"] == handle_of(chat.client_id)]
            assert f'belongs to "{meant["label"]}"' in str(await person.ask("give", pageId="shop", to=meant["to"]))
            assert (await none.error("click", pageId="shop", selector="button"))["code"] == "PAGE_OWNED"
            await chat.call("click", pageId="shop", selector="button")
        await other.call("hand_over_page", pageId="shop", to="Claude")
        await claude.call("click", pageId="shop", selector="button")


async def test_a_persons_acts_at_the_wall_are_done_and_recorded_as_theirs(
    running: RunningService, claude: Agent, site: Site
) -> None:
    async with seat(running) as person, connected(running, "c-2", "Codex") as codex:
        await codex.call("goto", pageId="own", url=site.url("/shop"))
        await person.send("input", pageId="shop", made=[{"do": "down", "x": 5, "y": 5}])
        refused = await person.until(lambda message: message["type"] == "refused")
        assert (refused["code"], refused["reason"]) == ("HUMAN_IN_CONTROL", "shop is not in your hands.")
        assert "called 'nobody'" in (await person.ask("give", pageId="shop", to="nobody"))["reason"]
        await claude.call("click", pageId="shop", selector="button")
        assert "is stopped" in str(await person.call("take_over", pageId="shop", stop=True))
        assert (await claude.error("click", pageId="shop", selector="button"))["code"] == "HUMAN_IN_CONTROL"
        assert "its agent's again" in str(await person.call("give_back", pageId="shop"))
        await claude.call("click", pageId="shop", selector="button")
        assert 'belongs to "Codex"' in str(await person.ask("give", pageId="shop", to="own"))
        await codex.call("click", pageId="shop", selector="button")
        await person.send("watch", tiles={}, page="shop")
        timeline = await person.until(lambda message: message["type"] == "timeline" and message["rows"])
        assert [row["client"] for row in timeline["rows"]][-1] == "Codex"
        assert (await person.call("take_over", pageId="shop", stop=True))["type"] == "done"
        assert (await person.call("close_page", pageId="shop"))["type"] == "done"
        assert (await codex.error("content", pageId="shop"))["code"] == "PAGE_NOT_FOUND"
        acts = [row["action"] for row in await recorded(codex, client="ana")]
        assert acts[:4] == ["close_page", "take_over", "give_back", "hand_over_page"]
        assert "no page" in (await person.call("close_page", pageId="shop"))["reason"].lower()


async def test_the_wall_renames_by_the_handle(running: RunningService) -> None:
    async with connected(running, "c-31", "Amp") as agent, seat(running) as viewer:
        await agent.call("open_page", pageId="amp")
        await viewer.send("rename", id=7, agent=handle_of("c-31"), name="Mail")
        await viewer.until(lambda message: "Mail" in [each["label"] for each in message.get("agents") or ()])
        await agent.call("close_page", pageId="amp")

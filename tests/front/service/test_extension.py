"""Tests the extension's socket: who gets in, what its token can do, and that nonsense is refused with a reason."""

import base64
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import browser_service
from browse_together.contract.wire import EXTENSION_ID, VERSION
from tests.support.extension import dialled, paired, pairing_link, strip
from tests.support.json import AnyJson
from tests.support.listening import connected, listening, present
from tests.support.service import RunningService
from tests.support.wall import Seat

pytestmark = pytest.mark.anyio

_FOLDER = Path(browser_service.__file__).parent / "extension"


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("extension")) as service:
        yield service


async def refusal(extension: Seat) -> str:
    """Return why the connection is ended."""
    refused = await extension.until(lambda message: message["type"] == "refused" and "number" not in message)
    with pytest.raises(ConnectionClosed):
        await extension.socket.recv()
    return f"{refused['reason']} {refused['hint']}"


async def asked(extension: Seat, kind: str, **message: AnyJson) -> dict[str, AnyJson]:
    await extension.send(kind, number=3, **message)
    return await extension.until(lambda answer: answer.get("number") == 3)


def test_the_manifest_gives_the_extension_the_id_that_the_service_lets_in() -> None:
    manifest = json.loads((_FOLDER / "manifest.json").read_text("utf-8"))
    digest = hashlib.sha256(base64.b64decode(manifest["key"])).hexdigest()
    assert "".join(chr(ord("a") + int(each, 16)) for each in digest[:32]) == EXTENSION_ID
    assert manifest["version"] == VERSION


async def test_pages_agents_and_other_extensions_are_kept_out(running: RunningService) -> None:
    for origin in ("https://shop.example", f"chrome-extension://{'a' * 32}", "null"):
        with pytest.raises(InvalidStatus) as page:
            async with dialled(running, origin):
                pass
        assert page.value.response.status_code == 403
    for other in (running.base_url, None):
        async with dialled(running, other) as program:
            assert "the extension's own socket" in await refusal(program)
    agent = await pairing_link(running, operator=False)
    assert (agent.status_code, agent.json()["error"]["hint"]) == (403, "browse-together extension")


async def test_a_link_pairs_once_with_a_token_that_opens_nothing_else(running: RunningService) -> None:
    link = (await pairing_link(running)).json()["result"]["url"]
    code = link.rpartition("#")[2]
    async with dialled(running) as extension:
        await extension.send("pair", code=code)
        kept = await extension.until(lambda message: message["type"] == "paired")
    async with dialled(running) as extension:
        await extension.send("pair", code=code)
        assert "used already" in await refusal(extension)
    headers = {"Authorization": f"Bearer {kept['token']}"}
    async with httpx.AsyncClient(base_url=running.base_url, headers=headers, trust_env=False) as http:
        for path in ("/api/browser/pages", "/api/tabs", "/api/activity", "/api/tokens"):
            assert (await http.get(path)).status_code == 401, path
    async with strip(running, kept) as extension, connected(running, "c-1", "Claude") as claude:
        async with present(running, claude):
            state = await extension.until(lambda said: any(each["present"] for each in said.get("agents") or ()))
            (agent,) = state["agents"]
            assert (agent["label"], "c-1" in str(state)) == ("Claude", False)
        for wrong in ("{", '{"type": "run"}', '{"type": "move", "number": 1, "target": "../x", "to": ""}'):
            async with strip(running, kept) as other:
                await other.socket.send(wrong)
                assert "none of the extension's" in await refusal(other)


async def test_a_tab_that_the_browser_did_not_name_cannot_be_asked_for(running: RunningService) -> None:
    async with strip(running, await paired(running)) as extension:
        for kind, more in (("move", {"to": "~000000000000"}), ("move", {"to": ""}), ("stop", {})):
            refused = await asked(extension, kind, target="A" * 32, **more)
            assert (refused["type"], refused["reason"]) == ("refused", "This browser has no such tab.")
        await extension.send("here", targets=["A" * 32])
        assert (await asked(extension, "move", target="A" * 32, to=""))["type"] == "done"
        refused = await asked(extension, "move", target="A" * 32, to="*")
        assert (refused["reason"], refused["hint"]) == (
            "No browser of yours is attached to.",
            "browse-together attach chrome",
        )


async def test_a_revoked_token_ends_the_connection_and_admits_nobody(running: RunningService) -> None:
    kept = await paired(running)
    async with strip(running, kept) as extension:
        await extension.until(lambda message: message["type"] == "state")
        await running.parts.administration.revoke_token(kept["id"])
        assert "browse-together extension" in await refusal(extension)
    async with strip(running, kept) as extension:
        assert "was revoked" in await refusal(extension)
    forged = {**kept, "token": kept["token"][:-4] + "AAAA"}
    async with strip(running, forged) as extension:
        assert "not valid here" in await refusal(extension)


async def test_a_request_is_answered_from_the_popup_once(running: RunningService) -> None:
    async with connected(running, "c-1", "Claude") as claude, strip(running, await paired(running)) as extension:
        await claude.call("open_page", pageId="shop")
        question = {"pageId": "shop", "kind": "decision", "message": "Which?", "choices": ["red", "blue"]}
        wanted = await claude.call("request_human", timeout=1, **question)
        told = await extension.until(lambda message: message.get("requests"))
        shown = {"requestId": wanted["requestId"], "message": "Which?", "choices": ["red", "blue"]}
        assert told["requests"][0].items() >= shown.items()
        said = {"requestId": wanted["requestId"], "state": "done", "answer": "blue"}
        assert (await asked(extension, "answer", **said))["type"] == "done"
        answered = await claude.call("request_human", pageId="shop", requestId=wanted["requestId"])
        assert "It says: blue" in answered["observed"]
        assert (await asked(extension, "answer", **said))["type"] == "refused"

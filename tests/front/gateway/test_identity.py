"""Tests who a gateway is: its client id, its label, its token."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import jwt
import pytest
from mcp import Client
from mcp.types import Implementation, TextContent
from starlette.responses import Response

from browse_together.client.caller import Caller, folder_name, on_behalf_of
from browse_together.client.credentials import Credentials, mint
from browse_together.contract import wire
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from mcp_gateway.settings import Settings
from tests.support.gateway_fixtures import SECRET, connection_to
from tests.support.standin import Seen, StandIn, echo, failure
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

OTHER_SECRET = "another secret of forty-eight characters, about"


@pytest.fixture
def identity(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Credentials]:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)

    def make(**settings: object) -> Credentials:
        return credentials(Settings.model_validate({"data_dir": data_dir, **settings}))

    return make


def claims(identity: Credentials) -> dict[str, object]:
    token = identity.headers()["Authorization"].removeprefix("Bearer ")
    read: dict[str, object] = jwt.decode(token, SECRET, [wire.TOKEN_ALGORITHM], audience=wire.TOKEN_AUDIENCE)
    return read


def test_a_given_client_id_comes_first(identity: Callable[..., Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "chat-1")
    assert identity(client_id="mine").client_id == "mine"


def test_the_hosts_chat_id_comes_next(identity: Callable[..., Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "chat-1")
    assert identity().client_id == "claude-code:chat-1"


@pytest.mark.parametrize("odd", ["", "a b", "x" * 200])
def test_without_a_usable_one_each_process_is_somebody_else(
    identity: Callable[..., Credentials], monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", odd)
    first, second = identity(), identity()
    assert first.client_id.startswith("gw-")
    assert len(first.client_id) == 15
    assert first.client_id != second.client_id


def test_the_token_says_who_for_whom_and_how_long(identity: Callable[..., Credentials]) -> None:
    said = claims(identity(client_id="mine"))
    issued = said["iat"]
    assert isinstance(issued, int)
    assert said == {"sub": "mine", "label": "gateway", "aud": "browse-together", "iat": issued, "exp": issued + 86_400}


def test_a_token_is_kept_for_half_a_day(identity: Callable[..., Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    me = identity()
    minted = me.headers()
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 11 * 3600)
    assert me.headers() == minted
    monkeypatch.setattr("time.time", lambda: now + 13 * 3600)
    assert me.headers() != minted


def test_a_new_label_is_in_the_next_token(identity: Callable[..., Credentials]) -> None:
    me = identity()
    me.headers()
    me.introduce("Claude \n Code " + "x" * 100)
    assert claims(me)["label"] == "Claude Code " + "x" * 48


def test_a_given_token_is_sent_as_it_is(identity: Callable[..., Credentials], tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" from-file \n", encoding="ascii")
    assert identity(token="given").headers() == {"Authorization": "Bearer given"}
    assert identity(token_file=tmp_path / "token").headers() == {"Authorization": "Bearer from-file"}


def test_without_a_secret_none_is_made(identity: Callable[..., Credentials], tmp_path: Path) -> None:
    assert "Authorization" not in identity(data_dir=tmp_path / "none").headers()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("title", "label"), [("Claude Desktop", "Claude Desktop"), (None, "claude-ai")])
async def test_the_label_is_what_the_host_calls_itself(
    connection: Connection, standin: StandIn, title: str | None, label: str
) -> None:
    client_info = Implementation(name="claude-ai", title=title, version="1")
    async with Client(connection.server(), client_info=client_info) as client:
        await client.call_tool("list_pages", {})
    assert claims(connection.chats.own.service.credentials)["label"] == label
    token = (await standin.call()).headers["authorization"].removeprefix("Bearer ")
    assert jwt.decode(token, SECRET, ["HS256"], audience=wire.TOKEN_AUDIENCE)["label"] == label


async def test_after_a_refusal_the_secret_is_read_once_more(connection: Connection, standin: StandIn) -> None:
    async def check(seen: Seen) -> Response:
        try:
            jwt.decode(seen.headers["authorization"][7:], OTHER_SECRET, ["HS256"], audience=wire.TOKEN_AUDIENCE)
        except jwt.InvalidTokenError:
            return failure("UNAUTHORIZED", "The token is not valid here.", 401)
        return await echo(seen)

    standin.answer = check
    async with Client(connection.server()) as client:
        assert (await client.call_tool("list_pages", {})).is_error
        assert standin.calls.qsize() == 2
        secret_file = connection.settings.data_dir / wire.SECRET_FILE
        secret_file.write_text(OTHER_SECRET, encoding="ascii")
        standin.secret = OTHER_SECRET
        assert not (await client.call_tool("list_pages", {})).is_error
    attempts = [(await standin.call()).headers["x-browse-attempt"] for _ in range(4)]
    assert attempts == ["1"] * 4


@pytest.mark.parametrize("damaged", [b"", b"\xff\xfe"])
async def test_a_secret_that_makes_no_token_is_the_reply_until_there_is_a_new_one(
    connection: Connection, standin: StandIn, damaged: bytes
) -> None:
    secret_file = connection.settings.data_dir / wire.SECRET_FILE
    async with asyncio.timeout(PATIENCE_S), Client(connection.server()) as client:
        await standin.stream()
        secret_file.write_bytes(damaged)
        connection.chats.own.service.credentials.forget()
        standin.end_streams()
        refused = await client.call_tool("list_pages", {})
        assert refused.is_error
        assert isinstance(refused.content[0], TextContent)
        assert str(secret_file) in refused.content[0].text
        assert "Remove it and restart the service" in refused.content[0].text
        assert standin.calls.empty()
        secret_file.write_text(OTHER_SECRET, encoding="ascii")
        standin.secret = OTHER_SECRET
        assert not (await client.call_tool("list_pages", {})).is_error
        for headers in ((await standin.call()).headers, await standin.stream()):
            token = headers["authorization"].removeprefix("Bearer ")
            jwt.decode(token, OTHER_SECRET, ["HS256"], audience=wire.TOKEN_AUDIENCE)


async def test_a_chat_whose_call_runs_stays_when_many_others_come(standin: StandIn, data_dir: Path) -> None:
    settings = Settings(url=standin.url, data_dir=data_dir, autostart=False)
    chats = connection_to(settings).chats
    waiting, silent = (chats.find({"vscode.conversationId": name}) for name in ("waits==", "silent"))
    with waiting.listening("c1", report, print):
        others = [chats.find({"vscode.conversationId": f"other-{n}"}) for n in range(31)]
        assert chats.find({"vscode.conversationId": "waits=="}) is waiting
        assert chats.find({"vscode.conversationId": "other-30"}) is others[-1]
        assert chats.find({"vscode.conversationId": "silent"}) is not silent
    ids = {chat.service.credentials.client_id for chat in (chats.own, waiting, silent, *others)}
    assert len(ids) == 34  # whatever characters their hosts' names have
    chats.leave()


async def report(progress: float, total: float | None, text: str) -> None:
    raise AssertionError((progress, total, text))


async def test_a_token_of_a_name_is_shared_by_chats_of_their_own_and_shortens_every_list(
    identity: Callable[..., Credentials], data_dir: Path, standin: StandIn
) -> None:
    limits = {wire.TOKEN_NAME: "reader", wire.TOKEN_LIMITS: {"readOnly": True, "toolsets": ["reading", "pages"]}}
    token = mint(SECRET, "token:reader", "reader", claims=limits)
    headers = [identity(token=token).headers() for _ in range(2)]
    assert {each["Authorization"] for each in headers} == {f"Bearer {token}"}
    assert len({each[wire.CHAT] for each in headers}) == 2
    assert wire.CHAT not in identity(token=mint(SECRET, "plain")).headers()
    given = {"data_dir": data_dir, "url": standin.url, "token": token, "autostart": False}
    async with Client(connection_to(Settings.model_validate(given)).server()) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"content", "snapshot", "find", "list_pages", "open_page", "close_page", "help", "call_tool"}
        uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert uris == {"browse://pages", "pages://"}
        assert (await client.list_resource_templates()).resource_templates == []


@pytest.mark.parametrize(
    ("given", "folder", "label"),
    [("", "invoices", "claude-ai · invoices"), ("The books", "invoices", "The books"), ("", "", "claude-ai")],
)
async def test_a_chat_is_called_by_its_host_and_folder_or_as_the_settings_say(
    connection: Connection, given: str, folder: str, label: str
) -> None:
    connection.settings.name, connection.chats.own.folder = given, folder
    async with Client(connection.server(), client_info=Implementation(name="claude-ai", version="1")) as client:
        await client.call_tool("list_pages", {})
    assert claims(connection.chats.own.service.credentials)["label"] == label


def test_a_home_is_no_folder_that_somebody_chose(tmp_path: Path) -> None:
    def name_in(folder: Path) -> str:
        here = Caller({"HOME": str(tmp_path)}, folder, lambda _: None, 0.0)
        with on_behalf_of(here):
            return folder_name()

    (tmp_path / "invoices").mkdir()
    folders = [tmp_path / "invoices", tmp_path, Path("/"), tmp_path / "gone"]
    assert [name_in(folder) for folder in folders] == ["invoices", "", "", ""]

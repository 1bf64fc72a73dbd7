"""Tests that there are no side doors: whatever names another's page or session is refused, at every door, and changes
nothing.

The attempts are made from the catalogue: each action, through each of its arguments that can name a page or a
session.

It is longer than 300 lines because it has each action with all that it can be aimed at, in one table.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
from mcp import Client
from typer.testing import CliRunner

from browse_together.client.credentials import mint
from browse_together.contract import catalogue, wire
from browse_together.contract.actions.base import Action, WideAct
from browse_together.contract.actions.combining import Batch, is_separate_call
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.ownership import HandOverPage
from browse_together.contract.actions.pages import OpenPage
from browse_together.contract.actions.traits import Claim, Effect, Scope, Unaddressed
from browse_together.contract.schema import full_schema
from browser_service.cli.root import app
from examples.processes import ServiceProcess
from tests.support.bodies import smallest
from tests.support.gateways import chat, service_process, text_of
from tests.support.json import AnyJson
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

Arguments = dict[str, AnyJson]
Door = Callable[[str, Arguments], Awaitable[str]]
"""Takes an action and its arguments; returns everything that the intruder learns."""

SECRET = "the-secret-of-alice"
HOLD, AGENT = "waiting-for-the-doctor", "nurse-of-alice"
PAGE = f"""<title>{SECRET}</title><h1>{SECRET}</h1><input id=a><select id=s><option>1</select>
<input id=c type=checkbox><button id=b onclick="window.open('/popup')">b</button>"""
PUBLIC = PAGE.replace(SECRET, "cart")
READABLE, PRIVATE, INSIDE, SESSION = "cart", "diary", "inside", "vault"
POPUP = f"{READABLE}~1"
LISTINGS = {"list_pages", "list_sessions", "get_activity"}
"""Actions that may name what is another's, but reveal nothing private of it."""
NAME_NOTHING = {*LISTINGS, "create_session", "save_flow"}
"""Actions whose arguments need not name a thing of Alice's: a new thing's name is refused if it is taken, and a flow is
saved of the caller's own calls alone."""
OPENERS: tuple[Arguments, ...] = (
    {"expectUrl": "*/diary"},
    {"expectUrl": "*"},
    {"ifRevision": 1},
    {"reason": "The user asked for this very page."},
    {"waitSeconds": 1, "reason": "It is urgent."},
    {"affectOthers": True},
    {"confirm": True},
    {"as": AGENT},
    {"params": {"expectUrl": "*/diary"}},
    {"cursor": "art-nobodys:0"},
)
"""Arguments that could open a private page, or confirm a guess about it."""
TELLING = (SECRET, "/diary", HOLD, AGENT)
"""What only Alice may read of the private page."""


@dataclass
class Scene:
    """Alice's pages and session, and the doors by which Mallory tries them."""

    alice: Client
    site: Site
    doors: dict[str, Door]
    intruder: httpx.AsyncClient

    async def facts(self) -> str:
        """Return all that could have changed."""
        found = [await self.told("list_pages", {}), await self.told("list_sessions", {})]
        for page_id in (READABLE, POPUP, PRIVATE, INSIDE):
            found += [await self.told(action, {"pageId": page_id}) for action in ("content", "get_current_url")]
        found.append(await self.told("get_cookies", {"sessionId": SESSION}))
        counts = {path: count for path, count in self.site.counts.items() if path != "/favicon.ico"}
        return json.dumps([*found, counts])

    async def told(self, action: str, arguments: Arguments) -> str:
        result = await self.alice.call_tool(action, arguments)
        assert not result.is_error, text_of(result)
        return json.dumps(_lasting(result.structured_content))


_BY_ITSELF = {"actedMsAgo", "heldMsMore", "notices"}


def _lasting(value: AnyJson) -> AnyJson:
    """Return the value without what changes by itself: when somebody acted last, which the lines of a list say too."""
    if isinstance(value, dict):
        return {name: _lasting(item) for name, item in value.items() if name not in _BY_ITSELF}
    if isinstance(value, str):
        return re.sub(r"acted \d+ s ago|held for \d+ min more", "", value)
    return [_lasting(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def own_site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory, own_site: Site) -> AsyncIterator[Scene]:
    site = own_site
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(_service(tmp_path_factory.mktemp("data")))
        alice = await stack.enter_async_context(chat(service, "Alice", BROWSE_STRUCTURED="true"))
        mallory = await stack.enter_async_context(chat(service, "Mallory", BROWSE_STRUCTURED="true"))
        site.page("/cart", PUBLIC)
        site.page("/popup", PUBLIC)
        site.page("/diary", PAGE)
        site.page("/vault", Answer(PAGE, headers={"set-cookie": f"token={SECRET}; Path=/"}))
        for action, arguments in (
            ("goto", {"pageId": READABLE, "url": site.url("/cart")}),
            ("click", {"pageId": READABLE, "selector": "#b"}),
            ("goto", {"pageId": PRIVATE, "url": site.url("/diary"), "as": AGENT}),
            ("hold_page", {"pageId": PRIVATE, "reason": HOLD, "minutes": 60}),
            ("share_page", {"pageId": PRIVATE, "access": "private"}),
            ("create_session", {"sessionId": SESSION}),
            ("goto", {"sessionId": SESSION, "pageId": INSIDE, "url": site.url("/vault")}),
        ):
            result = await alice.call_tool(action, arguments)
            assert not result.is_error, text_of(result)
        http = await stack.enter_async_context(_http(service))
        doors = {"mcp": _by_mcp(mallory), "http": _by_http(http), "cli": _by_cli(service)}
        doors |= {f"call_tool by {name}": _through(door) for name, door in doors.items()}
        yield Scene(alice, site, doors, http)


def _service(data_dir: Path) -> AbstractAsyncContextManager[ServiceProcess]:
    """Start a service without a limit on calls, because these tests make more than an agent does in a minute."""
    return service_process(data_dir, BROWSE_CLIENT_CALLS_PER_MINUTE="0")


def _http(service: ServiceProcess) -> httpx.AsyncClient:
    secret = (service.data_dir / wire.SECRET_FILE).read_text(encoding="ascii").strip()
    token = mint(secret, "mallory-by-http", "Mallory")
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=service.url, headers=headers, timeout=60, trust_env=False)


def _by_mcp(client: Client) -> Door:
    async def call(action: str, arguments: Arguments) -> str:
        result = await client.call_tool(action, arguments)
        shown = text_of(result) + json.dumps(result.structured_content or {})
        return shown if result.is_error else f"SUCCESS {shown}"

    return call


def _by_http(client: httpx.AsyncClient) -> Door:
    async def call(action: str, arguments: Arguments) -> str:
        reply = await client.post(wire.BROWSER, json={"action": action, **arguments})
        return f"SUCCESS {reply.text}" if reply.json()["success"] else reply.text

    return call


def _by_cli(service: ServiceProcess) -> Door:
    environment = {"BROWSE_DATA_DIR": str(service.data_dir), "BROWSE_CLIENT_ID": "mallory-by-cli"}

    async def call(action: str, arguments: Arguments) -> str:
        options: list[str] = []
        for name, value in arguments.items():
            if isinstance(value, bool):
                options.append(f"--{name}")
            else:
                options += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
        invoke = partial(CliRunner().invoke, app, ["run", action, *options], env=environment)
        run = await asyncio.to_thread(invoke)  # a command has an event loop of its own
        shown = run.stdout + run.stderr
        return f"SUCCESS {shown}" if run.exit_code == 0 else shown

    return call


def _through(door: Door) -> Door:
    async def call(action: str, arguments: Arguments) -> str:
        return await door(CallTool.name(), {"name": action, "arguments": arguments})

    return call


# --- the attempts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempt:
    action: type[Action]
    way: str
    """The arguments, as JSON, by which the action names what is Alice's."""
    codes: frozenset[str]
    carrier: type[Action] | None = None
    """The action that carries it, if any."""
    beside: str = "{}"
    """The arguments, as JSON, by which the carrier names what is Alice's."""
    after: str = ""
    """An action before it in its batch, which makes each of them a separate call."""

    def __str__(self) -> str:
        within = f" within {self.carrier.name()} {self.beside} {self.after}" if self.carrier else ""
        return f"{self.action.name()} {self.way}{within}"

    @property
    def refusals(self) -> frozenset[str]:
        """Return the error codes that may refuse it. Actions for people are forbidden to agents whatever they name."""
        return self.codes | {"FORBIDDEN"} if self.action.claim >= Claim.BY_PERSON else self.codes

    def call(self) -> tuple[str, Arguments]:
        arguments = smallest(self.action, **json.loads(self.way))
        if self.action is HandOverPage:
            arguments["to"] = "Alice"
        if self.carrier is None:
            return self.action.name(), arguments
        part = {"action": self.action.name(), **arguments}
        before = [{"action": self.after}] if self.after else []
        (name,) = self.carrier.part_fields
        several = full_schema(self.carrier)["properties"][name]["type"] == "array"  # type: ignore[index,call-overload] # a schema has properties
        return self.carrier.name(), smallest(
            self.carrier, **{name: [*before, part] if several else part}, **json.loads(self.beside)
        )


def attempts() -> list[Attempt]:
    """Return, for every action, each way to name each of Alice's things, and how that must be answered."""
    found = []
    for action in catalogue.ACTIONS.values():
        if action.scope is Scope.PAGE:
            if action.effect is not Effect.READS:
                found += _ways(action, [READABLE, POPUP], "PAGE_OWNED")
            found += _ways(action, [PRIVATE], "PAGE_OWNED")
            found += _ways(action, [INSIDE], "FORBIDDEN")
        if "session_id" in action.id_fields and action.name() not in LISTINGS:
            found.append(Attempt(action, json.dumps({"sessionId": SESSION}), frozenset({"FORBIDDEN"})))
    return found


def carried_attempts() -> list[Attempt]:
    """Return the same attempts inside every action that carries others."""
    found = []
    for carrier in (one for one in catalogue.ACTIONS.values() if one.part_fields):
        for action in catalogue.ACTIONS.values():
            if action is CallTool:
                found.append(Attempt(action, "{}", frozenset({"PAGE_OWNED"}), carrier, _page(READABLE)))
            elif not _may_be_in(carrier, action):
                found.append(Attempt(action, "{}", frozenset({"VALIDATION_ERROR"}), carrier, _page(READABLE)))
            elif action.scope is Scope.PAGE:
                found += _carried(carrier, action, "")
                found += _carried(carrier, action, "list_pages") if carrier is Batch else []
            elif "session_id" in action.id_fields and action.name() not in LISTINGS:
                vault = json.dumps({"sessionId": SESSION})
                found.append(Attempt(action, vault, frozenset({"FORBIDDEN"}), carrier))
    return found


def _may_be_in(carrier: type[Action], action: type[Action]) -> bool:
    if carrier is Batch:
        return action is not Batch and not action.asks_person
    return action.scope is Scope.PAGE and not (is_separate_call(action) or action.part_fields)


def _carried(carrier: type[Action], action: type[Action], after: str) -> list[Attempt]:
    """Return attempts in which the part names the thing, and the carrier too where it names the part's page."""
    found = []
    inherits = action is not OpenPage and action.unaddressed is not Unaddressed.OWN_PAGE
    for page_id, code in {READABLE: "PAGE_OWNED", PRIVATE: "PAGE_OWNED", INSIDE: "FORBIDDEN"}.items():
        if page_id == READABLE and action.effect is Effect.READS:
            continue
        codes = frozenset({code})
        found += [Attempt(action, "{}", codes, carrier, _page(page_id), after)] if inherits else []
        found.append(Attempt(action, _page(page_id), codes, carrier, after=after))
    vault = json.dumps({"sessionId": SESSION})
    return [*found, Attempt(action, vault, frozenset({"FORBIDDEN"}), carrier, after=after)]


def _page(page_id: str) -> str:
    return json.dumps({"pageId": page_id})


def _ways(action: type[Action], pages: list[str], code: str) -> list[Attempt]:
    ways: list[Arguments] = []
    for page_id in pages:
        ways += [{"pageId": page_id}, {"params": {"pageId": page_id}}]
        if "~" not in page_id:
            ways.append({"sessionId": page_id})
    return [Attempt(action, json.dumps(way), frozenset({code})) for way in ways]


async def _try_all(scene: Scene, door: str, chosen: list[Attempt]) -> None:
    before = await scene.facts()
    told: list[str] = []
    for attempt in chosen:
        answer = await scene.doors[door](*attempt.call())
        assert not answer.startswith("SUCCESS"), (str(attempt), answer)
        assert any(code in answer for code in attempt.refusals), (str(attempt), answer)
        told.append(answer)
    assert not [word for word in (SECRET, "/diary", HOLD, AGENT) if word in "\n".join(told)]
    assert await scene.facts() == before


@pytest.mark.parametrize("door", ["http", "mcp"])
async def test_no_argument_of_any_action_reaches_another_clients_things(scene: Scene, door: str) -> None:
    chosen = attempts()
    assert len({attempt.action for attempt in chosen}) > 30
    assert len(chosen) > 150
    if door == "mcp":  # whose calls go on by HTTP: what the gateway adds is the same for all that name the same
        chosen = [*{(each.action, *json.loads(each.way)): each for each in chosen}.values()]
    async with asyncio.timeout(240):
        await _try_all(scene, door, chosen)


@pytest.mark.parametrize("door", ["http", "mcp", "cli"])
async def test_no_argument_opens_or_reveals_a_private_page(scene: Scene, door: str) -> None:
    """Each action on it with each argument that it has of those, and each act on its whole session."""
    chosen = [*_openings(), *_wide_acts()]
    assert len(chosen) > 200
    if door == "mcp":
        chosen = [
            *{(each.action, *json.loads(each.way)): each for each in chosen if "expectUrl" not in each.way}.values()
        ]
    if door == "cli":
        chosen = [each for each in chosen if "params" not in each.way][::8]
    before = await scene.facts()
    async with asyncio.timeout(240):
        answers = {str(each): await scene.doors[door](*each.call()) for each in chosen}
    told = {attempt: [word for word in TELLING if word in answer] for attempt, answer in answers.items()}
    assert not {attempt: words for attempt, words in told.items() if words}
    wrong = {str(each): answers[str(each)] for each in chosen if not _is_refused(each, answers[str(each)])}
    assert not wrong
    assert await scene.facts() == before


def _is_refused(attempt: Attempt, answer: str) -> bool:
    return not answer.startswith("SUCCESS") and any(code in answer for code in attempt.refusals)


def _openings() -> Iterator[Attempt]:
    """Yield each action on the private page, with each of the arguments that could open it."""
    for action in catalogue.ACTIONS.values():
        known = {*full_schema(action)["properties"]}  # type: ignore[misc] # a schema has properties
        for more in OPENERS if action.scope is Scope.PAGE else ():
            fits = "params" in more or known.issuperset(more)
            if fits and not ("cursor" in more and "cursor" in known):
                yield Attempt(action, json.dumps({"pageId": PRIVATE, **more}), frozenset({"PAGE_OWNED"}))


def _wide_acts() -> Iterator[Attempt]:
    """Yield each act on the whole session of the private page that is refused while others are there."""
    for action in catalogue.ACTIONS.values():
        if action.scope is not Scope.SESSION or not (issubclass(action, WideAct) or action.shows_all_pages):
            continue
        codes = {"AFFECTS_OTHERS", "FORBIDDEN", "VALIDATION_ERROR", "STATE_NOT_FOUND", "INVALID_REQUEST"}
        yield Attempt(action, json.dumps({"sessionId": "default"}), frozenset(codes))
        if action.shows_all_pages and issubclass(action, WideAct):
            wide = json.dumps({"sessionId": "default", "affectOthers": True})
            yield Attempt(action, wide, frozenset({"FORBIDDEN"}))


@pytest.mark.parametrize("door", ["http", "mcp"])
async def test_nor_does_any_action_within_another(scene: Scene, door: str) -> None:
    chosen = carried_attempts()
    assert {attempt.carrier for attempt in chosen} == {one for one in catalogue.ACTIONS.values() if one.part_fields}
    assert len(chosen) > 100
    if door == "mcp":  # as above: here each action once in each carrier
        chosen = [*{(each.carrier, each.action, each.after): each for each in chosen}.values()]
    async with asyncio.timeout(240):
        await _try_all(scene, door, chosen)


@pytest.mark.parametrize("door", ["http", "mcp"])
async def test_nor_does_call_tool(scene: Scene, door: str) -> None:
    """Whatever is called through it, which is all that there is, or is carried by what is."""
    chosen = [each for each in attempts() if json.loads(each.way).keys() == {"pageId"}]
    carried = [*{(each.carrier, each.action): each for each in carried_attempts()}.values()]
    if door == "mcp":
        chosen, carried = [*{each.action: each for each in chosen}.values()], carried[::10]
    async with asyncio.timeout(240):
        await _try_all(scene, f"call_tool by {door}", [*chosen, *carried])


async def test_nor_does_the_command_line(scene: Scene) -> None:
    """In this process, each action by its plainest way: the body is made by the same code for all."""
    chosen = [attempt for attempt in attempts() if json.loads(attempt.way).keys() == {"pageId"}]
    async with asyncio.timeout(240):
        await _try_all(scene, "cli", chosen)
        await _try_all(scene, "call_tool by cli", chosen[::10])


async def test_nor_does_a_path_that_names_one_page_with_a_body_that_names_another(scene: Scene) -> None:
    own = await scene.doors["http"]("open_page", {"pageId": "mallorys"})
    assert own.startswith("SUCCESS")
    answer = await scene.doors["mcp"]("click", {"pageId": READABLE, "params": {"pageId": "mallorys"}, "selector": "#b"})
    assert "VALIDATION_ERROR" in answer


# --- what is not an action -------------------------------------------------------------------------------------------


def _others(answer: str) -> str:
    """Return the answer without the intruder's own acts, which hold what it guessed."""
    return "\n".join(line for line in re.split(r"\\n|\n", answer) if "Mallory (you)" not in line)


async def test_listings_name_other_clients_things_but_reveal_nothing_private(scene: Scene) -> None:
    for door in ("mcp", "http"):
        for action in sorted(LISTINGS):
            answer = await scene.doors[door](action, {})
            assert answer.startswith("SUCCESS"), answer
            told = _others(answer)
            assert not [word for word in (SECRET, "/diary", "/vault", PRIVATE, HOLD, AGENT) if word in told], answer
        for filters in ({"pageId": PRIVATE}, {"pageId": INSIDE}, {"sessionId": SESSION}):
            told = _others(await scene.doors[door]("get_activity", dict(filters)))
            assert "/diary" not in told
            assert "/vault" not in told


async def _result(chatting: Client, action: str, **arguments: AnyJson) -> AnyJson:
    result = await chatting.call_tool(action, arguments)
    assert result.structured_content is not None, text_of(result)
    return result.structured_content["result"]


async def test_files_cursors_and_calls_of_another_are_not_found(scene: Scene) -> None:
    artifact = (await _result(scene.alice, "screenshot", pageId=PRIVATE))["artifact"]
    cursor = (await _result(scene.alice, "content", pageId=PRIVATE, format="html", budget=100))["cursor"]
    records = await _result(scene.alice, "get_activity", client="me", format="records")
    call_id = records["records"][0]["callId"]
    assert (await _result(scene.alice, "get_call", callId=call_id))["state"] == "done"
    assert (await scene.intruder.get(artifact["url"])).status_code == 404
    for door in ("mcp", "http"):
        answer = await scene.doors[door]("content", {"cursor": cursor})
        assert not answer.startswith("SUCCESS"), answer
        assert SECRET not in answer
        both = {"baseline": artifact["artifactId"], "current": artifact["artifactId"]}
        answer = await scene.doors[door]("compare_screenshots", both)
        assert "There is no artifact" in answer, answer
        for action in ("get_call", "cancel_call"):
            answer = await scene.doors[door](action, {"callId": call_id})
            assert not answer.startswith("SUCCESS"), answer
            assert "There is no call" in answer


def test_every_argument_that_can_name_a_page_or_a_session_is_declared() -> None:
    """What `touches` does not see, no rule protects."""
    for name, action in catalogue.ACTIONS.items():
        declared = {action.model_fields[field].alias or field for field in action.id_fields}
        naming = {key for key in full_schema(action)["properties"] if "page" in key.lower() or "session" in key.lower()}  # type: ignore[union-attr] # a schema has properties
        assert (
            naming <= declared | {"fullPage", "newSession", "pageRanges", "preferCssPageSize"} or name in NAME_NOTHING
        ), (
            name,
            naming - declared,
        )

"""Tests the smart home in one process: the house, and the site's pages and API."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing

import anyio
import httpx
import pytest

from examples.smart_home.site import create_site
from examples.smart_home.state import HISTORY_LENGTH, Home
from mcp_home_simulator.state import LightNotFoundError
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

LIGHTS = {"salon": True, "cocina": False, "dormitorio": False, "bano": False, "garage": True}
PRESENCE = {"present": True, "known_people": ["Carlos", "Ana"]}


@pytest.fixture
def home() -> Home:
    return Home()


@pytest.fixture
async def visitor(home: Home) -> AsyncIterator[httpx.AsyncClient]:
    """Return a browser that has not logged in."""
    transport = httpx.ASGITransport(app=create_site(home))
    async with httpx.AsyncClient(transport=transport, base_url="http://home") as client:
        yield client


@pytest.fixture
async def ana(visitor: httpx.AsyncClient) -> httpx.AsyncClient:
    await visitor.post("/login", data={"username": "ana", "password": "casa"})
    return visitor


# The house


async def test_every_deed_is_counted_once_and_remembered_with_who_did_it(home: Home) -> None:
    home.login("Ana")
    home.set_light_state("salon", on=False, who="Ana")
    home.set_light_state("bano", on=True, who="Carlos")
    home.set_alarm_state(armed=False, who="Carlos")
    assert home.counts == {
        "login": 1,
        "set_light_state": 2,
        "set_light_state:salon": 1,
        "set_light_state:bano": 1,
        "set_alarm_state": 1,
    }
    assert [(deed["who"], deed["what"]) for deed in home.history] == [
        ("Carlos", "disarmed the alarm"),
        ("Carlos", "turned bano on"),
        ("Ana", "turned salon off"),
        ("Ana", "logged in"),
    ]


async def test_a_light_that_does_not_exist_changes_and_counts_nothing(home: Home) -> None:
    with pytest.raises(LightNotFoundError, match=re.escape("Luz 'inexistente' no encontrada")):
        home.set_light_state("inexistente", on=True, who="Ana")
    assert home.view() == Home().view()


async def test_only_the_latest_deeds_are_remembered(home: Home) -> None:
    for number in range(HISTORY_LENGTH + 1):
        home.set_alarm_state(armed=True, who=f"person {number}")
    assert len(home.history) == HISTORY_LENGTH
    assert home.history[0]["who"] == f"person {HISTORY_LENGTH}"
    assert home.counts == {"set_alarm_state": HISTORY_LENGTH + 1}


async def test_changes_that_come_while_a_follower_is_busy_arrive_as_one(home: Home) -> None:
    async with aclosing(home.follow()) as views:
        assert (await anext(views))["lights"] == LIGHTS
        home.set_light_state("salon", on=False, who="Ana")
        home.set_light_state("garage", on=False, who="Ana")
        assert not any((await anext(views))["lights"].values())
        home.release_followers()
        with anyio.fail_after(PATIENCE_S), pytest.raises(StopAsyncIteration):
            await anext(views)


# The site


async def test_the_home_page_sends_a_visitor_to_the_login(visitor: httpx.AsyncClient) -> None:
    reply = await visitor.get("/")
    assert (reply.status_code, reply.headers["location"]) == (303, "/login")
    assert "<code>ana</code>" in (await visitor.get("/login")).text


async def test_a_login_sets_a_cookie_that_ends_with_the_browser(visitor: httpx.AsyncClient) -> None:
    reply = await visitor.post("/login", data={"username": "ana", "password": "casa"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert re.fullmatch(r"home_session=[\w-]{40,}; HttpOnly; Path=/; SameSite=lax", reply.headers["set-cookie"])


@pytest.mark.parametrize(("username", "password"), [("ana", "cas"), ("eve", "casa"), ("", ""), ('"><b>', "ñ")])
async def test_a_wrong_login_is_refused_on_the_form(
    visitor: httpx.AsyncClient, home: Home, username: str, password: str
) -> None:
    reply = await visitor.post("/login", data={"username": username, "password": password})
    assert reply.status_code == 401
    assert '<p class="problem" role="alert">Wrong username or password.</p>' in reply.text
    assert "<b>" not in reply.text
    assert not reply.cookies
    assert home.counts == {}


async def test_a_token_outlives_the_browser_that_got_it(ana: httpx.AsyncClient, home: Home) -> None:
    token = ana.cookies["home_session"]
    ana.cookies.clear()
    assert (await ana.get("/api/state")).status_code == 401
    ana.cookies.set("home_session", token)
    assert (await ana.get("/api/state")).status_code == 200
    assert home.counts["login"] == 1


async def test_a_logout_ends_the_token_and_not_only_the_cookie(ana: httpx.AsyncClient, home: Home) -> None:
    token = ana.cookies["home_session"]
    assert (await ana.post("/logout")).headers["location"] == "/login"
    assert "home_session" not in ana.cookies
    ana.cookies.set("home_session", token)
    assert (await ana.get("/api/state")).status_code == 401
    assert home.counts == {"login": 1, "logout": 1}


async def test_the_page_has_the_state_of_the_house_in_it(ana: httpx.AsyncClient, home: Home) -> None:
    home.login("</script><b>")
    page = (await ana.get("/")).text
    view = re.search(r'<script type="application/json" id="view">(.*)</script>\n', page)
    assert view
    assert json.loads(view[1]) == home.view()
    assert "Logged in as <strong>Ana</strong>" in page
    assert "</script><b>" not in page


async def test_the_state_is_all_states_and_the_counts(ana: httpx.AsyncClient) -> None:
    state = (await ana.get("/api/state")).json()
    assert state == {"lights": LIGHTS, "alarm": True, "presence": PRESENCE, "counts": {"login": 1}}


async def test_the_api_does_what_it_is_asked_and_says_who_did_it(ana: httpx.AsyncClient, home: Home) -> None:
    for path, change in [
        ("/api/lights/cocina", {"on": True}),
        ("/api/alarm", {"armed": False}),
        ("/api/presence", {"present": False}),
    ]:
        reply = await ana.post(path, json=change)
        assert (reply.status_code, reply.json()) == (200, {"ok": True})
    assert home.states() == {
        "lights": {**LIGHTS, "cocina": True},
        "alarm": False,
        "presence": {"present": False, "known_people": []},
    }
    assert {deed["who"] for deed in home.history} == {"Ana"}


async def test_without_a_login_the_api_tells_and_changes_nothing(visitor: httpx.AsyncClient, home: Home) -> None:
    replies = [
        await visitor.get("/api/state"),
        await visitor.get("/events"),
        await visitor.post("/api/lights/salon", json={"on": False}),
        await visitor.post("/api/alarm", json={"armed": False}),
        await visitor.post("/api/presence", json={"present": False}),
    ]
    assert [(reply.status_code, reply.json()) for reply in replies] == [(401, {"detail": "Not logged in"})] * 5
    assert home.view() == Home().view()


@pytest.mark.parametrize(
    ("path", "change", "status"),
    [
        ("/api/lights/inexistente", {"on": True}, 404),
        ("/api/lights/salon", {"on": "no"}, 422),
        ("/api/lights/salon", {}, 422),
        ("/api/alarm", {"armed": False, "siren": True}, 422),
    ],
)
async def test_a_change_that_is_refused_counts_nothing(
    ana: httpx.AsyncClient, home: Home, path: str, change: dict[str, object], status: int
) -> None:
    reply = await ana.post(path, json=change)
    assert reply.status_code == status
    assert home.states() == Home().states()
    assert home.counts == {"login": 1}


async def test_counts_and_health_need_no_login(visitor: httpx.AsyncClient, home: Home) -> None:
    home.set_light_state("salon", on=True, who="Ana")
    assert (await visitor.get("/api/counts")).json() == {"set_light_state": 1, "set_light_state:salon": 1}
    assert (await visitor.get("/health")).json() == {"status": "ok"}

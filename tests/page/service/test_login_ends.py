"""Tests what a chat learns whose form was lost because another chat had logged out."""

import re

import pytest

from browse_together.contract.model import Json
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

EDIT = "<form method=post action=/save><input name=title><textarea name=note></textarea><button>Save</button></form>"
HOME = (
    """<form method=post action=/session/end><button id=post>Leave</button></form><a href=/account/logout>Log out</a>"""
)


class Wiki:
    """A site with one login, which a request ends on the server; one of the two takes its cookie too."""

    def __init__(self, site: Site) -> None:
        self.logged_in, self.taken = True, list[bytes]()
        site.page(
            "/login",
            "<form method=post action=/in><input name=user><input type=password name=pw><button>In</button></form>",
        )
        site.page("/edit", lambda received: self._inside(received, EDIT))
        site.page("/home", lambda received: self._inside(received, HOME))
        site.page("/save", self._save)
        site.page("/in", lambda _: self._set(logged_in=True, cookie="sid=1; HttpOnly; Path=/"))
        site.page("/session/end", lambda _: self._set(logged_in=False, cookie="sid=; Max-Age=0; Path=/"))
        site.page("/account/logout", lambda _: self._set(logged_in=False, cookie="seen=1"))

    def _set(self, *, logged_in: bool, cookie: str) -> Answer:
        self.logged_in = logged_in
        return Answer("", 303, headers={"Location": "/home", "Set-Cookie": cookie})

    def _inside(self, _: Received, body: str) -> Answer:
        return Answer(body) if self.logged_in else Answer("", 302, headers={"Location": "/login"})

    def _save(self, received: Received) -> Answer:
        self.taken += [received.body] if self.logged_in else []
        return self._inside(received, "saved")


@pytest.mark.parametrize(
    ("button", "how"),
    [("#post", "the cookie sid was gone after it"), ("text=Log out", "it requested /account/logout")],
    ids=["by its cookie", "on the server"],
)
async def test_a_form_that_was_lost_by_anothers_log_out_says_so_and_is_filled_again(
    agent: Agent, service: RunningService, button: str, how: str
) -> None:
    with Site() as site:
        wiki = Wiki(site)
        await agent.call("goto", pageId="in", url=site.url("/in"))
        await agent.call("goto", pageId="edit", url=site.url("/edit"))
        fields = [{"selector": "[name=title]", "value": "Tea"}, {"selector": "[name=note]", "value": "Assam"}]
        await agent.call("fill_form", pageId="edit", fields=fields)
        async with service.agent("Other chat") as other:
            await other.call("goto", pageId="home", url=site.url("/home"))
            await other.call("click", pageId="home", selector=button)
            await other.call("close_page", pageId="home")
        told = (await agent.call("click", pageId="edit", selector="text=Save"))["observed"]
        assert re.search(rf"""ago by click '{re.escape(button)}' by "Other chat( \d+)?" on home \(""", told), told
        assert how in told
        assert 'refill {"pageId": "edit"}' in told
        assert "elsewhere" in (await agent.call("refill", pageId="edit"))["observed"]
        await agent.call("fill", pageId="edit", selector="[name=user]", value="ana")
        await agent.call("click", pageId="edit", selector="text=In")
        await agent.call("goto", pageId="edit", url=site.url("/edit"))
        assert "as before: [name=title], [name=note]" in (await agent.call("refill", pageId="edit"))["observed"]
        told = (await agent.call("click", pageId="edit", selector="text=Save"))["observed"]
        assert "sign in" not in told
        assert wiki.taken == [b"title=Tea&note=Assam"]


async def test_a_page_that_leads_to_its_sign_in_says_that_the_login_seems_over_and_whom_to_ask(
    agent: Agent, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, value = list[Json](), "0123456789abcdef"
    note = lambda over: told.append({"site": over.site, "session": over.session_id})  # noqa: E731 - one expression
    monkeypatch.setattr(service.parts.events, "on_login_over", note)
    await agent.call("create_session", sessionId="over")
    with Site() as site:
        site.page("/login", "<input type=password>")
        site.page("/in", Answer("in", headers={"Set-Cookie": f"sid={value}; HttpOnly; Path=/"}))
        site.page("/orders", Answer("", 302, headers={"Location": "/login"}))
        site.page("/", "<a href=/login>Log in</a><a href=/orders>Orders</a>")
        await agent.call("goto", pageId="p", sessionId="over", url=site.url("/"))
        never = (await agent.call("click", pageId="p", selector="text=Orders"))["observed"]
        assert "seems to be over" not in never  # it was never signed in
        await agent.call("goto", pageId="p", url=site.url("/in"))
        await agent.call("goto", pageId="p", url=site.url("/"))
        asked = (await agent.call("click", pageId="p", selector="text=Log in"))["observed"]
        assert "seems to be over" not in asked  # it asked for that page itself
        await agent.call("goto", pageId="p", url=site.url("/"))
        line = (await agent.call("click", pageId="p", selector="text=Orders"))["observed"]
        assert "the login at 127.0.0.1 seems to be over; a person signs in again: request_human" in line
        line = (await agent.call("goto", pageId="p", url=site.url("/orders")))["observed"]
        assert "seems to be over" in line
    await become(lambda: told == [{"site": "127.0.0.1", "session": "over"}] * 2)
    await agent.call("close_session", sessionId="over")

"""Runs the real service in this process, with agents that call it over HTTP without a socket."""

import itertools
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx
import pytest
from fastapi import FastAPI
from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.events import CallMoved
from browse_together.contract.pages import PageState
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.app import create_app
from browser_service.host.calls import CallRun
from browser_service.host.errors import has_ended
from browser_service.host.host import LocalHost
from browser_service.host.pages.entry import PageEntry
from browser_service.host.sessions.session import SessionEntry
from browser_service.rules.window import Clock
from browser_service.services import Carrier, MakeHost, Services
from browser_service.sessions.directory import ClosedPages
from browser_service.settings import Settings
from browser_service.spine.register import Record
from browser_service.tuning import Tuning
from tests.support import browsers
from tests.support.json import AnyJson

if TYPE_CHECKING:
    from browse_together.client.tracing import Tracing

_numbers = itertools.count(1)


class Refused(AssertionError):
    """Raised when a call was refused that the test expected to succeed."""


@dataclass
class Agent:
    """One client of the service, with its own identity."""

    http: httpx.AsyncClient
    client_id: str
    label: str

    async def reply(
        self, action: str, *, headers: dict[str, str] | None = None, **arguments: AnyJson
    ) -> httpx.Response:
        """Return the raw reply of a call. Arguments have their wire names. Any: whatever JSON a test sends."""
        return await self._post({"action": action, **arguments}, headers)

    async def call(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Return the result of a call that must succeed."""
        reply = await self._post({"action": action, **arguments})
        if not reply.json()["success"]:
            raise Refused(reply.text)
        return dict(reply.json()["result"])

    async def error(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Return the error of a call that must fail."""
        reply = await self._post({"action": action, **arguments})
        body = reply.json()
        assert body["success"] is False, body
        return {"status": reply.status_code, **body["error"]}

    async def _post(self, body: dict[str, AnyJson], headers: dict[str, str] | None = None) -> httpx.Response:
        page_id = body.get("pageId")
        path = f"{wire.BROWSER}/{page_id}" if isinstance(page_id, str) and page_id else wire.BROWSER
        reply = await self.http.post(path, json=body, headers=headers)
        assert "\\u0002" not in reply.text, f"a call is not spelled for its reader: {reply.text}"
        return reply


@dataclass
class RunningService:
    app: FastAPI
    settings: Settings

    @property
    def parts(self) -> Services:
        parts: Services = self.app.state.services
        return parts

    @property
    def host(self) -> LocalHost:
        """Return the host, if nothing stands between it and the front."""
        host = self.parts.host
        if os.environ.get("BROWSE_TESTS_HOST") == "remote" and not isinstance(host, LocalHost):
            pytest.skip("it reaches into the host, which is another process")
        assert isinstance(host, LocalHost)
        return host

    def context(self, session_id: str = DEFAULT_SESSION) -> BrowserContext:
        """Return Playwright's context of a session, which must be open."""
        context = self.session(session_id).opened
        assert context is not None
        return context

    def window(self, page_id: str) -> Page:
        """Return Playwright's page of a pageId, which must be live."""
        tab = self.entry(page_id).record.tab
        assert tab is not None
        return tab.page

    def entry(self, page_id: str) -> PageEntry:
        """Return what the host keeps of an open page."""
        return self.host.pages[page_id]

    def session(self, session_id: str = DEFAULT_SESSION) -> SessionEntry:
        """Return what the host keeps of a session."""
        return self.host.sessions[session_id]

    def running_calls(self) -> dict[str, CallRun]:
        """Return the calls that the host runs, by their ids."""
        return {**self.host.running}

    def registered_calls(self, client_id: str | None = None) -> list[Record]:
        """Return the front's records of a client's calls without a reply, or of everybody's."""
        return self.parts.ledger.register.running(client_id)

    def known_page(self, page_id: str) -> PageState | None:
        """Return what the front knows of a page."""
        return self.parts.directory.get(page_id)

    def known_pages(self) -> list[PageState]:
        return self.parts.directory.pages()

    def known_sessions(self) -> list[str]:
        return self.parts.directory.sessions.names()

    def is_present(self, client_id: str) -> bool:
        return self.parts.clients.present(client_id)

    def has_news_for(self, agent: Agent) -> bool:
        """Tell whether notices wait for an agent's next reply."""
        return self.parts.clients.has_notices(agent.client_id)

    def last_move(self, client_id: str, call_id: str) -> CallMoved | None:
        """Return the last progress of a call."""
        return self.parts.clients.last_move(client_id, call_id)

    def link_to(self, request_id: str) -> str:
        """Return the link by which a person answers a request."""
        return self.parts.requests.link(request_id)

    async def release(self, agent: Agent) -> None:
        """Take the leases from an agent, as if it had gone."""
        await self.parts.host_calls.release(agent.client_id)

    async def revoke(self, token: str) -> None:
        """Take back a token by its name."""
        await self.parts.administration.revoke_named(token)

    async def close_expired_sessions(self) -> None:
        await self.parts.lifecycle.close_expired()

    @property
    def secret(self) -> str:
        return self.parts.secret

    @property
    def base_url(self) -> str:
        return f"{self.settings.scheme}://127.0.0.1:{self.settings.port}"

    @asynccontextmanager
    async def agent(
        self,
        label: str = "",
        client_id: str | None = None,
        *,
        operator: bool = False,
        limits: dict[str, AnyJson] | None = None,
    ) -> AsyncIterator[Agent]:
        """Return a client, with an identity of its own unless one is given; or the account's own person. Its token may
        have limits."""
        client_id = client_id or f"client-{next(_numbers)}"
        claims = {wire.TOKEN_LIMITS: limits} if limits else {}
        token = mint(self.secret, client_id, label or client_id, operator=operator, claims=claims)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self.app),
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        ) as http:
            yield Agent(http, client_id, label or client_id)


UNLIMITED = dict.fromkeys(("client_pages", "calls_in_flight", "client_calls_per_minute"), 0)
"""Higher limits, because tests call a service more often than agents would. Tests look at cookies, too."""


def settings_for(data_dir: Path, **changes: AnyJson) -> Settings:
    """Return settings that no variable of the developer's environment changes. Any: any setting's value."""
    usual = {
        **UNLIMITED,
        "cookie_values": True,
        "notify": "off",
        "min_instances": 0,
        "spare_window_ms": 0,
        "executable_path": browsers.executable(),
    }
    ours: dict[str, Any] = {"app_env": "test", **usual, **changes}  # Any: as there
    tuned = {field.name: ours.pop(field.name) for field in fields(Tuning) if field.name in ours}

    class Tuned(Settings):
        tuning: ClassVar[Tuning] = Tuning(**tuned)

    return Tuned(data_dir=data_dir, port=8888, log_level="error", **ours)


@asynccontextmanager
async def running_service(
    settings: Settings,
    carrier: Carrier = lambda host: host,
    clock: Clock = time.monotonic,
    make_host: MakeHost | None = None,
    tracing: "Tracing | None" = None,
) -> AsyncIterator[RunningService]:
    make_host = make_host or browsers.make_host()
    app = create_app(settings, carrier=carrier, clock=clock, make_host=make_host, tracing=tracing)
    async with app.router.lifespan_context(app):
        yield RunningService(app, settings)


@asynccontextmanager
async def visiting(service: RunningService) -> AsyncIterator[Agent]:
    """Return an agent that leaves nothing behind: no session of its own, no page of any client of the test, and neither
    a secret nor a cookie of the shared login."""
    async with service.agent() as agent:
        yield agent
        await tidy(service, agent)


async def tidy(service: RunningService, agent: Agent, keep: str = "") -> None:
    """Close the agent's sessions, and all pages but the one that is to be kept; forget closed pages, secrets and the
    cookies of the shared login. A person closes pages that are private, or that a person has been asked about."""
    if {*service.known_sessions()} - {DEFAULT_SESSION}:
        for session in (await agent.call("list_sessions"))["sessions"]:
            if session["owner"] and session["owner"]["you"]:
                await agent.call("close_session", sessionId=session["sessionId"])
    if await _close_pages(agent, keep):
        async with service.agent(operator=True) as person:
            await _close_pages(person, keep)
    service.parts.directory.closed = ClosedPages()  # whose names are refused in the shared login
    for name in [*service.parts.secrets.all()]:
        service.parts.secrets.remove(name)
    host = service.parts.host
    shared = host.sessions.get(DEFAULT_SESSION) if isinstance(host, LocalHost) else None
    if shared is not None and shared.opened is not None and not shared.in_persons_browser:
        try:
            await shared.opened.clear_cookies()
        except PlaywrightError as error:
            if not has_ended(error):  # the test may have ended the browser
                raise


async def _close_pages(agent: Agent, keep: str) -> bool:
    """Close all pages that the agent may know of, and close; return whether there are others."""
    listed, is_refused = await agent.call("list_pages", all=True), False
    for page in [page for part in ("yours", "people", "others") for page in listed[part]]:
        if page["pageId"] != keep or page.get("dialog"):
            await agent.reply("claim_page", pageId=page["pageId"], reason="The test is over.")
            closed = await agent.reply("close_page", pageId=page["pageId"], reason="The test is over.")
            is_refused |= not closed.is_success
    return "private" in listed or is_refused

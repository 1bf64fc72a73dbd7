"""Builds three chats, a service, a browser and a site, and checks what must be true of them whatever dies."""

import json
import random
import re
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from browse_together.contract.errors import every_error
from browse_together.contract.wire import LOG_FILE
from browser_service.host.sessions.executables import installed_browser
from tests.process.chaos import victims
from tests.process.chaos.chats import Answer, Chat
from tests.process.chaos.load import Ledger
from tests.process.chaos.site import ChaosSite
from tests.support import browsers
from tests.support.gateways import environment, tuned

CHATS: Final = 3
APART: Final = "apart"
"""A session that is not persistent, so that it ends with the service."""
KEPT: Final = "kept"
TYPED: Final = {error.code for error in every_error()} - {"INTERNAL_ERROR"}
ACTS_END_AS: Final = {"ok", "UNKNOWN_OUTCOME", "BROWSER_CRASHED"}
ANSWERED_WITHIN_S: Final = 90
_FURTHER: Final = """(() => {
  history.replaceState(null, '', 'PATH');
  for (const box of document.querySelectorAll('#box')) box.checked = false;
})()"""
_WHO: Final = "document.querySelector('.person strong')?.textContent + ' ' + location.pathname + location.search"


@dataclass(frozen=True)
class Place:
    """A page that must survive everything."""

    page_id: str
    chat: int
    session_id: str | None = None
    light: str = ""
    """The switch on a page of the house. A page without one is a desk."""

    def path(self, key: str) -> str:
        return f"/?key={key}" if self.light else f"/desk/{self.page_id}?key={key}"


PLACES: Final = (
    Place("house-0", 0, light="salon"),
    Place("house-1", 1, KEPT, light="cocina"),
    Place("desk-1", 1),
    Place("desk-2", 2, APART),
)


@dataclass
class World:
    site: ChaosSite
    data_dir: Path
    chats: list[Chat]
    dice: random.Random
    ledger: Ledger = field(default_factory=Ledger)
    paths: dict[str, str] = field(default_factory=dict)
    """The path of each page, by id."""

    def chat_of(self, place: Place) -> Chat:
        return self.chats[place.chat]

    async def go(self, place: Place, key: str) -> None:
        self.paths[place.page_id] = path = place.path(key)
        session = {"sessionId": place.session_id} if place.session_id else {}
        url = f"{self.site.url}{path}"
        await self.chat_of(place).do("goto", pageId=place.page_id, url=url, **session)

    async def go_further(self, place: Place, key: str) -> None:
        """Give the same document another URL without loading anything."""
        self.paths[place.page_id] = path = place.path(key)
        await self.chat_of(place).do("evaluate_script", pageId=place.page_id, expression=_FURTHER.replace("PATH", path))

    async def log_in(self, place: Place) -> None:
        chat, page_id = self.chat_of(place), place.page_id
        session = {"sessionId": place.session_id} if place.session_id else {}
        await chat.do("goto", pageId=page_id, url=f"{self.site.url}/login", **session)
        await chat.do("fill", pageId=page_id, selector="#username", value="ana")
        await chat.do("fill", pageId=page_id, selector="#password", value="casa")
        await chat.do("click", pageId=page_id, selector="button.primary")
        await self.go(place, "start")
        await self.check(place)

    async def open_apart(self) -> None:
        """Open the session anew that ended with its service."""
        (place,) = (place for place in PLACES if place.session_id == APART)
        await self.chat_of(place).do("create_session", sessionId=APART)
        await self.log_in(place)

    async def check(self, place: Place, *, may_fail: bool = False) -> None:
        """The page is there under its id, logged in, where it was: by the very first call. `may_fail`: by the second,
        where Chromium may not have told of a renderer's end yet, so that the first is the one that meets it."""
        answer = await self._look(place)
        if may_fail and answer.code in ACTS_END_AS - {"ok"}:
            answer = await self._look(place)
        expected = f"Ana {self.paths[place.page_id]}"
        assert (answer.code, answer.result.get("value")) == ("ok", expected), f"{place.page_id}: {answer.text}"

    async def _look(self, place: Place) -> Answer:
        return await self.chat_of(place).call(
            "evaluate_script", ANSWERED_WITHIN_S, pageId=place.page_id, expression=_WHO
        )

    async def check_owners(self) -> None:
        """Check that each chat has its own pages, at their URLs, and knows those of the others."""
        for number, chat in enumerate(self.chats):
            mine = {page["pageId"]: page["url"] for page in (await chat.do("list_pages"))["yours"]}
            for place in PLACES:
                if place.chat == number:
                    assert mine.get(place.page_id) == f"{self.site.url}{self.paths[place.page_id]}", (place, mine)

    async def tidy(self, chat: Chat) -> None:
        """Close what the catalogue's actions left behind."""
        kept = {place.page_id for place in PLACES}
        for page in (await chat.do("list_pages"))["yours"]:
            if (page_id := page["pageId"]) not in kept:
                closing = {"pageId": page_id, "reason": "tidying up", "confirm": True}
                if (refused := await chat.call("close_page", **closing)).code == "HUMAN_IN_CONTROL":
                    await self._withdraw(chat, refused)
                    answer = await chat.call("close_page", **closing)
                    assert answer.code != "HUMAN_IN_CONTROL", answer.text
        for session in (await chat.do("list_sessions"))["sessions"]:
            name = session["sessionId"]
            if session["owner"] and session["owner"]["you"] and name not in {KEPT, APART}:
                answer = await chat.call("close_session", sessionId=name)
                assert answer.code != "HUMAN_IN_CONTROL", answer.text

    async def _withdraw(self, chat: Chat, refused: Answer) -> None:
        """Nobody is needed any more. The reply with the request's id may have died with its gateway: what is refused
        meanwhile names the call."""
        named = re.search(r"give it up: request_human (\{.*?\})", refused.text)
        assert named is not None, refused.text
        await chat.do("request_human", **json.loads(named[1]))


@asynccontextmanager
async def world(tmp_path: Path, site: ChaosSite, dice: random.Random) -> AsyncIterator[World]:
    """Start everything and log everybody in. At the end, end all that was started, come what may."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    env = environment(data_dir, **_settings(tmp_path))
    chats = [Chat(f"G{number}", env, tmp_path / "gateways.log") for number in range(CHATS)]
    try:
        for chat in chats:
            await chat.start()
        here = World(site, data_dir, chats, dice)
        await chats[1].do("create_session", sessionId=KEPT, persistent=True)
        for place in PLACES[:2]:
            await here.log_in(place)
        await here.go(PLACES[2], "start")
        await here.open_apart()
        yield here
    finally:
        for process in victims.family(data_dir):
            process.kill()


def _settings(tmp_path: Path) -> dict[str, str]:
    """Return settings with one port for all services in turn, none of the usual limits, and a browser whose targets can
    be counted."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    return {
        "BROWSE_URL": f"http://127.0.0.1:{port}",
        **tuned(tmp_path / "tuned", presence_grace_ms=60_000, queue_wait_ms=60_000),
        "BROWSE_NOTIFY": "off",
        "BROWSE_EXECUTABLE_PATH": str(_countable_browser(tmp_path)),
        "BROWSE_CLIENT_CALLS_PER_MINUTE": "0",
    }


def _countable_browser(tmp_path: Path) -> Path:
    """Return a browser with a debugging port besides its pipe, so that the test can count its pages."""
    found = browsers.executable() or installed_browser()
    assert found is not None
    wrapper = tmp_path / "browser"
    wrapper.write_text(f'#!/bin/sh\nexec "{found}" --remote-debugging-port=0 "$@"\n', encoding="utf-8")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return wrapper


_WRITTEN_TO_THE_DEAD = "pipe closed by peer or os.write(pipe, data) raised exception."
"""What asyncio warns of once a killed driver was written to for the fifth time, before its end was heard."""


def failures(world: World) -> list[str]:
    """Return what the services' logs call unexpected, each kind once."""
    found = set()
    for line in (world.data_dir / LOG_FILE).read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("{"):
            told = json.loads(line)
            if "exception" in told:
                found.add(f"log: {told['event']}: {told['exception'].strip().splitlines()[-1]}")
        elif line and not line.startswith((" ", "Traceback", _WRITTEN_TO_THE_DEAD)):  # the last line of what was raised
            found.add(f"stderr: {line}")
    return sorted(found)

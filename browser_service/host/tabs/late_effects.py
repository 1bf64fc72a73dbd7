"""Waits for late effects of acts, asks a tab's document about them, and remembers acts with effects still to come."""

import asyncio
import contextlib
import json
import math
import secrets
import time
from collections import deque
from typing import Annotated, Any, Final, get_args

from playwright.async_api import CDPSession, Page, Request, WebSocket
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, StringConstraints, ValidationError

from browse_together.contract.background import AtMost, Background
from browse_together.contract.cuts import cut
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Permission
from browse_together.contract.quoting import address, quoted
from browser_service.host.events import well_formed
from browser_service.host.network.act_requests import FOR_AN_APP
from browser_service.host.scripts import call_of, script
from browser_service.host.scripts.results import bounded
from browser_service.host.tabs.observation import Observation
from browser_service.security.urls import origin_of

_NOTES: Final = script("late_effects")
_LATER: Final = "function (sent, ms, most) { return this.later(ms + this.late(sent), most) }"
_SEEN: Final = "function (sent, ms, rolls) { return this.seen(ms + this.late(sent), rolls > 0) }"
_NEXT_FRAME: Final = bounded("async () => { await new Promise(requestAnimationFrame) }")
_REQUESTS_END_WITHIN_S: Final = 1.0
_EFFECTS_END_WITHIN_S: Final = 2.0
"""The limit of the wait for requests that follow from responses to others."""
_DRAWN_WITHIN_S: Final = 0.1
_TIMERS_WITHIN_S = 0.4
_MOTION: Final = "function (_, __, most) { return this.motion(most) }"
_ANSWERS_S: Final = 1.0
_CHARACTERS: Final = 200
_MOST_COPIED: Final = 100_000
_MOST_EARLIER: Final = 5
_EARLIER_S: Final = 60.0


class _Later(BaseModel):
    """A document's report on late effects; empty if it does not answer."""

    came: bool = False
    """True if callbacks ran that scripts had scheduled."""
    due: list[float] = []
    """In how many ms each of the other callbacks is due."""
    scrolled: str | None = None
    refused: str | None = None
    stored: str | None = None
    called: str | None = None
    """What a script asked of the browser that no document shows: a function, or a permission that it has not."""
    copied: Annotated[str, StringConstraints(max_length=_MOST_COPIED)] | None = None
    """The text that a script wrote to the clipboard; None if it is not known, or too long."""
    passed: str | None = None
    """The words of an alert that was shown for a moment."""

    def lines(self, origin: str) -> list[str]:
        """Describe what the browser refused to scripts of a page, what they asked of it, and an alert that went."""
        refused = f"refused by the page's content security policy: {_shown(self.refused)}" if self.refused else ""
        asked = _pasteable(self.copied) if self.copied else _asked(_shown(self.called), origin)
        alert = f"an alert came and went: {quoted(_shown(self.passed))}" if self.passed else ""
        return [*filter(None, [refused, asked, alert])]


def _pasteable(text: str) -> str:
    paste = next_call("press", key="Control+v")
    return f"it wrote to the clipboard, {len(text):,} characters, which you can paste: {paste}"


def _asked(called: str, origin: str) -> str:
    """Describe a call of the browser by a script; "" for none."""
    if called in get_args(Permission):
        call = next_call("grant_permissions", permissions=[called], origin=origin)
        return f"it asked for the permission {called}, which it has not; if it is needed here: {call}, and then again"
    if ":" in called:
        return FOR_AN_APP.format(address(called))
    files = next_call("drop", selector="...", files=[{"name": "a.txt", "text": "..."}])
    picks = (
        f"it asks for files by {called}, which nobody can answer here. If the page takes them by drag and drop too: "
    )
    known = {
        "": "",
        "copy": "it wrote to the clipboard",
        "print": f"it asked to be printed, which nobody sees here; as a file: {next_call('generate_pdf')}",
    }
    return known.get(called, picks + files)


def _shown(text: str | None) -> str:
    return cut(well_formed(text or ""), _CHARACTERS)


class EarlierActs:
    """The acts of one page that ended with effects still to come."""

    def __init__(self) -> None:
        self._acts = deque[Observation](maxlen=_MOST_EARLIER)

    def __bool__(self) -> bool:
        return bool(self._acts)

    def add(self, act: Observation) -> None:
        """Remember an act that ends, if effects of it are still to come."""
        if act.due or act.is_pending:
            self._acts.append(act)

    def forget(self) -> None:
        """Forget acts with nothing more to come, and those of long ago."""
        now = time.monotonic()
        kept = [each for each in self._acts if each.is_pending and now - each.began_at < _EARLIER_S]
        self._acts = deque(kept, maxlen=_MOST_EARLIER)

    def request_ended(self, request: Request) -> None:
        for each in self._acts:
            each.ended_late(request)

    def socket_answered(self, socket: WebSocket) -> None:
        for each in self._acts:
            each.answered_late(socket)

    def due_within(self, seconds: float) -> Observation | None:
        now = time.monotonic()
        return next((each for each in self._acts if any(0 < at - now < seconds for at in each.due)), None)

    def cause_since(self, moment: float) -> Observation | None:
        return next((each for each in reversed(self._acts) if each.came_since(moment)), None)


class LateEffects:
    """The late effects of acts on one tab. In Chromium, a script in each document notes them."""

    def __init__(self, page: Page | None) -> None:
        self.earlier = EarlierActs()
        self.one_way = set[WebSocket]()
        """Websockets that brought no answer to an act's message."""
        self._page = page
        self._cdp: CDPSession | None = None
        self._begin = ""
        self._asked: asyncio.Future[str] | None = None
        self._background = Background()

    def note_by(self, cdp: CDPSession, *, keeps_apps: bool) -> None:
        """Make each document note late effects from its beginning. This does not wait, so a document that came before
        it starts later. With `keeps_apps`, links open no other apps."""
        self._cdp, self._begin = cdp, call_of(_NOTES, json.dumps(secrets.token_hex(8)), json.dumps(keeps_apps))
        self._background.spawn(self._send(cdp, "Page.addScriptToEvaluateOnNewDocument", source=self._begin))

    def ask(self) -> None:
        """Find the notes of a document that has come. A document that was there before starts them now."""
        if self._cdp is not None:
            self._asked = asyncio.ensure_future(self._find(self._cdp))

    async def _find(self, cdp: CDPSession) -> str:
        """Return Chromium's id of the document's notes; "" if there are none."""
        answer = await self._send(cdp, "Runtime.evaluate", expression=self._begin)
        return str(answer["result"].get("objectId", "")) if answer else ""

    @staticmethod
    async def _send(cdp: CDPSession, command: str, **given: str) -> dict[str, Any]:  # Any: JSON
        """Return Chromium's answer; {} from a tab that has gone."""
        with contextlib.suppress(PlaywrightError):
            return await cdp.send(command, {**given})
        return {}

    async def settle(self, observation: Observation) -> None:
        """Wait until the page shows the act's effects: callbacks that its scripts scheduled for soon, responses to its
        requests, and what followed from these."""
        loop = asyncio.get_running_loop()
        ends_at, awaited_before = loop.time() + _EFFECTS_END_WITHIN_S, 0
        await observation.wait_for_refusal()
        await self.wait(observation)
        while observation.awaited_requests > awaited_before and (seconds_left := ends_at - loop.time()) > 0:
            awaited_before = observation.awaited_requests
            await observation.wait_for_responses(min(seconds_left, _REQUESTS_END_WITHIN_S))
            observation.idle = observation.told_elsewhere  # scripts go on when they are answered
            if not observation.navigating:
                await asyncio.gather(self._next_frame(), self.wait(observation))
        await observation.read_answers()
        await observation.settle()
        if observation.linked_popups and await observation.wait_for_windows():
            observation.waited = True
            await self._next_frame()

    async def wait(self, act: Observation) -> None:
        """Wait for callbacks that the act's scripts scheduled for soon, and note what is due later."""
        if act.written - self.one_way or act.heard_at:
            act.waited = True
            await act.wait_for_sockets()
            self.one_way |= act.written
        if act.idle or act.window is None or act.left_document:
            return
        later = await self._ask(_LATER, time.monotonic() - act.began_at, _TIMERS_WITHIN_S)
        act.waited = act.waited or later.came
        act.due = tuple(sorted(time.monotonic() + ms / 1000 for ms in later.due if ms > 0))
        act.notes += [line for line in later.lines(self._origin) if line not in act.notes]
        act.copied = later.copied or act.copied

    async def _next_frame(self) -> None:
        """Wait until the page draws its next frame, which shows the effect of a response."""
        async with AtMost(_DRAWN_WITHIN_S, PlaywrightError):
            if self._page is not None:
                await self._page.evaluate(_NEXT_FRAME)

    async def wait_for_earlier(self) -> None:
        """Wait for a timer of an earlier act that is due very soon, so that it does not come while the next act
        runs."""
        if (act := self.earlier.due_within(_TIMERS_WITHIN_S)) is not None:
            soon = time.monotonic() + _TIMERS_WITHIN_S
            if (await self._ask(_LATER, time.monotonic() - act.began_at, _TIMERS_WITHIN_S)).came:
                now = time.monotonic()  # what has come was noted as due later than it was, by a message's time
                act.due = tuple(min(at, now) if at < soon else at for at in act.due)

    async def seen(self, act: Observation, *, rolls: bool) -> list[str]:
        """Describe what scrolled since an act began, what the browser refused to scripts, and what they asked of it.
        With `rolls`, what is likely to scroll is watched for a frame more."""
        found = await self._ask(_SEEN, time.monotonic() - act.began_at, float(rolls))
        act.copied = found.copied or act.copied
        stored = "it wrote to the site's storage" if found.stored else ""
        lines = [line for line in found.lines(self._origin) if line not in act.notes]
        return [*filter(None, [_shown(found.scrolled), stored]), *lines]

    @property
    def _origin(self) -> str:
        return (origin_of(self._page.url) if self._page is not None else None) or ""

    async def motion(self) -> bool:
        """Wait for animations of the document that end soon. Returns whether there were any."""
        return (await self._ask(_MOTION, 0, _TIMERS_WITHIN_S)).came

    async def _ask(self, question: str, *seconds: float) -> _Later:
        if self._asked is None or self._cdp is None:
            return _Later()
        try:
            async with asyncio.timeout(sum(seconds[1:]) + _ANSWERS_S):
                if not (notes := await asyncio.shield(self._asked)):
                    return _Later()
                times = [{"value": math.ceil(each * 1000)} for each in (time.time(), *seconds)]
                given = {"functionDeclaration": question, "objectId": notes, "arguments": times}
                answer = await self._cdp.send(
                    "Runtime.callFunctionOn", {**given, "returnByValue": True, "awaitPromise": True}
                )
            return _Later.model_validate(answer["result"].get("value"))
        except (PlaywrightError, TimeoutError, ValidationError):  # the document went, is busy, or is none of ours
            return _Later()

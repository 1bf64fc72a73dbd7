"""Asks the document of a tab what comes of an act later, or without a change of the document."""

import asyncio
import contextlib
from typing import Final

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, ValidationError

from browser_service.host.events import well_formed
from browser_service.host.scripts import call_of, script
from shared.cuts import cut

_BEGIN: Final = call_of(script("late_effects"))
_LATER: Final = "function (ms, most) { return this.later(ms, most) }"
_SEEN: Final = "function (ms) { return this.seen(ms) }"
_ANSWERS_S: Final = 1.0
_CHARACTERS: Final = 200


class Later(BaseModel):
    """What a document tells of its late effects; empty if it does not answer."""

    came: bool = False
    """True if scripts were called for which they had asked."""
    due: list[float] = []
    """In how many ms the rest is due."""
    scrolled: str | None = None
    refused: str | None = None

    @property
    def refusal(self) -> str:
        """Describe what the page's own policy refused."""
        return f"refused by the page's content security policy: {self.refused}" if self.refused else ""


class LateEffects:
    """The late effects that each document of a tab notes."""

    def __init__(self, cdp: CDPSession) -> None:
        self._cdp = cdp
        self._begun: asyncio.Task[str] | None = None

    def begin(self) -> None:
        """Have a document that has come note them."""
        self._begun = asyncio.ensure_future(self._begin())

    async def _begin(self) -> str:
        """Return Chromium's id of what answers, "" if there is none."""
        with contextlib.suppress(PlaywrightError):
            answer = await self._cdp.send("Runtime.evaluate", {"expression": _BEGIN})
            return str(answer["result"].get("objectId", ""))
        return ""

    async def later(self, since_s: float, most_s: float) -> Later:
        """Wait, for `most_s` at most, until what scripts asked for in the last `since_s` has come."""
        return await self._ask(_LATER, since_s, most_s)

    async def seen(self, since_s: float) -> list[str]:
        """Describe what scrolled in the last `since_s`, and what the page's policy refused."""
        found = await self._ask(_SEEN, since_s)
        return [cut(well_formed(text), _CHARACTERS) for text in (found.scrolled, found.refusal) if text]

    async def _ask(self, question: str, *seconds: float) -> Later:
        if (begun := self._begun) is None:
            return Later()
        try:
            async with asyncio.timeout(sum(seconds[1:]) + _ANSWERS_S):
                if not (asked := await asyncio.shield(begun)):
                    return Later()
                times = [{"value": round(each * 1000)} for each in seconds]
                given = {"functionDeclaration": question, "objectId": asked, "arguments": times}
                answer = await self._cdp.send(
                    "Runtime.callFunctionOn", {**given, "returnByValue": True, "awaitPromise": True}
                )
            return Later.model_validate(answer["result"].get("value"))
        except (PlaywrightError, TimeoutError, ValidationError):  # the document went, is busy, or is none of ours
            return Later()

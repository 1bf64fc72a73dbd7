"""Passes what a person at the wall says to agents: lines, elements that they point at, pauses and stops."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from browse_together.contract.errors import ValidationFailed
from browse_together.contract.frames import Pointed
from browse_together.contract.model import Json
from browse_together.contract.quoting import quoted
from browser_service.spine.reads import Reads
from browser_service.wall.messages import Halt, Point, Talk, Tell

_NAME = 120
_MARK = "\N{RIGHT SINGLE QUOTATION MARK}"


@dataclass(eq=False)
class Talking:
    """What one viewer says. Of elements, the one that they picked last may go along with a line."""

    reads: Reads
    run: Callable[[Json], Awaitable[Json]]
    """Runs an action as the viewer, and returns its result."""
    _picked: tuple[str, Pointed] | None = None

    async def answer(self, message: Talk) -> Json:
        match message:
            case Point():
                return await self._point(message)
            case Tell():
                said: Json = {"message": message.text, "pageId": message.page_id, "about": self._element(message)}
                to: Json = {"to": message.to} if message.to else {}
                return await self._do({"action": "tell_agent", **to, **said})
            case Halt():
                to = {"to": message.to} if message.to else {}
                return await self._do({"action": "halt_agent", "how": message.how, **to})

    async def _do(self, body: Json) -> Json:
        told = str((await self.run(body)).get("observed", ""))
        return {"type": "done", "text": f"{told[:1].upper()}{told[1:]}."}

    async def _point(self, message: Point) -> Json:
        found = await self.reads.point(message.page_id, message.x, message.y, picks=message.picks)
        if message.picks:
            self._picked = message.page_id, found
        shown: Json = found.model_dump(mode="json", exclude={"problem"})
        return {"type": "pointed", "pageId": message.page_id, **shown}

    def _element(self, message: Tell) -> str:
        """Return the picked element in words: its ref, its role, and its name in quotes."""
        if not message.picked:
            return ""
        page_id, found = self._picked or ("", Pointed())
        if page_id != message.page_id or found.box is None:
            raise ValidationFailed("No element is picked on this page.", hint="Point at it again.")
        plain = found.name.replace("'", _MARK).replace('"', _MARK)  # else a page's words could end the quotes
        named = [quoted(plain, _NAME)] if plain else []
        return ", ".join(filter(None, (found.ref, " ".join([found.role, *named]).strip())))

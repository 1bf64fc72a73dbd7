"""Serves the browser's tools to a script as JSON lines: a result is the action's own, not text for a model."""

from typing import Final, cast

from client.reply import Failure, Reply
from mcp_gateway.chats import Asker
from mcp_gateway.connection import Connection
from shared import catalogue
from shared.errors import BrowseError
from shared.json_lines.lines import Lines
from shared.json_lines.messages import Call, MissingParameters, Refused, ToolNotFound
from shared.json_lines.server import Server
from shared.model import Json
from shared.quoting import each_framed, flat
from shared.replies import error_lines

_LABEL: Final = "script"
_BESIDE: Final = ("page", "notices")


class Script:
    """One script: a client of the service, present while connected."""

    def __init__(self, connection: Connection) -> None:
        self._chats = connection.chats
        self._faults = connection.faults

    async def serve(self, lines: Lines) -> None:
        """Answer the script's calls until it ends. Then its pages are free, like those of a chat."""
        self._chats.own.service.credentials.introduce(_LABEL)
        self._chats.own.appear()
        try:
            await Server(lines, self.run, subject).serve()
        finally:
            self._chats.leave()

    async def run(self, call: Call) -> Json:
        """Return a call's result, with its page and notices. Raises Refused."""
        if call.tool not in catalogue.NAMES:
            raise ToolNotFound(call.tool)
        try:
            body = catalogue.unwrap(_body(call))
            if missing := catalogue.missing_arguments(body):
                raise MissingParameters(missing)
            reply = await self._chats.own.call(_ASKER, body)
        except BrowseError as error:
            reply = Reply(success=False, error=Failure.from_error(error))
        if reply.error is not None:
            error_fields: Json = reply.error.model_dump(mode="json", by_alias=True, exclude_unset=True)
            lines = [*each_framed(error_lines(error_fields)), self._faults.advice]
            raise Refused(flat(" ".join(filter(None, lines))))
        beside = {key: value for key in _BESIDE if (value := (reply.model_extra or {}).get(key))}
        return {**reply.result, **{key: value for key, value in beside.items() if key not in reply.result}}


def subject(call: Call) -> str | None:
    """Return the page or call that a call concerns; None if it names neither, so that it may concern any page."""
    try:
        body = catalogue.unwrap(_body(call))
    except BrowseError:
        return None
    return next((f"{key} {value}" for key in ("pageId", "callId") if isinstance(value := body.get(key), str)), None)


def _body(call: Call) -> Json:
    return cast("Json", {**call.args, "action": call.tool})  # parsed JSON


async def _report(*_: object) -> None:
    """Report nothing, because the protocol has no progress."""


_ASKER: Final = Asker(_report)

"""The messages `ready`, `call`, `result`, `error` and `quit`, and the texts for invalid ones."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from browse_together.contract.json_lines import strict
from browse_together.contract.json_lines.lines import id_in

VERSION: Final = "0.1.0"
_LONGEST_NAME: Final = 100

Json = Mapping[str, object]
CallId = int | float | str


class Tool(NamedTuple):
    """A tool as announced by `ready`."""

    name: str
    description: str
    input_schema: Json
    output_schema: Json


class Call(NamedTuple):
    """One requested run of a tool."""

    id: CallId
    tool: str
    args: dict[str, object]


class Refused(Exception):
    """Raised for a message or a call that gets an error, which is its text."""


class ToolNotFound(Refused):
    """Raised when no tool has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Tool '{_short(name)}' no encontrada")


class MissingParameters(Refused):
    """Raised when a call leaves out what the tool requires."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(f"Faltan parámetros requeridos: {', '.join(names)}")


class InvalidParameter(Refused):
    """Raised when a parameter has another type than its schema says."""

    def __init__(self, name: str, expected: object) -> None:
        super().__init__(f"Parámetro '{name}' no válido: se esperaba {expected}")


class InvalidMessage(Refused):
    """Raised for a line that is no message. Its error has the id of the call, if the line has a valid one."""

    def __init__(self, reason: str, call_id: object = None) -> None:
        super().__init__(reason)
        is_id = isinstance(call_id, int | float | str) and not isinstance(call_id, bool)
        self.call_id: CallId | None = cast("CallId", call_id) if is_id else None  # checked by is_id


def parse(line: bytes) -> Call | None:
    """Return the call on a line; None for a request to quit. Raises InvalidMessage."""
    message: object = None
    try:
        message = strict.loads(line)
        strict.check_text(message, line)
    except ValueError as error:
        call_id = message.get("id") if isinstance(message, dict) else None
        raise InvalidMessage(f"Error al parsear JSON: {error}", call_id) from None
    if not isinstance(message, dict):
        raise InvalidMessage("Mensaje no válido: se esperaba un objeto JSON")
    match message:
        case {"type": "quit"}:
            return None
        case {"type": "call"}:
            return _call(message)
        case {"type": kind}:
            raise InvalidMessage(f"Tipo de mensaje '{_short(str(kind))}' no soportado", message.get("id"))
    raise InvalidMessage("Mensaje no válido: falta 'type'", message.get("id"))


def too_large(ends: bytes, most_bytes: int) -> InvalidMessage:
    """Make the error for a line over the limit, of which only the ends are known."""
    return InvalidMessage(f"Mensaje demasiado grande: como máximo {most_bytes} bytes", id_in(ends))


def ready(tools: Sequence[Tool]) -> bytes:
    return _line({"type": "ready", "version": VERSION, "tools": [tool._asdict() for tool in tools]})


def result(call_id: CallId, value: Json) -> bytes:
    return _line({"type": "result", "id": call_id, "ok": True, "result": value})


def error(call_id: CallId | None, text: str) -> bytes:
    """Return the line of an error. Its text is one line too."""
    return _line({"type": "error", "id": call_id, "ok": False, "error": " ".join(text.splitlines())})


def _call(message: dict[str, object]) -> Call:
    call_id, tool, args = message.get("id"), message.get("tool"), message.get("args", {})
    if not isinstance(call_id, int | float | str) or isinstance(call_id, bool):
        raise InvalidMessage("Mensaje no válido: 'id' debe ser un número o un string")
    if not isinstance(tool, str):
        raise InvalidMessage("Mensaje no válido: 'tool' debe ser un string", call_id)
    if not isinstance(args, dict):
        raise InvalidMessage("Parámetro 'args' no válido: se esperaba object", call_id)
    return Call(call_id, tool, args)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _line(message: Json) -> bytes:
    """Return a message's text. Characters that UTF-8 cannot encode stay JSON escapes."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")

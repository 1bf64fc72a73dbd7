"""Declares the six tools of the house, and serves them as JSON lines over stdin and stdout."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TextIO

from examples.smart_home.state import Home, HomeError

VERSION = "0.1.0"
WHO = "tools"

Properties = Mapping[str, Mapping[str, object]]
Message = dict[str, object]

BOOLEAN = {"type": "boolean"}
STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}
PYTHON_TYPES = {"boolean": bool, "string": str}


class ToolNotFoundError(HomeError):
    """Raised when no tool has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Tool '{name}' no encontrada")


class MissingParametersError(HomeError):
    """Raised when a call leaves out what the tool requires."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(f"Faltan parámetros requeridos: {', '.join(names)}")


class InvalidParameterError(HomeError):
    """Raised when a parameter has another type than its schema says."""

    def __init__(self, name: str, expected: object) -> None:
        super().__init__(f"Parámetro '{name}' no válido: se esperaba {expected}")


@dataclass(frozen=True)
class Tool:
    """Describes one thing that can be asked of the house. Every input is required."""

    name: str
    description: str
    inputs: Properties
    outputs: Properties
    run: Callable[..., Mapping[str, object]]

    def describe(self) -> Message:
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": {"type": "object", "properties": self.inputs, "required": list(self.inputs)},
            "output_schema": {"type": "object", "properties": self.outputs},
        }

    def check(self, args: Mapping[str, object]) -> Message:
        """Return the arguments that this tool takes, without others. Raises if one is missing or of the wrong type."""
        missing = [name for name in self.inputs if name not in args]
        if missing:
            raise MissingParametersError(missing)
        for name, schema in self.inputs.items():
            if not isinstance(args[name], PYTHON_TYPES[str(schema["type"])]):
                raise InvalidParameterError(name, schema["type"])
        return {name: args[name] for name in self.inputs}


def get_presence(home: Home) -> Mapping[str, object]:
    return home.presence()


def get_alarm_status(home: Home) -> Mapping[str, object]:
    return {"armed": home.alarm}


def list_lights_on(home: Home) -> Mapping[str, object]:
    return {"on": home.lights_on()}


def set_light_state(home: Home, *, name: str, on: bool) -> Mapping[str, object]:
    home.set_light_state(name, on=on, who=WHO)
    return {"ok": True}


def set_alarm_state(home: Home, *, armed: bool) -> Mapping[str, object]:
    home.set_alarm_state(armed=armed, who=WHO)
    return {"ok": True}


def get_all_states(home: Home) -> Mapping[str, object]:
    return home.states()


PRESENCE: Properties = {"present": BOOLEAN, "known_people": STRINGS}
DONE: Properties = {"ok": BOOLEAN, "error": STRING}
ALL_STATES: Properties = {
    "lights": {"type": "object", "additionalProperties": BOOLEAN},
    "alarm": BOOLEAN,
    "presence": {"type": "object", "properties": PRESENCE},
}

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("get_presence", "Obtiene el estado del detector de presencia", {}, PRESENCE, get_presence),
        Tool("get_alarm_status", "Consulta si la alarma está armada", {}, {"armed": BOOLEAN}, get_alarm_status),
        Tool(
            "list_lights_on",
            "Lista los nombres de las luces que están encendidas",
            {},
            {"on": STRINGS},
            list_lights_on,
        ),
        Tool(
            "set_light_state",
            "Enciende o apaga una luz específica",
            {"name": STRING, "on": BOOLEAN},
            DONE,
            set_light_state,
        ),
        Tool("set_alarm_state", "Arma o desarma la alarma", {"armed": BOOLEAN}, {"ok": BOOLEAN}, set_alarm_state),
        Tool("get_all_states", "Obtiene un snapshot completo del estado del sistema", {}, ALL_STATES, get_all_states),
    )
}


def call_tool(home: Home, name: str, args: Mapping[str, object]) -> Mapping[str, object]:
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolNotFoundError(name)
    return tool.run(home, **tool.check(args))


def ready() -> Message:
    return {"type": "ready", "version": VERSION, "tools": [tool.describe() for tool in TOOLS.values()]}


def failure(call_id: object, error: str) -> Message:
    return {"type": "error", "id": call_id, "ok": False, "error": error}


def answer_call(home: Home, message: Mapping[str, object]) -> Message:
    call_id, args = message.get("id"), message.get("args", {})
    if not isinstance(args, dict):
        return failure(call_id, "Parámetro 'args' no válido: se esperaba object")
    try:
        result = call_tool(home, str(message.get("tool")), args)
    except HomeError as error:
        return failure(call_id, str(error))
    return {"type": "result", "id": call_id, "ok": True, "result": result}


def answer(home: Home, line: str) -> Message | None:
    """Return the reply to one line; None if the client asks to quit."""
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        return failure(None, f"Error al parsear JSON: {error}")
    if not isinstance(message, dict):
        return failure(None, "Mensaje no válido: se esperaba un objeto JSON")
    if message.get("type") == "quit":
        return None
    if message.get("type") != "call":
        return failure(message.get("id"), f"Tipo de mensaje '{message.get('type')}' no soportado")
    return answer_call(home, message)


def serve_json_lines(home: Home, source: TextIO, sink: TextIO) -> None:
    """Announce the tools, then answer line by line until `quit` or the end of the input."""

    def send(message: Message) -> None:
        print(json.dumps(message, ensure_ascii=False, separators=(",", ":")), file=sink, flush=True)

    send(ready())
    for line in source:
        if not line.strip():
            continue
        reply = answer(home, line.strip())
        if reply is None:
            return
        send(reply)

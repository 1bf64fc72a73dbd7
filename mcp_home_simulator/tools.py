"""The six tools of the house."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from browse_together.contract.json_lines.messages import (
    Call,
    InvalidParameter,
    MissingParameters,
    Refused,
    Tool,
    ToolNotFound,
)
from mcp_home_simulator.state import HomeError, HomeState

Properties = Mapping[str, Mapping[str, object]]
Result = Mapping[str, object]

BOOLEAN: Final = {"type": "boolean"}
STRING: Final = {"type": "string"}
STRINGS: Final = {"type": "array", "items": STRING}
PYTHON_TYPES: Final = {"boolean": bool, "string": str}


@dataclass(frozen=True)
class HomeTool:
    """One tool of the house. Every input is required."""

    name: str
    description: str
    inputs: Properties
    outputs: Properties
    run: Callable[..., Result]

    def described(self) -> Tool:
        inputs = {"type": "object", "properties": self.inputs, "required": list(self.inputs)}
        return Tool(self.name, self.description, inputs, {"type": "object", "properties": self.outputs})

    def check(self, args: Mapping[str, object]) -> Mapping[str, object]:
        """Return the arguments that this tool takes, without others. Raises if one is missing or of the wrong type."""
        missing = [name for name in self.inputs if name not in args]
        if missing:
            raise MissingParameters(missing)
        for name, schema in self.inputs.items():
            if not isinstance(args[name], PYTHON_TYPES[str(schema["type"])]):
                raise InvalidParameter(name, schema["type"])
        return {name: args[name] for name in self.inputs}


def get_presence(home: HomeState) -> Result:
    return {**home.presence()}


def get_alarm_status(home: HomeState) -> Result:
    return {"armed": home.alarm}


def list_lights_on(home: HomeState) -> Result:
    return {"on": home.lights_on()}


def set_light_state(home: HomeState, *, name: str, on: bool) -> Result:
    home.set_light_state(name, on=on)
    return {"ok": True}


def set_alarm_state(home: HomeState, *, armed: bool) -> Result:
    home.set_alarm_state(armed=armed)
    return {"ok": True}


def get_all_states(home: HomeState) -> Result:
    return {**home.states()}


PRESENCE: Final[Properties] = {"present": BOOLEAN, "known_people": STRINGS}
DONE: Final[Properties] = {"ok": BOOLEAN, "error": STRING}
ALL_STATES: Final[Properties] = {
    "lights": {"type": "object", "additionalProperties": BOOLEAN},
    "alarm": BOOLEAN,
    "presence": {"type": "object", "properties": PRESENCE},
}

TOOLS: Final[Mapping[str, HomeTool]] = {
    tool.name: tool
    for tool in (
        HomeTool("get_presence", "Obtiene el estado del detector de presencia", {}, PRESENCE, get_presence),
        HomeTool("get_alarm_status", "Consulta si la alarma está armada", {}, {"armed": BOOLEAN}, get_alarm_status),
        HomeTool(
            "list_lights_on",
            "Lista los nombres de las luces que están encendidas",
            {},
            {"on": STRINGS},
            list_lights_on,
        ),
        HomeTool(
            "set_light_state",
            "Enciende o apaga una luz específica",
            {"name": STRING, "on": BOOLEAN},
            DONE,
            set_light_state,
        ),
        HomeTool("set_alarm_state", "Arma o desarma la alarma", {"armed": BOOLEAN}, {"ok": BOOLEAN}, set_alarm_state),
        HomeTool(
            "get_all_states", "Obtiene un snapshot completo del estado del sistema", {}, ALL_STATES, get_all_states
        ),
    )
}


def listed() -> list[Tool]:
    """Return the tools as `ready` announces them."""
    return [tool.described() for tool in TOOLS.values()]


class HomeTools:
    """The tools on one house."""

    def __init__(self, home: HomeState) -> None:
        self.home = home

    async def run(self, call: Call) -> Result:
        """Return the result of a call. Raises Refused."""
        tool = TOOLS.get(call.tool)
        if tool is None:
            raise ToolNotFound(call.tool)
        try:
            return tool.run(self.home, **tool.check(call.args))
        except HomeError as error:
            raise Refused(str(error)) from None

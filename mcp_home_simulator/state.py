"""The state of the house: its lights, its alarm, and who is there."""

from typing import Final, TypedDict

LIGHTS: Final = ("salon", "cocina", "dormitorio", "bano", "garage")
RESIDENTS: Final = ("Carlos", "Ana")


class HomeError(Exception):
    """The house cannot do what was asked. The text says why."""


class LightNotFoundError(HomeError):
    """No light has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Luz '{name}' no encontrada")


class Presence(TypedDict):
    """Who is home."""

    present: bool
    known_people: list[str]


class States(TypedDict):
    """The whole house at one moment."""

    lights: dict[str, bool]
    alarm: bool
    presence: Presence


class HomeState:
    """One house, which begins with everything off and nobody home. It is not for several threads."""

    def __init__(self) -> None:
        self.lights = dict.fromkeys(LIGHTS, False)
        self.alarm = False
        self.present = False
        self.people: list[str] = []

    def presence(self) -> Presence:
        return {"present": self.present, "known_people": list(self.people)}

    def lights_on(self) -> list[str]:
        return [name for name, on in self.lights.items() if on]

    def states(self) -> States:
        return {"lights": dict(self.lights), "alarm": self.alarm, "presence": self.presence()}

    def set_light_state(self, name: str, *, on: bool) -> None:
        if name not in self.lights:
            raise LightNotFoundError(name)
        self.lights[name] = on

    def set_alarm_state(self, *, armed: bool) -> None:
        self.alarm = armed

    def set_presence(self, *, present: bool) -> None:
        self.present = present
        self.people = list(RESIDENTS) if present else []

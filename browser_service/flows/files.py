"""Reads and writes flows: one TOML file each, which people may edit and keep under version control."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

import tomlkit
from pydantic import JsonValue

from browse_together.contract import flows
from browse_together.contract.actions.traits import Scope
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.data_files import draft
from browse_together.contract.errors import (
    BrowseError,
    Forbidden,
    ResourceExhausted,
    StateNotFound,
    ValidationFailed,
    field_details,
)
from browse_together.contract.flows import SELECTORS, Flow
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import quoted
from browse_together.contract.similarity import nearest
from browser_service.flows.running import check
from browser_service.security.auth import Identity

_MOST_FLOWS = 1_000
_SUFFIX = ".toml"


@dataclass(frozen=True)
class FlowFiles:
    """The folder of flows."""

    folder: Path

    def load(self, name: str) -> Flow:
        """Return a flow. Raises StateNotFound, and what is wrong with its file."""
        path = self.existing(name)
        flows.check_size(path.stat().st_size, path.name)
        try:
            return self.parsed(path.read_text(encoding="utf-8"), name)
        except UnicodeDecodeError as error:
            raise ValidationFailed(f"{path.name} is no TOML: {error}.", details=field_details("name")) from None

    def existing(self, name: str) -> Path:
        """Return a flow's file, whatever is in it. Raises StateNotFound."""
        path = self.path(name)
        if not path.is_file():
            names = self._names()
            near = ", ".join(nearest(name, names, most=3)) or ", ".join(names[:10])
            raise StateNotFound(
                f"There is no flow {name!r}.",
                hint=f"There are: {near}." if near else f"None is saved yet: {next_call('save_flow', ..., name=name)}.",
                details=field_details("name"),
            )
        return path

    def parsed(self, text: str, name: str) -> Flow:
        """Return the flow that a text is, for a file of this name. Raises what is wrong with it or with a step."""
        file = self.path(name).name
        flows.check_size(len(text.encode()), file)
        try:
            flow = flows.parse(tomllib.loads(text), file)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ValidationFailed(f"{file} is no TOML: {error}.", details=field_details("name")) from None
        if flow.name != name:
            raise ValidationFailed(f"{file}: name is {flow.name!r}; it must be the file's.")
        given = {name: cast("JsonValue", each.default) for name, each in flow.parameters.items()}
        check(flow, {name: value for name, value in given.items() if value is not None})
        return flow

    def described(self) -> list[Json]:
        """Describe each flow; of a file that is none, say why."""
        return [self._described(name) for name in self._names()]

    def allows(self, name: str, check_allowed: Callable[[Flow], None]) -> bool:
        """Return whether a flow can be read and is allowed."""
        try:
            check_allowed(self.load(name))
        except BrowseError:
            return False
        return True

    def path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob(f"*{_SUFFIX}"))[:_MOST_FLOWS]

    def _described(self, name: str) -> Json:
        try:
            now = self.path(name).stat()
        except OSError:
            return {"name": name, "problem": f"There is no flow {name!r} any more."}
        return {**_description(self, name, now.st_mtime_ns, now.st_size)}

    def write(self, flow: Flow, caller: Identity) -> Path:
        """Write a flow. Raises Forbidden if it is there already, and is another client's."""
        path = self.path(flow.name)
        if path.exists():
            self._check_owner(self.load(flow.name), caller)
        elif len(self._names()) >= _MOST_FLOWS:
            raise ResourceExhausted(f"There are {_MOST_FLOWS} flows, as many as can be.")
        text = written(flow)
        flows.check_size(len(text.encode()), path.name)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.put(text, path)
        return path

    @staticmethod
    def put(text: str, path: Path) -> None:
        """Write a flow's file whole, or not at all."""
        draft(path, text.encode()).replace(path)

    @staticmethod
    def _check_owner(flow: Flow, caller: Identity) -> None:
        if flow.owner != caller.client_id and not caller.operator:
            owner = (flow.saved_by and quoted(flow.saved_by)) or ("another client" if flow.owner else "a person")
            raise Forbidden(
                f"The flow {flow.name!r} was saved by {owner}, and stays as it is.",
                hint="Save under another name. The account's person may change it: "
                f"browse-together flow edit {flow.name}.",
                details=field_details("name"),
            )


@lru_cache(maxsize=_MOST_FLOWS)
def _description(files: FlowFiles, name: str, _changed: int, _size: int) -> Json:
    """Describe a flow, whose file is read once for each of its versions: a large one takes half a second."""
    try:
        flow = files.load(name)
    except BrowseError as error:
        return {"name": name, "problem": error.message}
    needed = [key for key, each in flow.parameters.items() if each.default is None]
    outputs = [step.output for step in flow.steps if step.output]
    described: Json = {"name": name, "description": flow.description, "steps": len(flow.steps)}
    return described | {"needs": [*needed], "outputs": [*outputs], "savedBy": flow.saved_by}


def file_schema() -> Json:
    schema = cast("Json", Flow.model_json_schema())  # a schema is JSON
    step = cast("dict[str, Json]", cast("dict[str, Json]", schema["$defs"])["Step"]["properties"])  # as pydantic has it
    step["action"]["enum"] = [name for name, kind in ACTIONS.items() if kind.scope is Scope.PAGE]
    for name in SELECTORS:
        one: Json = {"type": "string"}
        step[name] = {"anyOf": [one, {"type": "array", "items": one, "maxItems": flows.MOST_SELECTORS}]}
    return schema


def written(flow: Flow) -> str:
    """Return the text of a flow's file."""
    data = cast("Json", flow.model_dump(exclude_defaults=True))  # a model of JSON values
    for step in cast("list[Json]", data["steps"]):
        expect = step.pop("expect", None)  # a table of its own, so it comes last
        if expect:
            step["expect"] = expect
    return tomlkit.dumps(data)

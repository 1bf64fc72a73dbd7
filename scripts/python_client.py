"""Writes the Python client's typed methods and errors, from the contract's actions and errors."""

import json
import re
from collections.abc import Iterable, Iterator
from textwrap import fill, indent, wrap
from typing import Final, cast

from browse_together.contract import toolsets
from browse_together.contract.actions.base import Action, PageAction
from browse_together.contract.actions.traits import Effect, Unaddressed
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import BrowseError, every_error
from browse_together.contract.schema import Schema, properties_of, required_of
from browse_together.naming import python_name
from browse_together.results import RESULTS, Done, Result

_WIDTH: Final = 120
_LEFT_OUT: Final = frozenset({"seven", "help"})
"""Toolsets of things that Python has itself, or that are another form of what it has."""
_OURS: Final = {"extract_table": {"rows", "format", "save"}, "extract_data": {"format", "save"}}
"""Arguments for the form of a result, which has one form in Python."""
_BY_POSITION: Final = frozenset({"selector", "text", "pattern"})
_BUSY: Final = frozenset({"PAGE_OWNED", "HUMAN_IN_CONTROL"})
_NAMED: Final = {
    "JsonValue": "Any",
    "Datum": "str | Mapping[str, Any]",  # it contains itself
    "GivenFile": "str | PathLike[str] | GivenFile",
}
_PAGE_ACTIONS: Final = "The actions on one page. Each also takes the arguments of `OfPage`, such as `timeout` (ms)."
_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_CAMEL: Final = re.compile(r"(?<![\w.\"'/])([a-z]+(?:[A-Z][a-z]+)+)(?![\w\"'])")


def actions() -> str:
    """Return the module of methods."""
    ours = [action for action in ACTIONS.values() if toolsets.category(action) not in _LEFT_OUT]
    of_page = [action for action in ours if _is_of_page(action)]
    of_browser = [action for action in ours if not _is_of_page(action)]
    classes = [
        _class("PageActions", _PAGE_ACTIONS, "Calling", of_page, is_async=False),
        _class("BrowserActions", "The actions on sessions, and in the service.", "Calling", of_browser, is_async=False),
        _class("AsyncPageActions", _PAGE_ACTIONS, "AsyncCalling", of_page, is_async=True),
        _class(
            "AsyncBrowserActions",
            "The actions on sessions, and in the service.",
            "AsyncCalling",
            of_browser,
            is_async=True,
        ),
    ]
    return "\n\n\n".join([_HEAD.format(results=_result_names(ours)), *_objects(ours), _common(), *classes]) + "\n"


def errors() -> str:
    """Return the module of errors."""
    classes = [error for error in every_error() if BrowseError in error.__bases__]  # no other has a code of its own
    names = [BrowseError.__name__, *(each.__name__ for each in classes)]
    listed = fill(", ".join(map(json.dumps, names)), _WIDTH - 4)
    texts = [f"__all__ = [\n{indent(listed, '    ')},\n]"]
    for error in classes:
        above = "Busy" if error.code in _BUSY else "BrowseError"
        meaning = f'"""{" ".join((error.__doc__ or "").split())}"""'
        texts.append(f'class {error.__name__}({above}):\n    {meaning}\n\n    code = "{error.code}"')
    return "\n\n\n".join([f"{_ERRORS_HEAD}\n\n{texts[0]}", *texts[1:]]) + "\n"


_HEAD: Final = '''"""The actions as methods. `make docs` writes this file from the contract's: do not edit it."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NotRequired, TypedDict, Unpack

from browse_together.calling import AsyncCalling, Calling
from browse_together.results import (
{results}
)'''
_ERRORS_HEAD: Final = '''"""The errors. `make docs` writes this file from the contract's: do not edit it."""

from browse_together.refusals import BrowseError, Busy'''


def _is_of_page(action: type[Action]) -> bool:
    """Return whether the action is done on a page that the caller has, and does not open another."""
    return issubclass(action, PageAction) and action.unaddressed is not Unaddressed.ANOTHER_PAGE


def _result_names(ours: Iterable[type[Action]]) -> str:
    return "\n".join(f"    {name}," for name in sorted({_result(action) for action in ours}))


def _result(action: type[Action]) -> str:
    usual = Result if action.effect is Effect.READS else Done
    return RESULTS.get(action.name(), usual).__name__


def _schema(action: type[Action]) -> Schema:
    return cast("Schema", action.model_json_schema(by_alias=True))  # a schema is JSON


def _objects(ours: Iterable[type[Action]]) -> Iterator[str]:
    """Yield a class for each kind of object among the arguments."""
    found: dict[str, Schema] = {}
    for action in ours:
        found |= cast("dict[str, Schema]", _schema(action).get("$defs", {}))  # as pydantic writes it
    for name, node in sorted(found.items(), key=lambda item: item[0] != "SecretRef"):
        if members := properties_of(node):
            required = required_of(node)
            lines = [
                f"    {key}: {_type(each) if key in required else f'NotRequired[{_type(each)}]'}\n"
                f'    """{each.get("description", "")}"""'
                for key, each in members.items()
            ]
            yield "\n".join([f"class {name}(TypedDict):", *lines])


def _common() -> str:
    members = [name for name in properties_of(_schema(PageAction)) if name not in {"pageId", "sessionId"}]
    nodes = properties_of(_schema(PageAction))
    lines = [f'    {python_name(n)}: int\n    """{_about(nodes[n])}"""' for n in members if n == "timeout"]
    lines += [
        f'    {python_name(n)}: {_type(nodes[n])}\n    """{_about(nodes[n])}"""' for n in members if n != "timeout"
    ]
    about = '    """The arguments that every action on a page takes."""\n'
    return "\n".join(["class OfPage(TypedDict, total=False):", about, *lines])


def _class(name: str, about: str, base: str, ours: Iterable[type[Action]], *, is_async: bool) -> str:
    methods = [_method(action, is_async=is_async) for action in ours]
    return "\n\n".join([f'class {name}({base}):\n    """{about}"""', *methods])


def _arguments(action: type[Action]) -> dict[str, Schema]:
    """Return the arguments of a method, by their names on the wire, without those that all actions of a page have."""
    members, left_out = properties_of(_schema(action)), _OURS.get(action.name(), set[str]())
    if _is_of_page(action):
        left_out = {*left_out, *properties_of(_schema(PageAction))}
    if "cursor" not in members:
        left_out = {*left_out, "budget"}  # a program gets the whole
    return {name: node for name, node in members.items() if name not in left_out}


def _method(action: type[Action], *, is_async: bool) -> str:
    arguments, required = _arguments(action), required_of(_schema(action))
    leading = [name for name in arguments if name in required]
    leading = leading or [name for name in arguments if name in _BY_POSITION][:1]
    named = [name for name in arguments if name not in leading]
    given = [_parameter(name, arguments[name], is_required=name in required) for name in leading]
    given += ["*"] if named else []
    given += [_parameter(name, arguments[name], is_required=False) for name in named]
    given += ["**common: Unpack[OfPage]"] if _is_of_page(action) else []
    result, name = _result(action), action.name()
    signature = _filled(f"    {'async ' * is_async}def {name}(", ["self", *given], f") -> {result}:")
    body = f'        return {"await " * is_async}self._call("{name}", {result}, locals())'
    return "\n".join([signature, _docstring(action, arguments), body])


def _filled(head: str, items: list[str], tail: str) -> str:
    line = f"{head}{', '.join(items)}{tail}"
    if len(line) <= _WIDTH:
        return line
    lines, room = [""], _WIDTH - 8
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) + 2 > room:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return "\n".join([head, *(f"        {each}" for each in lines), f"    {tail}"])


def _parameter(name: str, node: Schema, *, is_required: bool) -> str:
    kind = _type(node)
    return f"{python_name(name)}: {kind}" if is_required else f"{python_name(name)}: {kind} | None = None"


def _docstring(action: type[Action], arguments: dict[str, Schema]) -> str:
    lines = wrap(_in_python(action.whole_description()), _WIDTH - 11)
    about = [f"{python_name(name)}: {_about(node)}" for name, node in arguments.items()]
    body = [line for each in about for line in wrap(each, _WIDTH - 8, subsequent_indent="    ")]
    text = "\n".join([*lines, "", *body]) if body else "\n".join(lines)
    text = indent(text, "        ").strip()
    quotes = 'r"""' if "\\" in text else '"""'
    return f'        {quotes}{text}{f"{chr(10)}        " if body else ""}"""'


def _about(node: Schema) -> str:
    default = node.get("default")
    told = f" Default: {default}." if default not in (None, "", [], {}) else ""
    options = cast("list[Schema]", node.get("anyOf", []))  # a schema contains schemas
    about = str(node.get("description") or next((each["description"] for each in options if "description" in each), ""))
    return _in_python(f"{about}{told}".strip())


def _in_python(text: str) -> str:
    """Spell names of arguments as Python does."""
    return _CAMEL.sub(lambda found: python_name(found[1]), text)


def _type(node: Schema) -> str:
    if isinstance(reference := node.get("$ref"), str):
        name = reference.rpartition("/")[2]
        return _NAMED.get(name, name)
    if isinstance(options := node.get("anyOf"), list):
        kinds = [_type(cast("Schema", each)) for each in options if each != {"type": "null"}]  # as above
        return " | ".join(dict.fromkeys(kinds))
    if "const" in node or "enum" in node:
        values = [node["const"]] if "const" in node else cast("list[str]", node["enum"])
        return f"Literal[{', '.join(map(json.dumps, values))}]"
    kind = str(node.get("type", ""))
    if kind == "array":
        return f"Sequence[{_type(cast('Schema', node['items']))}]"
    if kind == "object":
        inner = node.get("additionalProperties")
        return f"Mapping[str, {_type(inner) if isinstance(inner, dict) else 'Any'}]"
    return _PLAIN.get(kind, "Any")

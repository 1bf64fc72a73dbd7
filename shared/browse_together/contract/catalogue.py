"""Lists all actions, and parses every call.

It is a little longer than 300 lines because it shows in one place how a call's text becomes an action.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar, cast

from pydantic import JsonValue, ValidationError

from browse_together.contract import argument_errors, peer_calls, peers
from browse_together.contract.actions.base import MOST_ARGUMENTS, MOST_PARTS, Action, PageAction
from browse_together.contract.actions.combining import Batch, is_separate_call, needs_separate_calls
from browse_together.contract.actions.help import CallTool, decoded
from browse_together.contract.actions.traits import Alias
from browse_together.contract.argument_errors import Body
from browse_together.contract.errors import BrowseError, InvalidRequest, ValidationFailed
from browse_together.contract.model import object_at
from browse_together.contract.next_calls import next_call
from browse_together.contract.schema import full_schema, is_left_out, properties_of, required_of, second_names

CATEGORIES: Final = (
    "navigation",
    "interaction",
    "pointer",
    "editing",
    "files",
    "combining",
    "waiting",
    "reading",
    "extraction",
    "inspection",
    "scripting",
    "page_tools",
    "media",
    "tracing",
    "network",
    "emulation",
    "pages",
    "dialogs",
    "ownership",
    "people",
    "hands",
    "sessions",
    "storage",
    "signing_in",
    "calls",
    "activity",
    "flows",
    "help",
    "states",
    "seven",
)
"""The modules of `shared.actions` in the order of the list."""


def _declared_actions() -> dict[str, type[Action]]:
    """Return the action classes of every category, in source order."""
    actions = [
        value
        for module in (import_module(f"browse_together.contract.actions.{category}") for category in CATEGORIES)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Action) and value.__module__ == module.__name__
    ]
    return {action.name(): action for action in actions}


A = TypeVar("A", bound=Action)

ACTIONS: Final = MappingProxyType(_declared_actions())

_QUOTED_CHARACTERS: Final = 500
"""The most characters of a corrected call that an error quotes."""


class NamedAction(NamedTuple):
    """The action that a name in a body means."""

    action: type[Action]
    alias: Alias | None = None


NAMES: Final = MappingProxyType(
    {name: NamedAction(action) for name, action in ACTIONS.items()}
    | {alias.name: NamedAction(action, alias) for action in ACTIONS.values() for alias in action.aliases}
    | {alias.name: NamedAction(ACTIONS[name], alias) for name, aliases in peers.TOOLS.items() for alias in aliases}
    | {
        name: NamedAction(ACTIONS[each.here.partition(",")[0]], Alias(name))
        for name, each in peer_calls.CONVERTED.items()
    }
)


def parse(body: Body) -> Action:
    """Return the action in a body. Raises InvalidRequest for a missing or unknown action, and ValidationFailed, which
    names the argument, for anything else."""
    _check_text(body)
    return _parse(body)


def called(body: Body) -> type[Action]:
    """Return the action that a body names, even inside `call_tool`; CallTool itself for an unknown name."""
    name = body.get("action")
    if name == CallTool.name():
        name = body.get("name", name)
    named = NAMES.get(name) if isinstance(name, str) else None
    return named.action if named else CallTool


def parse_as(kind: type[A], body: Body) -> A:
    """Parse a body as an action of this class. Raises what `parse` does, and TypeError for another class."""
    action = parse({**body, "action": kind.name()})
    if not isinstance(action, kind):
        raise TypeError(f"{action.name()} is not {kind.name()}")
    return action


def unwrap(body: Body) -> dict[str, JsonValue]:
    """Return the call inside a `call_tool`, or any other body: with lists and objects instead of the JSON texts that
    hosts send, and as a call of ours if it is one of another server's. So no other module sees wrappers, such texts or
    such calls. Raises InvalidRequest for an unknown name, and ValidationFailed for arguments that cannot be passed
    on."""
    if body.get("action") != CallTool.name():
        return _without_texts(peer_calls.converted(body))
    wrapper = {key: value for key, value in body.items() if key != "action"}
    misplaced = [key for key in wrapper if key not in {"name", "arguments"}]
    if misplaced and "name" in wrapper and isinstance(inner := wrapper.get("arguments", {}), dict):
        arguments = {**{key: wrapper[key] for key in misplaced}, **inner}
        corrected = next_call("call_tool", name=wrapper["name"], arguments=arguments)
        raise ValidationFailed(
            f"Unknown argument {misplaced[0]!r} for call_tool: the tool's own arguments go into `arguments`.",
            hint=corrected
            if len(corrected.partition(" ")[2]) <= _QUOTED_CHARACTERS
            else f"Move {', '.join(misplaced)} into arguments.",
            details=argument_errors.error_details(CallTool, misplaced[0]),
        )
    try:
        call = CallTool.model_validate(wrapper)
    except ValidationError as error:
        raise argument_errors.explain(CallTool, wrapper, error) from None
    _check_wrapped(call)
    inner_body = peer_calls.body_of(call.tool, call.arguments)
    _check_text(inner_body)
    return _without_texts(peer_calls.converted(inner_body))


def _without_texts(body: Body) -> dict[str, JsonValue]:
    """Parse JSON texts of lists and objects in a body, wherever its action does not take texts, take a word for a
    list of one, and leave out an empty text that stands for nothing."""
    given, name = {**body}, body.get("action")
    if not isinstance(name, str) or name not in NAMES or not any(isinstance(value, str) for value in given.values()):
        return given
    action, alias = NAMES[name].action, NAMES[name].alias
    properties = properties_of(full_schema(action))
    for key, value in body.items():
        listed = alias.renames.get(key, key) if alias else key
        property_, bag = properties.get(listed, {}), key in action.option_bags
        if not isinstance(value, str) or not (property_ or bag):
            continue
        if is_left_out(action, listed, value):
            del given[key]
        elif value.lstrip()[:1] in {"[", "{"} and (bag or property_.get("type") in {"array", "object"}):
            given[key] = cast("JsonValue", decoded(value))
        elif property_.get("type") == "array" and object_at(property_, "items").get("type") == "string":
            given[key] = [value]
    _check_text(given)
    return given


def _check_wrapped(call: CallTool) -> None:
    if call.tool not in NAMES:
        raise InvalidRequest(
            f"There is no tool {argument_errors.quoted_name(call.tool)!r}.",
            hint=f"Did you mean {argument_errors.suggestions(call.tool, NAMES)}? {next_call('help')} lists all.",
            details=argument_errors.error_details(CallTool, "name"),
        )
    if call.tool == CallTool.name():
        raise ValidationFailed(
            "call_tool does not call itself.",
            hint=f"Name the tool that you mean: {next_call('call_tool', name='hover', arguments={'selector': 'e12'})}.",
            details=argument_errors.error_details(CallTool, "name"),
        )
    if call.tool not in peer_calls.WITH_VERB and call.arguments.get("action", call.tool) != call.tool:
        raise ValidationFailed(
            f"name is {call.tool!r}, and the arguments name the action {call.arguments['action']!r}.",
            hint="Give the tool once, by name.",
            details=argument_errors.error_details(CallTool, "arguments"),
        )


def missing_arguments(body: Body) -> list[str]:
    """Return the required arguments missing in a body. If it has an unknown argument, return none, because that may be
    a misspelt one, which `parse` explains better. Raises ValidationFailed if the arguments are unclear."""
    named = NAMES[str(body["action"])]
    given = _arguments(named, body)
    schema, others = full_schema(named.action), second_names(named.action)
    known = {*properties_of(schema), *chain.from_iterable(others.values())}
    required = required_of(schema) if given.keys() <= known else []
    return [name for name in required if given.keys().isdisjoint([name, *others.get(name, [])])]


def _parse(body: Body, carrier: type[Action] | None = None) -> Action:
    """Parse a body, which may be a part of a `carrier` action."""
    body = unwrap(body)
    name = body.get("action")
    if not isinstance(name, str):
        problem = f"must be a name, not {argument_errors.json_kind(name)}" if "action" in body else "is missing"
        raise InvalidRequest(f'"action" {problem}.', hint='Send {"action": "goto", "url": "https://example.com"}.')
    named = NAMES.get(name)
    if named is None:
        raise InvalidRequest(
            f"Unknown action: {argument_errors.quoted_name(name)}",
            hint=f"Did you mean {argument_errors.suggestions(name, NAMES)}? {next_call('help')} lists all.",
            details={"context": {"availableActions": [*sorted(ACTIONS)]}},
        )
    arguments = _arguments(named, body)
    if carrier is not None:
        _check_part(named.action, arguments, carrier)
    if len(arguments) > MOST_ARGUMENTS:
        raise ValidationFailed(
            f"{named.action.name()} is given {len(arguments):,} arguments, and {MOST_ARGUMENTS} are allowed.",
            hint=f"See what it takes: {next_call('help', name=named.action.name())}.",
            details=argument_errors.error_details(named.action, ""),
        )
    try:
        parsed = _with_parts(named.action, arguments) if named.action.part_fields else arguments
        return named.action.model_validate(parsed)
    except ValidationError as error:
        raise argument_errors.explain(named.action, arguments, error) from None


def _check_part(action: type[Action], arguments: Body, carrier: type[Action]) -> None:
    """Raise for an action that cannot be a part of the carrier. A batch takes neither a batch nor an action that waits
    for a person. The others take no action that has parts itself or acts elsewhere than on their page."""
    shares_turn = issubclass(action, PageAction) and not is_separate_call(action)
    has_parts = any(name in arguments for name in action.part_fields)
    why, hint = "", f"Call {action.name()} by itself."
    if action.asks_person:
        text = json.dumps({**arguments}, ensure_ascii=False)
        why = ": it waits for a person"
        hint = f"Call it by itself: {action.name()} {text if len(text) <= _QUOTED_CHARACTERS else '{...}'}."
    elif carrier is Batch and action is Batch:
        hint = "Put its steps among these."
    elif carrier is Batch or (shares_turn and not has_parts):
        return
    raise ValidationFailed(
        f"{action.name()} cannot be done within {carrier.name()}{why}.",
        hint=hint,
        details=argument_errors.error_details(action, ""),
    )


def _with_parts(action: type[Action], arguments: dict[str, JsonValue]) -> dict[str, object]:
    """Parse the actions inside the arguments, and give all of them one page. In a batch, each may be a separate call
    instead."""
    parsed: dict[str, object] = {**arguments}
    parts: dict[str, Action] = {}
    for name in action.part_fields:
        value = arguments.get(name)
        if isinstance(value, list) and len(value) <= MOST_PARTS:
            parsed[name] = [_part(action, f"{name}.{place}", body, parts) for place, body in enumerate(value)]
        elif not isinstance(value, list) and value is not None:
            parsed[name] = _part(action, name, value, parts)
    if action is Batch and needs_separate_calls(parts.values(), _text(parsed, "pageId"), _text(parsed, "sessionId")):
        return parsed
    for field in ("pageId", "sessionId"):
        _address_all(action, field, parsed, parts)
    return parsed


def _text(arguments: Mapping[str, object], field: str) -> str | None:
    value = arguments.get(field)
    return value if isinstance(value, str) else None


def _part(carrier: type[Action], place: str, body: JsonValue, parts: dict[str, Action]) -> JsonValue | Action:
    if not isinstance(body, dict):
        return body  # validation will refuse it
    try:
        parts[place] = part = _parse(body, carrier)
    except BrowseError as error:
        raise _with_place(error, place) from None
    return part


def _address_all(carrier: type[Action], field: str, arguments: dict[str, object], parts: Mapping[str, Action]) -> None:
    """Give the call the page that its parts name. Raises ValidationFailed if they name another one."""
    named = {place: name for place, part in parts.items() if (name := part.wire_body().get(field))}
    if not named:
        return
    arguments[field] = common = arguments.get(field) or next(iter(named.values()))
    other = next((place for place, name in named.items() if name != common), None)
    if other is not None:
        raise ValidationFailed(
            f"{other}.{field}: all of {carrier.name()} is done on one page: {common!r} here, and not {named[other]!r}.",
            hint=f"Give {field} once, beside {carrier.part_fields[0]}; for another page make another call.",
            details=argument_errors.error_details(carrier, f"{other}.{field}"),
        )


def _with_place(error: BrowseError, place: str) -> BrowseError:
    """Add a part's place, such as `steps.2.selector`, to its error."""
    context = object_at(error.details, "context")
    within = str(context.get("field", ""))
    field = ".".join(filter(None, [place, within]))
    error.message = f"{field}: {error.message.removeprefix(f'{within}: ')}"
    error.details["context"] = {**context, "field": field}
    return error


def _check_text(body: Body) -> None:
    """Raise ValidationFailed for half a character (a lone surrogate), which is valid JSON but would later fail as
    UTF-8."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed(
            f"The body's text has only half of a surrogate pair: {error.object[error.start]!r}.",
            hint="Send both halves of the pair, or the character itself.",
        ) from None
    except RecursionError:
        raise ValidationFailed("The body is nested too deeply.") from None


def _fold(action: type[Action], arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Move the keys of `params`, `fetchOptions` and the like to their proper places."""
    folded = dict(arguments)
    for bag in action.option_bags:
        options = folded.pop(bag, None)
        if options is None:
            continue
        if not isinstance(options, dict):
            raise ValidationFailed(
                f"{bag} of {action.name()} must be an object of options, not {argument_errors.json_kind(options)}.",
                hint=f'Send {{"{bag}": {{"name": value}}}}, or the options beside it.',
                details=argument_errors.error_details(action, bag),
            )
        for key, value in options.items():
            if key in folded and folded[key] != value:
                raise ValidationFailed(
                    f"{key} is given twice with different values: beside {bag}, and in it.",
                    hint=f"Give {key} once.",
                    details=argument_errors.error_details(action, key),
                )
            folded[key] = value
    return folded


def _arguments(named: NamedAction, body: Body) -> dict[str, JsonValue]:
    """Return a body's arguments by our names, from wherever they stand in it."""
    folded, known = {**body}, properties_of(full_schema(named.action))
    folded.pop("action", None)
    if named.alias is None and folded.keys() <= known.keys() and "fields" not in known:
        return folded  # nothing to find elsewhere, or under another name
    folded = _fold(named.action, folded)
    return peers.with_selector(_translate(named.alias, folded) if named.alias else folded, known)


def _translate(alias: Alias, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    renamed = {alias.renames.get(key, key): value for key, value in arguments.items()}
    return {**alias.presets, **renamed}


def digest(actions: Mapping[str, type[Action]]) -> str:
    """Return a digest that changes with any argument of any of the actions. The digest of all actions is the
    fingerprint, stored in `shared.written`; gateway and service compare theirs."""
    contract = {name: full_schema(action) for name, action in actions.items()}
    return hashlib.sha256(json.dumps(contract, sort_keys=True).encode()).hexdigest()[:12]

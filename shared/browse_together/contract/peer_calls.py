"""The tools of other browser servers whose arguments have other values or another form than ours, and the calls of ours
that they become.

Names that only need other names of arguments are in `peers`. `docs/coming-from.md` shows both.
"""

import json
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from pydantic import JsonValue

from browse_together.contract.actions.help import decoded
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.peers import with_selector

VERB: Final = "do"
"""Where an argument of theirs called `action` stands in a body, whose `action` is the tool."""
_ADDRESS: Final = ("pageId", "sessionId")
_OF_CALL: Final = (*_ADDRESS, "ifRevision", "expectUrl", "reply", "params")
_TYPING: Final = frozenset(("selector", "text", "value", "submit", "slowly", "submitKey"))
_SNAPSHOT: Final = "includeSnapshot"
_MOST_S: Final = 1e9
_IN_REPLY: Final = "it is in the reply, and in no file of that name"
_STORED: Final = MappingProxyType({"list": "get", "get": "get", "set": "set", "delete": "remove", "clear": "clear"})
_LEVELS: Final[Mapping[JsonValue, list[JsonValue]]] = MappingProxyType(
    {"error": ["exception", "error"], "warning": ["exception", "error", "warning"]}
)


class Converted(NamedTuple):
    """A tool of theirs: what it is here, and how its arguments become a body of ours."""

    here: str
    """The names of our tools, the usual one first."""
    body: Callable[[Json], Json]
    told: str = ""
    """What of it is different here, for people."""


def body_of(tool: str, arguments: Mapping[str, JsonValue]) -> Json:
    verb = arguments.get("action", tool)
    moved: Json = {VERB: verb} if verb != tool and tool in WITH_VERB else {}
    return {**arguments, **moved, "action": tool}


def converted(body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return a call of theirs as a call of ours, and one of ours as it is. Raises ValidationFailed, which names the
    argument."""
    tool = body.get("action")
    if not isinstance(tool, str):
        return body
    known, (theirs, also) = CONVERTED.get(tool), _ALSO.get(tool, _NONE)
    convert = known.body if known is not None else None if theirs.isdisjoint(body) else also
    return convert({key: value for key, value in body.items() if key != "action"}) if convert is not None else body


def _is(action: str, drop: Collection[str] = (), **renames: str) -> Callable[[Json], Json]:
    """Return the converter to an action of ours that renames arguments and leaves some out."""

    def convert(given: Json) -> Json:
        kept = {renames.get(key, key): value for key, value in given.items() if key not in drop}
        return {**kept, "action": action}

    return convert


def _refused(field: str, problem: str, hint: str) -> ValidationFailed:
    return ValidationFailed(f"{field}: {problem}", hint=hint, details=field_details(field))


def _on(value: JsonValue) -> bool:
    """Return whether a flag is set, which hosts also send as text."""
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _list(value: JsonValue) -> JsonValue:
    """Return a list also where a host sends its JSON text."""
    return cast("JsonValue", decoded(value)) if isinstance(value, str) and value.lstrip()[:1] == "[" else value


def _text(words: JsonValue) -> str:
    """Return the selector of what says these words, which are data and not part of a selector."""
    said = words if isinstance(words, list) else [words]
    return ", ".join(f":text({json.dumps(' '.join(str(each).split()), ensure_ascii=False)})" for each in said)


def _wait(given: Json) -> Json:
    ways = [name for name in ("time", "text", "textGone") if given.get(name)]
    if len(ways) != 1:
        names = " and ".join(ways) or "none of time, text and textGone"
        raise _refused("text", f"this waits for one thing, and {names} is given.", "Make a call for each.")
    words = _list(given.pop(ways[0]))
    rest: Json = {key: value for key, value in given.items() if value}
    if ways == ["time"]:
        if isinstance(words, int | float) and abs(words) < _MOST_S:
            words = round(words * 1_000)
        return {**rest, "action": "wait", "duration": words}
    state = "hidden" if ways == ["textGone"] else "visible"
    return {**rest, "action": "wait_for_selector", "selector": _text(words), "state": state}


def _tabs(given: Json) -> Json:
    verb = given.pop(VERB, "list")
    if "index" in given or verb == "select":
        hint = f"Give pageId with each call, close_page too; these are yours: {next_call('list_pages')}."
        raise _refused("index", "pages have a pageId here, and none is selected.", hint)
    actions = {"list": "list_pages", "new": "open_page", "close": "close_page"}
    if not isinstance(verb, str) or verb not in actions:
        raise _refused("action", "must be list, new, close or select.", next_call("list_pages"))
    if verb != "new" or not given.get("url"):
        given.pop("url", None)
    return {**({} if verb == "list" else given), "action": actions[verb]}


def _select_page(_: Json) -> Json:
    hint = f"Give pageId with each call; yours: {next_call('list_pages')}."
    raise _refused("pageId", "no page is selected here.", hint)


def _navigate(given: Json) -> Json:
    kind = given.pop("type", "url")
    actions = {"url": "goto", "back": "go_back", "forward": "go_forward", "reload": "reload_page"}
    if not isinstance(kind, str) or kind not in actions:
        raise _refused("type", "must be url, back, forward or reload.", next_call("goto", url="https://example.com"))
    return {**given, "action": actions[kind]}


def _files(given: Json) -> Json:
    names = ("paths", "filePaths", "filePath")
    paths = _list(next((given.pop(name) for name in names if name in given), None) or [])
    files: list[JsonValue] = [{"path": each} for each in (paths if isinstance(paths, list) else [paths])]
    return {**with_selector(given, ("selector",)), "files": files}


def _upload(given: Json) -> Json:
    return {"selector": "input[type=file]", **_files(given), "action": "upload_file"}


def _viewport(given: Json) -> Json:
    size: Json = {name: given.pop(name) for name in ("width", "height") if name in given}
    return {**given, "viewport": size, "action": "emulate"}


def _console(given: Json) -> Json:
    level = given.pop("level", None)
    types: Json = {"types": _LEVELS[level]} if isinstance(level, str) and level in _LEVELS else {}
    return {**_is("get_console_messages", ("filename",))(given), **types}


def _requests(given: Json) -> Json:
    words = given.pop("filter", None)
    pattern: Json = {"pattern": f"/{words}/"} if words else {}
    return {**_is("get_network_log", ("filename", "static"))(given), **pattern}


def _script(given: Json) -> Json:
    elements = _list(given.pop("args", None)) or []
    if not isinstance(elements, list) or len(elements) > 1:
        raise _refused("args", "the function gets one element here.", "Find the others in the function.")
    element: Json = {"selector": elements[0]} if elements else {}
    return {**_is("evaluate_script", ("filePath", "filename"), function="expression")(given), **element}


def _typed(action: str, key: JsonValue, given: Json, **typed: JsonValue) -> Json:
    """Return the call that types, or both calls, if a key is pressed afterwards."""
    rest: Json = {name: value for name, value in given.items() if name not in _TYPING}
    rest |= {"reply": "full"} if _on(rest.pop(_SNAPSHOT, None)) else {}
    types: Json = {"action": action, "selector": given.get("selector", ":focus"), **typed}
    if not key:
        return {**rest, **types}
    whole: Json = {name: rest.pop(name) for name in _OF_CALL if name in rest}
    frame: Json = {"frame": rest["frame"]} if "frame" in rest else {}
    press: Json = {"action": "press", "selector": types["selector"], "key": key, **frame}
    return {**whole, "action": "batch", "steps": [{**rest, **types}, press]}


def _type_text(given: Json) -> Json:
    return _typed("type", given.get("submitKey"), given, text=given.get("text"))


def _browser_type(given: Json) -> Json:
    found = with_selector(given, ("selector", "text"))
    action, name = ("type", "text") if _on(found.get("slowly")) else ("fill", "value")
    return _typed(action, "Enter" if _on(found.get("submit")) else None, found, **{name: found.get("text")})


def _clicked(action: str) -> Callable[[Json], Json]:
    def convert(given: Json) -> Json:
        twice = [_on(given.pop(name, None)) for name in ("dblClick", "doubleClick")]
        how: Json = {"clickCount": 2} if any(twice) else {}
        how |= {"reply": "full"} if _on(given.pop(_SNAPSHOT, None)) else {}
        return {**given, **how, "action": action}

    return convert


def _browser_click(given: Json) -> Json:
    options: Json = {name: _list(given.pop(name)) for name in ("button", "modifiers") if name in given}
    options |= {"clickCount": 2} if _on(given.pop("doubleClick", None)) else {}
    return {**given, "options": options, "action": "browser_click"}


def _dialog(given: Json) -> Json:
    verb = given.pop(VERB)
    if str(verb) not in {"accept", "dismiss"}:
        raise _refused("action", "must be accept or dismiss.", next_call("handle_dialog", accept=True))
    return {**given, "accept": verb == "accept", "action": "handle_dialog"}


def _mouse(verb: str) -> Callable[[Json], Json]:
    return lambda given: {**_clicked("mouse")(_is("mouse", ("element",))(given)), "do": verb}


def _storage(kind: str, verb: str) -> Converted:
    action = f"{_STORED[verb]}_storage"

    def convert(given: Json) -> Json:
        key, value = given.pop("key", None), given.pop("value", None)
        named: Json = {"items": {str(key): value}} if verb == "set" else {"keys": [key]}
        return {**given, **({} if key is None else named), "kind": kind, "action": action}

    return Converted(action, convert)


def _network(given: Json) -> Json:
    state = str(given.get("state")).lower()
    if state not in {"online", "offline"}:
        raise _refused("state", "must be online or offline.", next_call("emulate", offline=True))
    return {**_is("emulate", ("state",))(given), "offline": state == "offline"}


def _verified(given: Json) -> Json:
    name = json.dumps(str(given.get("accessibleName", "")), ensure_ascii=False)
    selector = f"role={given.get('role', '')}[name={name}]"
    return {**_is("expect", ("role", "accessibleName"))(given), "selector": selector}


def _verified_text(given: Json) -> Json:
    return {**_is("expect", ("text",))(given), "selector": _text(given.get("text", ""))}


def _verified_value(given: Json) -> Json:
    found, kind = with_selector(given, ("selector", "value")), given.get("type")
    value = found.pop("value", None)
    found.pop("type", None)
    if str(kind) not in {"checkbox", "radio"}:
        return {**found, "to": "value", "value": value, "action": "expect"}
    state = {"true": "checked", "false": "unchecked"}.get(str(value).lower())
    if state is None:
        raise _refused("value", "must be true or false for a checkbox.", 'Give "true" or "false".')
    return {**found, "to": state, "action": "expect"}


def _set_cookie(given: Json) -> Json:
    beside: Json = {name: given.pop(name) for name in (*_ADDRESS, "affectOthers") if name in given}
    return {**beside, "cookies": [given], "action": "set_cookies"}


CONVERTED: Final[Mapping[str, Converted]] = MappingProxyType(
    {
        "browser_wait_for": Converted("wait_for_selector, wait", _wait, "one of `time`, `text` and `textGone`"),
        "wait_for": Converted("wait_for_selector", _wait, "`text` may be several: any of them"),
        "browser_tabs": Converted(
            "list_pages, open_page, close_page", _tabs, "`pageId` in place of `index`; no page is selected"
        ),
        "select_page": Converted("list_pages", _select_page, "refused: each call names its page"),
        "navigate_page": Converted("goto, go_back, go_forward, reload_page", _navigate, "by `type`"),
        "new_page": Converted(
            "open_page",
            _is("open_page", ("background",), isolatedContext="sessionId"),
            "never in front of others; `isolatedContext` names a session of `create_session`",
        ),
        "browser_resize": Converted("emulate", _viewport, "the page's own size"),
        "resize_page": Converted("emulate", _viewport, "the page's own size"),
        "browser_file_upload": Converted("upload_file", _upload, "the file input, unless `ref` names another"),
        "browser_take_screenshot": Converted("screenshot", _is("screenshot", ("filename",)), _IN_REPLY),
        "take_screenshot": Converted("screenshot", _is("screenshot", ("filePath",), format="type"), _IN_REPLY),
        "take_snapshot": Converted("snapshot", _is("snapshot", ("verbose", "filePath")), _IN_REPLY),
        "browser_evaluate": Converted("evaluate_script", _script, "`function` is `expression`"),
        "browser_webmcp_list": Converted("list_page_tools", _is("list_page_tools")),
        "browser_webmcp_call": Converted("call_page_tool", _is("call_page_tool", params="arguments")),
        "browser_console_messages": Converted("get_console_messages", _console, "`level` is `types`"),
        "list_console_messages": Converted("get_console_messages", _is("get_console_messages", pageSize="limit")),
        "browser_network_requests": Converted("get_network_log", _requests, "`filter` is `pattern`; lists all"),
        "list_network_requests": Converted("get_network_log", _is("get_network_log", pageSize="limit")),
        "type_text": Converted("type, press", _type_text, "where the focus is"),
        "click_at": Converted("mouse", _mouse("click")),
        "browser_mouse_click_xy": Converted("mouse", _mouse("click")),
        "browser_mouse_move_xy": Converted("mouse", _mouse("move")),
        "browser_drop": Converted("drop", lambda given: {**_files(given), "action": "drop"}),
        "browser_network_state_set": Converted("emulate", _network),
        "browser_cookie_get": Converted("get_cookies", _is("get_cookies")),
        "browser_cookie_list": Converted("get_cookies", _is("get_cookies")),
        "browser_cookie_delete": Converted("clear_cookies", _is("clear_cookies")),
        "browser_cookie_clear": Converted("clear_cookies", _is("clear_cookies")),
        "browser_cookie_set": Converted("set_cookies", _set_cookie),
        **{f"browser_{kind}storage_{verb}": _storage(kind, verb) for kind in ("local", "session") for verb in _STORED},
        "browser_verify_element_visible": Converted("expect", _verified),
        "browser_verify_text_visible": Converted("expect", _verified_text),
        "browser_verify_value": Converted("expect", _verified_value),
    }
)
"""Their name, and what it is here."""
_ALSO: Final[Mapping[str, tuple[frozenset[str], Callable[[Json], Json]]]] = MappingProxyType(
    {
        "click": (frozenset(("dblClick", _SNAPSHOT)), _clicked("click")),
        "hover": (frozenset((_SNAPSHOT,)), _clicked("hover")),
        "fill": (frozenset((_SNAPSHOT,)), _clicked("fill")),
        "handle_dialog": (frozenset((VERB,)), _dialog),
        "evaluate_script": (frozenset(("function", "args")), _script),
        "upload_file": (frozenset(("filePath", "filePaths", "paths")), _upload),
        "browser_click": (frozenset(("doubleClick", "button", "modifiers")), _browser_click),
        "browser_type": (frozenset(("submit", "slowly")), _browser_type),
        "browser_find": (frozenset(("text",)), _is("find")),
    }
)
"""Tools of ours that have the same name there: the arguments by which a call is known as theirs."""
_NONE: Final[tuple[frozenset[str], Callable[[Json], Json] | None]] = (frozenset(), None)
WITH_VERB: Final = frozenset(("browser_tabs", "handle_dialog"))
"""The tools that have an argument called `action`."""

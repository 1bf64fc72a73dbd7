"""Tests that calls in the form of other browser servers become calls of ours, each of their tools once."""

import contextlib

import pytest

from browse_together.contract.catalogue import NAMES, parse, unwrap
from browse_together.contract.errors import BrowseError, ValidationFailed
from browse_together.contract.help_text import action_help
from browse_together.contract.model import Json
from browse_together.contract.peer_calls import CONVERTED, body_of
from tests.support.odd import OTHERS

# fmt: off
CALLS: list[tuple[str, Json, Json]] = [
    ("browser_wait_for", {"time": 1.5}, {"action": "wait", "duration": 1_500}),
    ("browser_wait_for", {"textGone": "Saving …", "pageId": "p"},
     {"action": "wait_for_selector", "selector": ':text("Saving …")', "state": "hidden", "pageId": "p"}),
    ("wait_for", {"text": ['Don"e', "Failed >> x"], "timeout": 9_000},
     {"action": "wait_for_selector", "selector": ':text("Don\\"e"), :text("Failed >> x")', "state": "visible",
      "timeout": 9_000}),
    ("browser_tabs", {"action": "list"}, {"action": "list_pages"}),
    ("browser_tabs", {"action": "new", "url": "https://a.example/"},
     {"action": "open_page", "url": "https://a.example/"}),
    ("browser_tabs", {"action": "close", "pageId": "p"}, {"action": "close_page", "pageId": "p"}),
    ("navigate_page", {"url": "https://a.example/"}, {"action": "goto", "url": "https://a.example/"}),
    ("navigate_page", {"type": "reload", "ignoreCache": True}, {"action": "reload_page", "ignoreCache": True}),
    ("new_page", {"url": "https://a.example/", "background": True},
     {"action": "open_page", "url": "https://a.example/"}),
    ("new_page", {"url": "https://a.example/", "isolatedContext": "x"},
     {"action": "open_page", "url": "https://a.example/", "sessionId": "x"}),
    ("browser_webmcp_list", {}, {"action": "list_page_tools"}),
    ("browser_webmcp_call", {"name": "pay", "params": {"amount": 3}},
     {"action": "call_page_tool", "name": "pay", "arguments": {"amount": 3}}),
    ("browser_resize", {"width": 390, "height": 844},
     {"action": "emulate", "viewport": {"width": 390, "height": 844}}),
    ("resize_page", {"width": 390, "height": 844}, {"action": "emulate", "viewport": {"width": 390, "height": 844}}),
    ("browser_file_upload", {"paths": ["/a.pdf"]},
     {"action": "upload_file", "selector": "input[type=file]", "files": [{"path": "/a.pdf"}]}),
    ("upload_file", {"uid": "e5", "filePath": "/a.pdf"},
     {"action": "upload_file", "selector": "e5", "files": [{"path": "/a.pdf"}]}),
    ("browser_drop", {"target": "e5", "element": "Box", "paths": ["/a.pdf"]},
     {"action": "drop", "selector": "e5", "files": [{"path": "/a.pdf"}]}),
    ("browser_take_screenshot", {"type": "jpeg", "filename": "a.jpeg", "target": "e5", "scale": "css"},
     {"action": "screenshot", "type": "jpeg", "selector": "e5", "scale": "css"}),
    ("take_screenshot", {"format": "webp", "uid": "e5", "filePath": "a.webp"},
     {"action": "screenshot", "type": "webp", "selector": "e5"}),
    ("take_snapshot", {"verbose": True}, {"action": "snapshot"}),
    ("browser_evaluate", {"function": "() => 1", "filename": "a"},
     {"action": "evaluate_script", "expression": "() => 1"}),
    ("evaluate_script", {"function": "e => e.id", "args": ["e5"]},
     {"action": "evaluate_script", "expression": "e => e.id", "selector": "e5"}),
    ("browser_console_messages", {"level": "error", "all": True},
     {"action": "get_console_messages", "types": ["exception", "error"], "all": True}),
    ("list_console_messages", {"pageSize": 5}, {"action": "get_console_messages", "limit": 5}),
    ("browser_network_requests", {"static": False, "filter": "/api/.*"},
     {"action": "get_network_log", "pattern": "//api/.*/"}),
    ("list_network_requests", {"pageSize": 5}, {"action": "get_network_log", "limit": 5}),
    ("type_text", {"text": "tea", "submitKey": "Enter"},
     {"action": "batch", "steps": [{"action": "type", "selector": ":focus", "text": "tea"},
                                   {"action": "press", "selector": ":focus", "key": "Enter"}]}),
    ("browser_type", {"target": "e5", "text": "tea", "submit": True},
     {"action": "batch", "steps": [{"action": "fill", "selector": "e5", "value": "tea"},
                                   {"action": "press", "selector": "e5", "key": "Enter"}]}),
    ("browser_type", {"ref": "e5", "text": "tea", "slowly": True},
     {"action": "type", "selector": "e5", "text": "tea"}),
    ("browser_click", {"ref": "e5", "doubleClick": True, "button": "right"},
     {"action": "browser_click", "selector": "e5", "options": {"button": "right", "clickCount": 2}}),
    ("browser_find", {"text": "Tea"}, {"action": "find", "text": "Tea"}),
    ("click", {"uid": "e5", "dblClick": True, "includeSnapshot": True},
     {"action": "click", "selector": "e5", "clickCount": 2, "reply": "full"}),
    ("hover", {"uid": "e5", "includeSnapshot": False}, {"action": "hover", "selector": "e5"}),
    ("fill", {"uid": "e5", "value": "tea", "includeSnapshot": True},
     {"action": "fill", "selector": "e5", "value": "tea", "reply": "full"}),
    ("handle_dialog", {"action": "accept", "promptText": "x"},
     {"action": "handle_dialog", "accept": True, "promptText": "x"}),
    ("click_at", {"x": 4, "y": 5, "dblClick": True}, {"action": "mouse", "do": "click", "x": 4, "y": 5,
                                                      "clickCount": 2}),
    ("browser_mouse_click_xy", {"element": "Map", "x": 4, "y": 5}, {"action": "mouse", "do": "click", "x": 4, "y": 5}),
    ("browser_mouse_move_xy", {"x": 4, "y": 5}, {"action": "mouse", "do": "move", "x": 4, "y": 5}),
    ("browser_network_state_set", {"state": "offline"}, {"action": "emulate", "offline": True}),
    ("browser_cookie_list", {"domain": "a.example"}, {"action": "get_cookies", "domain": "a.example"}),
    ("browser_cookie_get", {"name": "t"}, {"action": "get_cookies", "name": "t"}),
    ("browser_cookie_delete", {"name": "t"}, {"action": "clear_cookies", "name": "t"}),
    ("browser_cookie_clear", {}, {"action": "clear_cookies"}),
    ("browser_cookie_set", {"name": "t", "value": "1", "domain": "a.example", "path": "/"},
     {"action": "set_cookies", "cookies": [{"name": "t", "value": "1", "domain": "a.example", "path": "/"}]}),
    ("browser_verify_element_visible", {"role": "button", "accessibleName": 'The "b"'},
     {"action": "expect", "selector": 'role=button[name="The \\"b\\""]'}),
    ("browser_verify_text_visible", {"text": "Tea"}, {"action": "expect", "selector": ':text("Tea")'}),
    ("browser_verify_value", {"type": "textbox", "element": "Name", "target": "e5", "value": "Ana"},
     {"action": "expect", "selector": "e5", "to": "value", "value": "Ana"}),
    ("browser_verify_value", {"type": "checkbox", "element": "Terms", "target": "e5", "value": "false"},
     {"action": "expect", "selector": "e5", "to": "unchecked"}),
    ("browser_verify_value", {"type": "checkbox", "target": "e5", "value": True},
     {"action": "expect", "selector": "e5", "to": "checked"}),
    ("browser_type", {"ref": "e5", "text": "tea", "submit": "false"},
     {"action": "fill", "selector": "e5", "value": "tea"}),
    ("browser_type", {"ref": "e5", "text": "tea", "submit": True, "ifRevision": 3, "frame": "#f", "timeout": 900},
     {"action": "batch", "ifRevision": 3,
      "steps": [{"action": "fill", "selector": "e5", "value": "tea", "frame": "#f", "timeout": 900},
                {"action": "press", "selector": "e5", "key": "Enter", "frame": "#f"}]}),
    ("click", {"uid": "e5", "dblClick": "false"}, {"action": "click", "selector": "e5"}),
    ("upload_file", {"uid": "e5", "filePaths": '["/a.pdf", "/b.pdf"]'},
     {"action": "upload_file", "selector": "e5", "files": [{"path": "/a.pdf"}, {"path": "/b.pdf"}]}),
    ("evaluate_script", {"function": "e => e.id", "args": '["e5"]'},
     {"action": "evaluate_script", "expression": "e => e.id", "selector": "e5"}),
    ("browser_network_state_set", {"state": "Offline"}, {"action": "emulate", "offline": True}),
]
STORED: list[tuple[str, Json, str, Json]] = [
    ("list", {}, "get", {}), ("clear", {}, "clear", {}), ("get", {"key": "k"}, "get", {"keys": ["k"]}),
    ("set", {"key": "k", "value": "v"}, "set", {"items": {"k": "v"}}),
    ("delete", {"key": "k"}, "remove", {"keys": ["k"]}),
]
CALLS += [
    (f"browser_{kind}storage_{verb}", given, {"action": f"{ours}_storage", "kind": kind, **here})
    for kind in ("local", "session") for verb, given, ours, here in STORED
]
REFUSED: list[tuple[str, Json, str]] = [
    ("browser_wait_for", {"time": 1, "text": "x"}, "time and text is given"),
    ("browser_wait_for", {}, "none of time, text and textGone"),
    ("browser_wait_for", {"time": "soon"}, "duration"),
    ("browser_tabs", {"action": "select", "index": 1}, "index: pages have a pageId here"),
    ("browser_tabs", {"action": "close", "index": 0}, "index: pages have a pageId here"),
    ("browser_tabs", {"action": "juggle"}, "action: must be list"),
    ("select_page", {"pageId": 1}, "no page is selected here"),
    ("navigate_page", {"type": "sideways"}, "type: must be url"),
    ("evaluate_script", {"function": "(a, b) => 1", "args": ["e1", "e2"]}, "args: the function gets one"),
    ("handle_dialog", {"action": "ponder"}, "action: must be accept"),
    ("browser_network_state_set", {"state": "away"}, "state: must be online or offline"),
    ("browser_verify_value", {"type": "checkbox", "target": "e5"}, "value: must be true or false"),
    ("browser_tabs", {"action": "close", "pageId": "p", "bogus": 3}, "bogus"),
]
# fmt: on


@pytest.mark.parametrize(("tool", "arguments", "ours"), CALLS, ids=lambda each: str(each)[:40])
def test_a_call_of_another_server_is_one_of_ours(tool: str, arguments: Json, ours: Json) -> None:
    body = body_of(tool, arguments)
    assert parse(body) == parse(ours)
    assert unwrap(unwrap(body)) == unwrap(body)
    assert unwrap({"action": "call_tool", "name": tool, "arguments": arguments}) == unwrap(body)


def test_each_of_their_tools_is_tried_and_known() -> None:
    assert CONVERTED.keys() <= {tool for tool, *_ in CALLS} | {tool for tool, *_ in REFUSED}
    for tool, converted in CONVERTED.items():
        assert {*converted.here.split(", ")} <= NAMES.keys()
        assert f"{tool} is taken with the arguments that it has elsewhere" in action_help(tool)


@pytest.mark.parametrize(("tool", "arguments", "problem"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_has_no_counterpart_is_refused_by_its_field(tool: str, arguments: Json, problem: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse(body_of(tool, arguments))
    assert problem in refused.value.message


@pytest.mark.parametrize("tool", ["click", "fill", "handle_dialog", "browser_click", "browser_type", "browser_find"])
def test_a_call_of_ours_by_the_same_name_stays_as_it_is(tool: str) -> None:
    body = body_of(tool, {"selector": "#a", "text": "x"} if tool == "browser_type" else {"selector": "#a"})
    assert unwrap(body) == body


@pytest.mark.parametrize("tool", [*CONVERTED, "click", "handle_dialog", "fill_form", "browser_type", "browser_click"])
def test_odd_values_are_understood_or_refused(tool: str) -> None:
    names = {name for each, given, _ in CALLS if each == tool for name in given} | {"do", "fields", "args"}
    for value in OTHERS:
        for name in names:
            with contextlib.suppress(BrowseError):
                parse({"action": tool, "ref": "e1", name: value})
        with contextlib.suppress(BrowseError):
            parse({"action": tool, "fields": [{"ref": "e1", "type": value, "value": value}]})

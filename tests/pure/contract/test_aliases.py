"""Tests second names, option bags, and the bodies that callers are used to sending."""

import pytest
from pydantic import JsonValue

from browse_together.contract import peers
from browse_together.contract.actions import interaction, navigation, pages, reading, scripting
from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS, NAMES, missing_arguments, parse
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.help_text import action_help
from tests.support.json import AnyJson

ALIASES = {
    "evaluate": "evaluate_script",
    "openPage": "open_page",
    "closePage": "close_page",
    "listPages": "list_pages",
}


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_action_is_found_under_its_second_name(alias: str, name: str) -> None:
    assert NAMES[alias].action is ACTIONS[name]


def test_every_alias_leads_to_an_action_and_hides_none() -> None:
    for alias, named in NAMES.items():
        assert named.action in ACTIONS.values()
        assert named.alias is None or alias not in ACTIONS


def test_an_aliased_body_is_the_action_itself() -> None:
    assert parse({"action": "openPage", "url": "https://example.com"}) == pages.OpenPage(url="https://example.com")
    assert parse({"action": "listPages"}).wire_body() == {"action": "list_pages"}


# fmt: off
BODIES: list[tuple[dict[str, JsonValue], type[Action], dict[str, AnyJson]]] = [
    ({"action": "goto", "url": "https://example.com"},
     navigation.Goto, {"url": "https://example.com", "wait_until": "load"}),
    ({"action": "goto", "url": "https://example.com", "params": {"waitUntil": "networkidle", "timeout": 10_000}},
     navigation.Goto, {"wait_until": "networkidle", "timeout": 10_000}),
    ({"action": "click", "selector": "//button", "params": {"button": "right", "modifiers": ["Shift"]}},
     interaction.Click, {"selector": "//button", "button": "right", "modifiers": ["Shift"]}),
    ({"action": "click", "selector": "#buy", "params": None},
     interaction.Click, {"selector": "#buy"}),
    ({"action": "fill", "selector": "#name", "text": "Ada", "params": {"force": True}},
     interaction.Fill, {"value": "Ada", "force": True}),
    ({"action": "fill", "selector": "#name", "value": ""},
     interaction.Fill, {"value": ""}),
    ({"action": "type", "selector": "#name", "value": "Ada", "params": {"delay": 20}},
     interaction.Type, {"text": "Ada", "delay": 20}),
    ({"action": "content"},
     reading.Content, {"format": None, "query": None, "section": None}),
    ({"action": "evaluate", "params": {"expression": "document.title"}},
     scripting.EvaluateScript, {"expression": "document.title"}),
    ({"action": "evaluate_script", "script": "document.title"},
     scripting.EvaluateScript, {"expression": "document.title"}),
    ({"action": "fetch", "url": "https://example.com/me", "responseType": "json",
      "fetchOptions": {"method": "post", "headers": {"X-A": "1"}, "body": "{}"}},
     scripting.Fetch, {"response_type": "json", "method": "POST", "headers": {"X-A": "1"}, "body": "{}"}),
    ({"action": "closePage", "pageId": "cart", "params": {"runBeforeUnload": True}},
     pages.ClosePage, {"page_id": "cart", "run_before_unload": True}),
]
# fmt: on


@pytest.mark.parametrize(("body", "action", "expected"), BODIES, ids=lambda each: str(each)[:60])
def test_a_usual_body_is_understood(
    body: dict[str, JsonValue], action: type[Action], expected: dict[str, AnyJson]
) -> None:
    parsed = parse(body)
    assert type(parsed) is action
    assert {name: getattr(parsed, name) for name in expected} == expected


def test_a_bag_may_carry_what_is_required() -> None:
    beside = parse({"action": "click", "selector": "#buy", "clickCount": 2})
    assert parse({"action": "click", "params": {"selector": "#buy", "clickCount": 2}}) == beside


def test_an_option_given_twice_with_one_value_is_given_once() -> None:
    parsed = parse({"action": "click", "selector": "#buy", "button": "right", "params": {"button": "right"}})
    assert parsed == interaction.Click(selector="#buy", button="right")


def test_both_bags_of_fetch_are_folded() -> None:
    parsed = parse({"action": "fetch", "url": "/me", "params": {"timeout": 900}, "fetchOptions": {"method": "put"}})
    assert isinstance(parsed, scripting.Fetch)
    assert (parsed.timeout, parsed.method) == (900, "PUT")


def test_an_object_as_the_body_of_a_request_is_sent_as_json() -> None:
    parsed = parse({"action": "fetch", "url": "/me", "fetchOptions": {"method": "POST", "body": {"n": [1, None]}}})
    assert isinstance(parsed, scripting.Fetch)
    assert parsed.request_init() == {
        "method": "POST",
        "body": '{"n": [1, null]}',
        "headers": {"Content-Type": "application/json"},
    }


def test_the_content_type_that_a_caller_gives_is_kept() -> None:
    parsed = parse({"action": "fetch", "url": "/me", "headers": {"content-type": "a/b"}, "body": []})
    assert isinstance(parsed, scripting.Fetch)
    assert parsed.request_init() == {"headers": {"content-type": "a/b"}, "body": "[]"}


@pytest.mark.parametrize("name", ["ref", "uid"])
def test_the_name_of_an_element_in_other_servers_is_a_selector(name: str) -> None:
    ours = parse({"action": "click", "selector": "e12"})
    assert parse({"action": "click", name: "e12", "element": "Buy button"}) == ours
    assert missing_arguments({"action": "click", name: "e12"}) == []
    with pytest.raises(ValidationFailed, match="Unknown argument"):
        parse({"action": "click", name: "e12", "selector": "e13"})


def test_the_tools_of_other_servers_are_understood_and_collide_with_none() -> None:
    names = [alias.name for aliases in peers.TOOLS.values() for alias in aliases]
    assert len({*names}) == len(names)
    assert not {*names} & ({*ACTIONS} | {alias.name for action in ACTIONS.values() for alias in action.aliases})
    assert parse({"action": "browser_drag", "startRef": "e1", "endRef": "e2"}).wire_body() == {
        "action": "drag_and_drop",
        "source": "e1",
        "target": "e2",
    }
    assert "another name of it" in action_help("browser_snapshot")


def test_the_browser_tools_take_a_ref_too() -> None:
    parsed = parse({"action": "browser_click", "element": "Buy button", "ref": "e12"})
    assert parsed.canonical() == interaction.Click(selector="e12", timeout=5_000)


def test_a_form_of_other_servers_is_understood() -> None:
    name: dict[str, JsonValue] = {"ref": "e1", "name": "Name", "type": "textbox", "value": "Ana"}
    terms: dict[str, JsonValue] = {"uid": "e2", "type": "checkbox", "value": "true"}
    ours = parse(
        {"action": "fill_form", "fields": [{"selector": "e1", "value": "Ana"}, {"selector": "e2", "value": True}]}
    )
    assert parse({"action": "browser_fill_form", "fields": [name, terms]}) == ours
    assert parse({"action": "fill_form", "elements": [name, terms]}) == ours

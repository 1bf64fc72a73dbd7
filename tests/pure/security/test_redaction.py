"""Tests that the record reveals no secret from a call."""

import json
import string
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.interaction import Fill
from browse_together.contract.catalogue import ACTIONS, parse
from browse_together.contract.schema import full_schema, properties_of
from browser_service.security import redaction

Body = dict[str, JsonValue]
Planting = Callable[[str], Body]

SECRETS = st.text(string.ascii_letters + string.digits, min_size=6, max_size=60)
IN_URLS: list[Callable[[str], str]] = [
    lambda secret: f"https://shop.example/?token={secret}",
    lambda secret: f"https://shop.example/?a=b&anything={secret}#there",
    lambda secret: f"https://shop.example/?{secret}",
    lambda secret: f"https://user:{secret}@shop.example/",
    lambda secret: f"https://{secret}@shop.example/a",
    lambda secret: f"https:\\\\user:{secret}@shop.example\\a",
    lambda secret: f"HTTPS:/user:{secret}@shop.example/",
    lambda secret: f"ht\ntps://us\ter:{secret}@shop.example/",
    lambda secret: f"https://shop.example/cb#access_token={secret}&state=1",
    lambda secret: f"https://shop.example/cart;jsessionid={secret}",
    lambda secret: f"https://shop.example/reset/{secret}0123456789abcdef",
    lambda secret: f"data:text/html,{secret}",
    lambda secret: f"javascript:pay('{secret}')",
    lambda secret: f"user:{secret}@shop.example",
    lambda secret: f"//user:{secret}@shop.example/",
    lambda secret: f"\x00https://user:{secret}@shop.example/",
    lambda secret: f"/relative?session={secret}",
]
PLANTED: dict[str, Planting] = {
    "a value that is filled": lambda s: {"action": "fill", "selector": "#pw", "value": s},
    "its other name": lambda s: {"action": "fill", "selector": "#pw", "text": s},
    "a text that is typed": lambda s: {"action": "type", "selector": "#pw", "text": s},
    "an option that is chosen": lambda s: {"action": "select_option", "selector": "#a", "value": [s], "label": s},
    "a header of a request": lambda s: {
        "action": "fetch",
        "url": "/x",
        "fetchOptions": {"headers": {"Authorization": f"Bearer {s}", "Cookie": f"a={s}", "X-Api-Key": s}},
    },
    "the name of a header": lambda s: {"action": "fetch", "url": "/x", "headers": {s: "1"}},
    "the body of a request": lambda s: {"action": "fetch", "url": "/x", "method": "POST", "body": s},
    "a body of JSON": lambda s: {"action": "fetch", "url": "/x", "body": {"pin": s, s: [s, {"a": s}]}},
    "a body that is a list": lambda s: {"action": "fetch", "url": "/x", "body": [s]},
    "a referrer": lambda s: {"action": "fetch", "url": "/x", "referrer": f"https://shop.example/?code={s}"},
    "a script": lambda s: {"action": "evaluate_script", "expression": f"login('{s}')"},
    "what a script is given": lambda s: {"action": "evaluate_script", "expression": "a => a", "arg": {"password": s}},
    "a plain argument of it": lambda s: {"action": "evaluate_script", "expression": "a => a", "arg": s},
    "a value in a selector": lambda s: {"action": "click", "selector": f'input[value="{s}"]'},
    "a token in a reason": lambda s: {"action": "close_page", "reason": f"the password: {s} was wrong"},
    "a key": lambda s: {"action": "press", "key": s},
}


@pytest.mark.parametrize("place", PLANTED)
@given(secret=SECRETS)
@example(secret="Passw0rd")
@example(secret="hunter2hunter2hunter2")
def test_no_redacted_argument_contains_a_secret(place: str, secret: str) -> None:
    secret = f"{secret}Q7"  # no word that is there anyway
    assert secret not in json.dumps(redaction.arguments(parse(PLANTED[place](secret))))


@pytest.mark.parametrize("number", range(len(IN_URLS)))
@given(secret=SECRETS)
def test_no_redacted_url_contains_a_secret(number: int, secret: str) -> None:
    secret = f"{secret}Q7"
    url = IN_URLS[number](secret)
    assert secret not in redaction.safe_url(url)
    told = redaction.arguments(parse({"action": "goto", "url": url}))
    assert secret not in json.dumps(told)
    assert secret not in json.dumps(redaction.requests([{"method": "POST", "url": url, "status": 200}], 5))


@given(secret=st.integers(min_value=100_000, max_value=999_999_999))
def test_a_number_in_a_script_argument_or_body_is_redacted(secret: int) -> None:
    bodies: list[Body] = [
        {"action": "evaluate_script", "expression": "a => a", "arg": secret},
        {"action": "fetch", "url": "/x", "body": {"otp": secret}},
    ]
    for body in bodies:
        assert str(secret) not in json.dumps(redaction.arguments(parse(body)))


@pytest.mark.parametrize("character", [*"aZ9.ß", " ", "Shift+A", "hunter2+Enter"])
def test_a_password_cannot_be_read_from_the_keys_that_were_pressed(character: str) -> None:
    assert redaction.arguments(parse({"action": "press", "key": character})) == {
        "key": f"({len(character)} character{'s' if len(character) > 1 else ''})"
    }


@pytest.mark.parametrize("key", ["Enter", "ArrowDown", "Control+a", "Control+Shift+Tab", "F5", "Meta+Enter"])
def test_keys_that_write_nothing_are_kept(key: str) -> None:
    assert redaction.arguments(parse({"action": "press", "key": key})) == {"key": key}


@given(text=st.text(max_size=80))
def test_any_text_makes_one_line_that_can_be_written_down(text: str) -> None:
    for told in (redaction.safe_url(text), redaction.one_line(text), redaction.safe_url(f"https://a/{text}")):
        assert "\n" not in told
        told.encode()


def test_texts_stay_only_if_their_name_says_where_or_why_something_was_done() -> None:
    """An action that is added tomorrow hides its texts without anybody thinking of it."""
    told = {
        name
        for action in ACTIONS.values()
        for name, schema in properties_of(full_schema(action)).items()
        if "correct-horse" in str(redaction.redact(name, "correct-horse", schema, redaction.TEXTS))
    }
    known = {"selector", "frame", "reason", "as", "url", "urls", "origin", "referer", "referrer"}
    assert {name for name in told - known if not name.endswith(("Id", "Ids", "Url", "Selector"))} == set()
    assert known <= told


def test_an_action_may_name_texts_that_are_no_secret() -> None:
    body: Body = {"action": "fetch", "url": "/x", "method": "POST", "body": "x"}
    assert redaction.arguments(parse(body)) == {"url": "/x", "method": "POST", "body": "(1 character)"}


@pytest.mark.parametrize(
    "action", [each for each in ACTIONS.values() if each.loggable_arguments], ids=lambda each: each.name()
)
def test_every_loggable_argument_exists(action: type[Action]) -> None:
    assert action.loggable_arguments <= _named(full_schema(action))


def _named(schema: JsonValue) -> set[str]:
    """Return the names of a schema's arguments, nested ones included."""
    if isinstance(schema, list):
        return set().union(*map(_named, schema))
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties")
    own = set(properties) if isinstance(properties, dict) else set()
    return own.union(*map(_named, schema.values()))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://shop.example/cart", "https://shop.example/cart"),
        ("http://127.0.0.1:8080/a/b?page=2&q=tea", "http://127.0.0.1:8080/a/b?page=…&q=…"),
        ("https://me:pw@shop.example:8443/", "https://shop.example:8443/"),
        ("https://app.example/#/orders/open", "https://app.example/#/orders/open"),
        ("https://app.example/p#access_token=x", "https://app.example/p#…"),
        ("https://app.example/magic/8f3a9c0d1e2b4f5a6b7c", "https://app.example/magic/…"),
        (
            "https://blog.example/ten-kettles-of-2026-that-we-like",
            "https://blog.example/ten-kettles-of-2026-that-we-like",
        ),
        ("/api/cart?id=1", "/api/cart?id=…"),
        ("about:blank", "about:blank"),
        ("data:text/html,x", "(16 characters)"),
    ],
)
def test_a_redacted_url_still_says_where_it_leads(url: str, told: str) -> None:
    assert redaction.safe_url(url) == told


def test_the_target_of_an_act_is_kept() -> None:
    body: Body = {
        "action": "click",
        "selector": 'role=button[name="Log out"]',
        "button": "right",
        "clickCount": 2,
        "modifiers": ["Shift"],
        "position": {"x": 1, "y": 2.5},
        "force": True,
        "pageId": "p",
    }
    expected = {name: value for name, value in body.items() if name not in {"action", "pageId"}}
    assert redaction.arguments(parse(body)) == expected


def test_long_arguments_are_shortened() -> None:
    told = redaction.arguments(parse({"action": "close_page", "reason": "so " * 66}))
    assert len(str(told["reason"])) <= 201
    long = "https://shop.example/" + "a/" * 5_000 + "?" + "&".join(f"k{n}=v" for n in range(500))
    assert len(redaction.safe_url(long)) <= 501


def test_a_field_for_a_secret_is_named_as_the_arguments_name_it() -> None:
    selector = "#field-eyJhbGciOiJIUzI1NiJ9aB3dE5fG7hJ9kL1mN3pQ5rS7t"
    arguments = redaction.arguments(Fill(selector=selector, text="hunter2"))
    assert redaction.lasting({"secretFields": [selector]})["secretFields"] == [arguments["selector"]] != [selector]

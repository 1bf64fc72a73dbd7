"""Tests what each limit of a token refuses, for every action of the catalogue."""

import json

import pytest
from pydantic import JsonValue

from browse_together.contract import catalogue, toolsets
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Claim, Effect, Scope
from browse_together.contract.errors import Forbidden, ScriptExecutionFailed
from browse_together.contract.help_text import action_help, example, overview, toolset_help
from browse_together.contract.limits import Limits, limits_of, readable_limits
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browse_together.contract.schema import full_schema
from browser_service.host.sessions.cookie_values import HIDDEN, may_read_cookies, without_values
from browser_service.security.auth import Identity
from browser_service.spine.addressing import Address
from browser_service.spine.policy import Policy
from tests.support.each import each

READER_DOES = {
    *("goto", "go_back", "go_forward", "reload_page", "open_page", "close_page", "release_page", "cancel_call"),
    "tell_person",
    *("create_session", "close_session", "browser_launch", "browser_navigate", "browser_quit"),
    *("batch", "call_tool", "wait_for_request", "wait_for_response"),
}
"""What a token that only reads may do besides reading; the last four by what they carry."""
SCRIPTS = {"evaluate_script", "add_init_script", "add_session_init_script", "mock_response"}
COOKIES = {
    *("get_cookies", "set_cookies", "clear_cookies", "save_session_state", "restore_session_state"),
    *("export_session", "import_login", "list_logins"),
}
WHOLE_SESSION = {name for name, action in catalogue.ACTIONS.items() if action.scope is Scope.SESSION}


def caller(**limits: object) -> Identity:
    return Identity(client_id="c", limits=Limits.model_validate(limits))


def sample(name: str) -> Action:
    action = catalogue.ACTIONS[name]
    return catalogue.parse(catalogue.unwrap({"action": name, **example(action)}))


def refused(who: Identity, action: Action) -> str:
    """Return the rule that refuses a call; empty if none does, or if no token but a person's allows it."""
    try:
        Policy().check(who, action)
    except Forbidden as error:
        if action.claim >= Claim.BY_PERSON and "context" not in error.details:
            return ""
        context, advice = error.details["context"], error.advice or ""
    else:
        return ""
    assert isinstance(context, dict)
    assert "browse-together token create" in advice
    return str(context["rule"])


def expected(limit: str, action: type[Action]) -> bool:
    """Return whether the limit is to refuse the action's example."""
    name, acts = action.name(), action.effect is not Effect.READS
    return {
        "read_only": acts and (name not in READER_DOES or name in {"batch", "call_tool"}),
        "scripting": name in SCRIPTS,
        "cookies": name in COOKIES | {"start_tracing"},
        "toolsets": toolsets.category(action) != "reading"
        and name not in {"help", "call_tool", "get_call", "cancel_call"},
    }[limit]


LIMITS: dict[str, dict[str, object]] = {
    "read_only": {"readOnly": True, "cookies": "values"},
    "scripting": {"scripting": False, "cookies": "values"},
    "cookies": {"cookies": "none"},
    "toolsets": {"toolsets": ["reading"], "cookies": "values"},
}


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_refuses_the_actions_that_it_is_about_and_no_other(limit: str) -> None:
    who = caller(**LIMITS[limit])
    wrong = []
    for name, action in catalogue.ACTIONS.items():
        call = sample(name)  # of call_tool, what it calls
        is_refused = bool(refused(who, call))
        if name == "call_tool":
            assert is_refused == expected(limit, type(call))
        elif is_refused != expected(limit, action):
            wrong.append(name)
        if not is_refused:
            assert who.limits.lists(action), f"{name} may be called, and is not listed"
    assert wrong == []


def test_a_token_without_limits_allows_everything_but_the_cookie_values_of_the_shared_login() -> None:
    assert {name for name in catalogue.ACTIONS if refused(caller(), sample(name))} == {
        "export_session",
        "start_tracing",
    }
    assert {name for name in catalogue.ACTIONS if refused(caller(cookies="values"), sample(name))} == set()
    elsewhere = catalogue.parse({"action": "export_session", "sessionId": "mine"})
    assert refused(caller(), elsewhere) == ""
    assert refused(caller(), catalogue.parse({"action": "start_tracing", "snapshots": False})) == ""


def test_every_action_that_takes_a_script_says_so() -> None:
    taking = {
        name
        for name, action in catalogue.ACTIONS.items()
        if {"script", "expression"} & full_schema(action)["properties"].keys()  # type: ignore[union-attr] # an object
    }
    assert taking <= SCRIPTS == {name for name, action in catalogue.ACTIONS.items() if action.runs_script}


def test_a_refused_action_is_refused_however_deep_it_is_carried() -> None:
    waiting: Json = {
        "action": "wait_for_response",
        "url": "*",
        "during": {"action": "evaluate_script", "expression": "1"},
    }
    for body in (waiting, Json(action="batch", steps=[waiting])):
        assert refused(caller(scripting=False), catalogue.parse(body)) == "--no-scripting"
        assert refused(caller(), catalogue.parse(body)) == ""


@pytest.mark.parametrize(
    "body",
    [
        {"action": "set_extra_headers", "headers": {"COOKIE": "sid=1"}},
        {"action": "set_extra_headers", "sessionId": "s", "headers": {"Cookie": "sid=1"}},
        {"action": "mock_response", "pattern": "*", "headers": {"Set-Cookie": "sid=1"}},
    ],
    ids=str,
)
def test_a_token_without_cookies_gives_none_by_headers(body: Json) -> None:
    assert refused(caller(cookies="none"), catalogue.parse(body)) == "--no-cookies"
    assert refused(caller(), catalogue.parse(body)) == ""
    assert refused(caller(cookies="none"), catalogue.parse({**body, "headers": {"X-Cookie": "a"}})) == ""


PROGRAMS: list[Json] = [
    {"action": "screenshot", "style": "@import url(http://evil.example/)"},
    {"action": "get_screenshot_as_base64", "style": ""},
    {"action": "generate_pdf", "headerTemplate": "<img src=http://evil.example/>"},
    {"action": "generate_pdf", "footerTemplate": "<p>"},
]


@pytest.mark.parametrize("body", PROGRAMS, ids=str)
def test_a_limited_token_gives_no_page_a_style_sheet_or_html_and_nobody_anothers_page(body: Json) -> None:
    (field,) = body.keys() - {"action"}
    call, bare = catalogue.parse(body), catalogue.parse({"action": body["action"]})
    ruled: dict[str, dict[str, object]] = {
        "--read-only": {"readOnly": True},
        "--no-scripting": {"scripting": False},
        "--origin": {"origins": ["https://shop.example"]},
    }
    for rule, limits in ruled.items():
        carried = catalogue.parse({"action": "batch", "steps": [body]})
        assert refused(caller(**limits), call) == refused(caller(**limits), carried) == rule
        assert refused(caller(**limits), bare) == ""
    assert refused(caller(), call) == refused(caller(pages=2, cookies="none"), call) == ""
    policy, address = Policy(), Address("p", "s")
    policy.directory.note(PageState(page_id="p", session_id="s", holder_id="other"))
    policy.check_place(caller(), bare, address)
    with pytest.raises(Forbidden, match=field) as error:
        policy.check_place(caller(), call, address)
    assert "context" in error.value.details
    assert error.value.details["context"] == {"field": field}
    for ours in ({"holder_id": "c"}, {"holder_id": "other", "access": "act"}):
        policy.directory.note(PageState.model_validate({"page_id": "p", "session_id": "s", **ours}))
        policy.check_place(caller(), call, address)


@pytest.mark.parametrize(
    "body",
    [
        {"action": "goto", "url": "https://evil.example/"},
        {"action": "goto", "url": "http://shop.example/"},
        {"action": "goto", "url": "https://shop.example.evil.example/"},
        {"action": "goto", "url": "https://shop.example@evil.example/"},
        {"action": "goto", "url": "https:\\\\evil.example\\"},
        {"action": "goto", "url": "data:text/html,x"},
        {"action": "open_page", "url": "https://evil.example/"},
        {"action": "goto", "url": "https://shop.example/", "referer": "https://evil.example/"},
        {"action": "open_page", "url": "https://shop.example/", "referer": "https://evil.example/"},
        {"action": "fetch", "url": "/", "referrer": "https://evil.example/"},
        {"action": "browser_navigate", "url": "https://evil.example/"},
        {"action": "fetch", "url": "//evil.example/"},
        {"action": "fetch", "url": "https://evil.example/"},
        {"action": "login", "url": "https://evil.example/"},
        {"action": "get_cookies"},
        {"action": "get_cookies", "urls": ["https://shop.example/", "https://evil.example/"]},
        {"action": "set_cookies", "cookies": [{"name": "a", "value": "b", "domain": ".example"}]},
        {"action": "grant_permissions", "permissions": [], "origin": "https://evil.example"},
        {"action": "clear_cookies", "domain": "shop.example"},
        {"action": "mock_response", "pattern": "*"},
        {"action": "mock_response", "pattern": "https://*/"},
        {"action": "mock_response", "pattern": "/shop.example/"},
        {"action": "mock_response", "pattern": "https://evil.example/https://shop.example/"},
        {"action": "add_init_script", "script": "1"},
        {"action": "add_init_script", "script": "1", "sessionId": "s"},
        {"action": "create_session", "proxy": {"server": "http://evil.example:3128"}},
        {"action": "create_session", "proxy": {"server": "socks5://shop.example:1080"}},
        {"action": "create_session", "from": "default"},
        {"action": "create_session", "from": "default", "sites": ["https://shop.example"]},
        {"action": "batch", "steps": [{"action": "goto", "url": "https://evil.example/"}]},
        {"action": "wait_for_response", "url": "*", "during": {"action": "goto", "url": "https://evil.example/"}},
    ],
    ids=str,
)
def test_an_origin_limit_looks_at_every_address_that_an_argument_names(body: Json) -> None:
    who = caller(origins=["https://shop.example"], cookies="values")
    assert refused(who, catalogue.parse(body)) == "--origin"


def test_an_origin_limit_keeps_addresses_within_it() -> None:
    who = caller(origins=["https://shop.example", "https://*.cdn.example"])
    bodies: list[Json] = [
        {"action": "goto", "url": "https://SHOP.example:443/a?b#c"},
        {"action": "goto", "url": "https://a.cdn.example/"},
        {"action": "goto", "url": "https://shop.example/a", "referer": "https://shop.example/"},
        {"action": "open_page"},
        {"action": "open_page", "url": "about:blank"},
        {"action": "fetch", "url": "/cart", "referrer": "about:client"},
        {"action": "fetch", "url": "/cart", "referrer": ""},
        {"action": "fetch", "url": "/cart"},
        {"action": "fetch", "url": "cart?x=https://evil.example"},
        {"action": "get_cookies", "urls": ["https://shop.example/"]},
        {"action": "set_cookies", "cookies": [{"name": "a", "value": "b", "url": "https://shop.example/"}]},
        {"action": "mock_response", "pattern": "https://shop.example/api/*"},
        {"action": "block_requests", "patterns": ["*ads*"]},
        {"action": "create_session"},
        {"action": "list_pages"},
    ]
    assert [body for body in bodies if refused(who, catalogue.parse(body))] == []
    named = {"get_cookies", "set_cookies", "grant_permissions", "login"}
    unbound = {
        name
        for name in WHOLE_SESSION - named
        if refused(caller(origins=["https://x.example"], cookies="values"), sample(name)) != "--origin"
    }
    assert unbound == set()


@each(catalogue.ACTIONS)
def test_a_session_limit_refuses_every_field_that_names_another_session(action: type[Action]) -> None:
    name = action.name()
    if name in {"call_tool", "list_pages", "get_activity"}:  # it is what it calls; lists are filtered
        return
    properties = full_schema(action)["properties"]
    assert isinstance(properties, dict)
    if "sessionId" in properties:
        body = {"action": name, **example(action), "sessionId": "other"}
        assert refused(caller(session="mine"), catalogue.parse(body)) == "--session", name
    assert refused(caller(session="mine"), catalogue.parse({"action": "create_session"})) == "--session"
    copying = catalogue.parse({"action": "create_session", "sessionId": "mine", "from": "default"})
    assert refused(caller(session="mine"), copying) == "--session"
    assert refused(caller(cookies="none"), copying) == "--no-cookies"
    assert refused(caller(session="mine"), catalogue.parse({"action": "goto", "url": "x:", "newSession": True}))


def test_help_and_its_lists_have_only_what_a_token_allows() -> None:
    reader = Limits(read_only=True)
    assert "hover" not in overview(reader)
    assert "snapshot" in overview(reader)
    assert "--read-only" in overview(reader)
    assert "has no tool that this token allows" in toolset_help("editing", reader)
    assert "This token does not allow it (--read-only)." in action_help("click", reader)
    assert "does not allow" not in action_help("snapshot", reader)


def test_limits_that_are_not_understood_here_allow_nothing_and_a_list_leaves_them_to_the_service() -> None:
    with pytest.raises(ValueError, match="extra"):
        limits_of({"limits": {"noPrinting": True}})
    assert readable_limits({"limits": {"noPrinting": True}}) == Limits()


def test_the_words_of_limits_are_the_options_that_make_them() -> None:
    limits = Limits(
        *(),
        read_only=True,
        scripting=False,
        cookies="values",
        origins=("https://a.example",),
        session="s",
        toolsets=("reading",),
        pages=2,
    )
    options = "--read-only --no-scripting --cookies --origin https://a.example --session s --pages 2 --toolset reading"
    assert limits.words == options
    assert Limits().words == ""
    assert Limits(cookies="none").words == "--no-cookies"


def test_the_result_of_a_script_has_marks_in_place_of_cookie_values() -> None:
    cookies = [{"name": "id", "value": 'abc"def1'}, {"name": "n", "value": "1"}, {"name": "k", "value": "123456"}, {}]
    given: JsonValue = ['id=abc"def1; n=1; empty=', {'abc"def1': "x", "n": 1, "k": "123456"}, None]
    shown = without_values(json.dumps(given), cookies)
    assert json.loads(shown) == [f"id={HIDDEN}; n={HIDDEN}; empty=", {HIDDEN: "x", "n": 1, "k": HIDDEN}, None]
    assert without_values(json.dumps(given), []) == json.dumps(given)
    assert json.loads(without_values("[123456]", cookies)) == f"[{HIDDEN}]"
    assert may_read_cookies("cookieStore.getAll()")
    assert may_read_cookies("document.Cookie")
    assert not may_read_cookies("document.title")
    with pytest.raises(ScriptExecutionFailed, match="too many"):
        without_values("x" * 200_001, cookies)

"""Tests that the tree of errors is as it is drawn, and every error crosses every boundary whole."""

import re
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from browse_together.contract import errors
from browse_together.contract.errors import BrowseError, ErrorBody, Relayed, every_error
from tests.support.each import each

PUBLISHED = [
    "INVALID_REQUEST",
    "INVALID_SELECTOR",
    "ELEMENT_NOT_FOUND",
    "ELEMENT_NOT_INTERACTABLE",
    "SESSION_NOT_FOUND",
    "SESSION_EXPIRED",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "RATE_LIMITED",
    "VALIDATION_ERROR",
    "INTERNAL_ERROR",
    "BROWSER_LAUNCH_FAILED",
    "BROWSER_CRASHED",
    "NAVIGATION_FAILED",
    "TIMEOUT",
    "NETWORK_ERROR",
    "SCRIPT_EXECUTION_FAILED",
    "RESOURCE_EXHAUSTED",
    "SERVICE_UNAVAILABLE",
]
OF_SHARING = [
    "PAGE_OWNED",
    "PAGE_NOT_FOUND",
    "PAGE_REQUIRED",
    "STALE_REVISION",
    "ELEMENT_GONE",
    "AFFECTS_OTHERS",
    "DIALOG_OPEN",
    "AMBIGUOUS_SELECTOR",
    "HUMAN_IN_CONTROL",
    "UNKNOWN_OUTCOME",
    "LOGIN_REQUIRED",
]
OF_CALLS = ["CANCELLED", "FLOW_STOPPED", "NOT_AS_EXPECTED"]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

every_class = each({error.__name__: error for error in every_error()})


def drawn() -> dict[str, tuple[str, str, int]]:
    """Map each class to its parent, code and status, read from the drawing in the module's docstring."""
    found: dict[str, tuple[str, str, int]] = {}
    for line in str(errors.__doc__).splitlines():
        if not (node := re.fullmatch(r"([│ ]+[├└]── )(\w+) +(?:([A-Z_]+) +)?(\d{3})", line)):
            continue
        depth = len(node[1]) // 4
        if depth == 2:
            root = node[2]
        parent = "BrowseError" if depth == 2 else root
        found[node[2]] = (parent, node[3] or found[parent][1], int(node[4]))
    return found


def test_the_drawn_tree_is_the_real_one() -> None:
    real = {error.__name__: (error.__mro__[1].__name__, error.code, error.status) for error in every_error()}
    assert drawn() == real
    assert [*drawn()] == [error.__name__ for error in every_error()]


def test_the_two_branches_of_the_drawing_part_the_statuses() -> None:
    callers, services = str(errors.__doc__).split("└── what went wrong behind the service (5xx)")
    assert set(re.findall(r" (\d)\d\d$", callers, re.MULTILINE)) == {"4"}
    assert set(re.findall(r" (\d)\d\d$", services, re.MULTILINE)) == {"5"}


def test_every_code_that_callers_know_exists_and_no_other() -> None:
    assert len(PUBLISHED) == 19
    assert {error.code for error in every_error()} == {*PUBLISHED, *OF_SHARING, *OF_CALLS}


@every_class
def test_an_error_crosses_a_boundary_whole(error: type[BrowseError]) -> None:
    body = error("It went wrong.", details={"selector": "#buy", "context": {"tried": 2}}).body("req-1")
    again = ErrorBody.model_validate_json(body.model_dump_json(by_alias=True))
    assert again == body
    assert Relayed(again).body() == body
    assert (again.code, again.status, again.hint, again.request_id) == (error.code, error.status, error.hint, "req-1")


def test_an_error_has_one_shape() -> None:
    body = errors.ElementNotFound("No #buy.").body("req-1").model_dump(mode="json", by_alias=True)
    assert [*body] == ["code", "message", "status", "hint", "details", "timestamp", "requestId"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    assert datetime.fromisoformat(body["timestamp"]).tzinfo is not None


@given(message=st.text(), hint=st.none() | st.text(), details=st.dictionaries(st.text(), JSON, max_size=3))
def test_any_error_survives_json(message: str, hint: str | None, details: dict[str, JsonValue]) -> None:
    body = errors.PageOwned(message, hint=hint, details=details).body()
    assert ErrorBody.model_validate_json(body.model_dump_json()) == body
    assert (body.message, body.hint, body.details) == (message, hint, details)


def test_a_hint_of_the_moment_replaces_that_of_the_class() -> None:
    assert errors.ElementGone("Gone.", hint="Look again.").body().hint == "Look again."
    assert errors.ElementGone("Gone.").body().hint == errors.ElementGone.hint


def test_a_relayed_error_gets_a_request_id_only_where_it_is_given_one() -> None:
    body = errors.TimedOut("Slow.").body("req-1")
    assert Relayed(body).body().request_id == "req-1"
    assert Relayed(body).body("req-2").request_id == "req-2"


def test_half_a_character_in_a_pages_message_does_not_stop_the_reply() -> None:
    body = errors.ScriptExecutionFailed("Error: \ud83d").body()
    assert ErrorBody.model_validate_json(body.model_dump_json()).message == "Error: ?"

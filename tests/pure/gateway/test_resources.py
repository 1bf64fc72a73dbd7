"""Tests what the URI of a resource asks for, and that what it shows is what an action reads."""

from pathlib import Path

import pytest

from browse_together.contract.actions.traits import Effect
from browse_together.contract.catalogue import ACTIONS, parse
from browse_together.contract.resources import RESOURCES, Resource, request
from mcp_gateway.settings import Settings
from tests.support.json import AnyJson

AGES = {"pages": 60_000, "elements": 30_000, "screenshots": 300_000}


@pytest.mark.parametrize(
    ("uri", "action", "arguments"),
    [
        ("page://shop", "get_page_state", {"sessionId": "shop", "maxAge": 60_000}),
        ("page://shop~1", "get_page_state", {"pageId": "shop~1", "maxAge": 60_000}),
        ("element://shop/%23buy", "get_element", {"sessionId": "shop", "selector": "#buy", "maxAge": 30_000}),
        ("element://shop/#buy", "get_element", {"sessionId": "shop", "selector": "#buy", "maxAge": 30_000}),
        ("element://shop/%2F%2Fa%5B1%5D", "get_element", {"sessionId": "shop", "selector": "//a[1]", "maxAge": 30_000}),
        ("element://shop///a[1]", "get_element", {"sessionId": "shop", "selector": "//a[1]", "maxAge": 30_000}),
        (
            "screenshot://shop/current",
            "get_screenshot",
            {"sessionId": "shop", "screenshotId": "current", "maxAge": 300_000},
        ),
        ("pages://", "list_pages", {"all": True}),
    ],
)
def test_a_uri_is_a_call(uri: str, action: str, arguments: dict[str, AnyJson]) -> None:
    asked = request(uri, ages=AGES)
    assert asked is not None
    assert (asked.resource.action, asked.arguments) == (action, arguments)


@pytest.mark.parametrize("uri", ["page://", "page://a/b", "element://shop", "element://shop/", "pages://x", "shop", ""])
def test_what_is_no_uri_of_ours_is_none(uri: str) -> None:
    assert request(uri, ages=AGES) is None


def test_a_kind_that_is_off_is_not_there_and_without_an_age_each_read_is_new() -> None:
    assert request("page://shop", ages={}) is None
    asked = request("page://shop", ages={"pages": 0})
    assert asked is not None
    assert asked.arguments == {"sessionId": "shop"}


def test_the_settings_say_which_kinds_there_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BROWSE_RESOURCES", "pages, sessions")
    assert Settings(data_dir=tmp_path).resources == {"pages", "sessions"}
    monkeypatch.setenv("BROWSE_RESOURCES", "none")
    assert Settings(data_dir=tmp_path).resources == frozenset()


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.name)
def test_a_resource_is_what_an_action_shows_that_reads(resource: Resource) -> None:
    action = ACTIONS[resource.action]
    assert action.effect is Effect.READS
    assert type(parse({"action": resource.action, **resource.arguments})) is action

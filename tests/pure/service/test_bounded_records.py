"""Tests that what a page does without end, or loses again and again, is noted within bounds."""

from typing import cast

from playwright.async_api import Request

from browser_service.host.elements.filled_fields import Field, FilledFields
from browser_service.host.network.act_requests import add_line
from browser_service.host.tabs.observation import Observation
from tests.support.fakes.network import FakeRequest


def test_an_act_has_a_thousand_requests_and_knows_that_there_were_others() -> None:
    observation = Observation()
    for number in range(1_100):
        sent = FakeRequest(f"https://example.com/{number}", "POST", "fetch", frame=None)
        observation.add_request(cast("Request", sent))
    assert (len(observation.writes), observation.awaited_requests, observation.has_other_requests) == (
        1_000,
        1_000,
        True,
    )


def test_an_act_has_a_thousand_lines_of_a_kind() -> None:
    observation = Observation()
    for number in range(1_100):
        add_line(observation.script_errors, f"error {number}")
    assert observation.script_errors[-1] == "error 999"


def test_the_latest_fields_of_lost_windows_are_offered() -> None:
    fields = FilledFields()
    for window in range(3):
        for number in range(40):
            seen = Field(
                selector="#f",
                frame=None,
                kind="text",
                name="",
                value="x",
                secret=False,
                checked=False,
                selected=[],
                labels=[],
                twins={},
                lasting=None,
            )
            fields.note("alice", f"#field-{window}-{number}", None, strict=True, found=seen)
        fields.offer_all()
    offered = fields.offered("alice")
    assert (len(offered), offered[-1].selector) == (50, "#field-2-39")
    fields.withdraw(offered[-1])
    assert len(fields.offered("alice")) == 49

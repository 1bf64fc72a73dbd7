"""Tests the colours that tell clients apart on the wall."""

from browser_service.wall.state import hue_of

_RED = 27
"""The hue of failures on the wall."""


def test_no_client_has_the_colour_of_failures_and_each_keeps_its_own() -> None:
    hues = [hue_of(f"client-{number}") for number in range(1_000)]
    assert min(min(abs(hue - _RED), 360 - abs(hue - _RED)) for hue in hues) > 20
    assert len({*hues}) > 200
    assert hues == [hue_of(f"client-{number}") for number in range(1_000)]

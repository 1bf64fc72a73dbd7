"""Tests the colours by which the wall tells clients from one another."""

from browser_service.spine.wall import hue_of

_RED = 27
"""Is the hue in which the wall says that something failed."""


def test_no_client_has_the_colour_of_what_failed_and_each_keeps_its_own() -> None:
    hues = [hue_of(f"client-{number}") for number in range(1_000)]
    assert min(min(abs(hue - _RED), 360 - abs(hue - _RED)) for hue in hues) > 20
    assert len({*hues}) > 200
    assert hues == [hue_of(f"client-{number}") for number in range(1_000)]

"""Tests on real pages what a site answers to pages by itself. The other tests of limits need no browser."""

import pytest

from tests.front.service.test_limits import (
    clock,
    test_a_click_is_not_held_back_and_its_429_pauses_too,
    test_the_answer_to_a_fetch_of_another_origin_pauses_that_one,
)

__all__ = [
    "clock",
    "test_a_click_is_not_held_back_and_its_429_pauses_too",
    "test_the_answer_to_a_fetch_of_another_origin_pauses_that_one",
]

pytestmark = pytest.mark.anyio

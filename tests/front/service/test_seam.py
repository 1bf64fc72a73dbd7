"""Runs the seam's own tests with the host that has no browser.

What a page's scripts put into values is tested on real pages alone."""

import pytest

from tests.process.service.test_seam import (
    remote,
    test_a_cancel_that_races_its_call_is_reported_truthfully,
    test_calls_that_wait_take_their_turns_by_the_fronts_order_however_they_arrive,
    test_every_effect_happens_once_and_in_order_though_messages_are_late_repeated_and_reordered,
    test_first_calls_make_one_page_and_one_owner_across_json,
    test_frames_of_a_page_cross_as_json,
    test_results_errors_notices_and_artifacts_cross_as_json,
    test_turns_events_and_cancels_cross_as_json,
    test_values_without_json_do_not_break_the_seam,
)

__all__ = [
    "remote",
    "test_a_cancel_that_races_its_call_is_reported_truthfully",
    "test_calls_that_wait_take_their_turns_by_the_fronts_order_however_they_arrive",
    "test_every_effect_happens_once_and_in_order_though_messages_are_late_repeated_and_reordered",
    "test_first_calls_make_one_page_and_one_owner_across_json",
    "test_frames_of_a_page_cross_as_json",
    "test_results_errors_notices_and_artifacts_cross_as_json",
    "test_turns_events_and_cancels_cross_as_json",
    "test_values_without_json_do_not_break_the_seam",
]

pytestmark = pytest.mark.anyio

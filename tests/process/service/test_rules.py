"""Tests each rule that settings change once on real pages. The other tests of the rules need no browser."""

import pytest

from tests.front.service.test_activity_kept import test_records_survive_a_restart_and_their_numbers_go_on
from tests.front.service.test_limits import (
    clock,
    test_a_429_pauses_its_origin_for_everybody_and_no_other,
    test_a_call_over_the_limit_at_once_waits_for_its_turn_and_says_so,
    test_a_click_is_not_held_back_and_its_429_pauses_too,
    test_pages_over_a_clients_limit_are_refused_also_when_all_come_at_once,
    test_the_answer_to_a_fetch_of_another_origin_pauses_that_one,
)
from tests.front.service.test_notifying import test_a_webhook_is_told_once_and_follows_no_redirect
from tests.front.service.test_ownership import (
    test_a_holders_idle_time_starts_at_the_end_of_its_call,
    test_a_page_is_not_idle_while_its_holder_has_a_call_queued_or_running,
    test_acting_takes_an_idle_page_and_both_clients_learn_of_it,
)
from tests.front.service.test_person import test_a_lease_neither_lapses_nor_passes_on_meanwhile

__all__ = [
    "clock",
    "test_a_429_pauses_its_origin_for_everybody_and_no_other",
    "test_a_call_over_the_limit_at_once_waits_for_its_turn_and_says_so",
    "test_a_click_is_not_held_back_and_its_429_pauses_too",
    "test_a_holders_idle_time_starts_at_the_end_of_its_call",
    "test_a_lease_neither_lapses_nor_passes_on_meanwhile",
    "test_a_page_is_not_idle_while_its_holder_has_a_call_queued_or_running",
    "test_a_webhook_is_told_once_and_follows_no_redirect",
    "test_acting_takes_an_idle_page_and_both_clients_learn_of_it",
    "test_pages_over_a_clients_limit_are_refused_also_when_all_come_at_once",
    "test_records_survive_a_restart_and_their_numbers_go_on",
    "test_the_answer_to_a_fetch_of_another_origin_pauses_that_one",
]

pytestmark = pytest.mark.anyio

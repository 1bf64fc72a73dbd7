"""Tests each rule of sharing once on real pages. The other tests of the rules need no browser.

That both pass shows that the host without a browser does as the real one."""

import pytest

from tests.front.service.test_calls import (
    test_a_cancelled_running_act_has_an_unknown_outcome_and_the_page_takes_the_next_call_within_a_second,
    test_a_cancelled_running_read_is_cancelled,
    test_a_cancelled_script_frees_the_page,
    test_a_click_cancelled_while_its_navigation_hangs_frees_the_page,
)
from tests.front.service.test_claims import (
    test_a_call_that_was_queued_when_its_page_was_taken_is_refused_and_the_one_that_ran_ends,
    test_all_may_act_on_a_page_shared_for_acting_but_only_its_holder_may_close_it,
    test_many_simultaneous_claims_get_the_page_once_each_and_never_together,
    test_nobody_else_reads_a_private_page_or_learns_its_url,
    third,
)
from tests.front.service.test_ownership import (
    test_an_act_for_another_revision_or_url_is_refused_before_anything_happens,
    test_every_act_on_anothers_page_is_refused_and_changes_nothing,
)
from tests.front.service.test_sessions import (
    mine,
    test_a_closed_session_is_gone_with_its_pages,
    test_a_session_has_cookies_of_its_own,
    test_all_may_use_a_shared_session_but_only_its_owner_may_close_it,
    test_clearing_the_cookies_of_a_session_in_which_others_work_is_refused_and_names_them,
    test_cookies_are_cleared_by_domain_name_and_path,
    test_running_and_queued_calls_say_that_their_session_closed,
)

__all__ = [
    "mine",
    "test_a_call_that_was_queued_when_its_page_was_taken_is_refused_and_the_one_that_ran_ends",
    "test_a_cancelled_running_act_has_an_unknown_outcome_and_the_page_takes_the_next_call_within_a_second",
    "test_a_cancelled_running_read_is_cancelled",
    "test_a_cancelled_script_frees_the_page",
    "test_a_click_cancelled_while_its_navigation_hangs_frees_the_page",
    "test_a_closed_session_is_gone_with_its_pages",
    "test_a_session_has_cookies_of_its_own",
    "test_all_may_act_on_a_page_shared_for_acting_but_only_its_holder_may_close_it",
    "test_all_may_use_a_shared_session_but_only_its_owner_may_close_it",
    "test_an_act_for_another_revision_or_url_is_refused_before_anything_happens",
    "test_clearing_the_cookies_of_a_session_in_which_others_work_is_refused_and_names_them",
    "test_cookies_are_cleared_by_domain_name_and_path",
    "test_every_act_on_anothers_page_is_refused_and_changes_nothing",
    "test_many_simultaneous_claims_get_the_page_once_each_and_never_together",
    "test_nobody_else_reads_a_private_page_or_learns_its_url",
    "test_running_and_queued_calls_say_that_their_session_closed",
    "third",
]

pytestmark = pytest.mark.anyio

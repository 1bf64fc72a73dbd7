"""Tests each rule of sharing once on real pages. The other tests of the rules need no browser.

That both pass shows that the host without a browser does as the real one."""

import pytest

from tests.front.service.test_activity import (
    test_an_act_on_a_private_page_is_seen_by_its_owner_and_the_caller,
    test_the_record_shows_who_ended_a_login,
)
from tests.front.service.test_calls import (
    test_a_call_sent_again_while_it_runs_joins_it_and_happens_once,
    test_a_cancel_that_overtakes_its_call_stops_it,
    test_a_cancelled_queued_call_did_not_happen,
    test_a_cancelled_running_act_has_an_unknown_outcome_and_the_page_takes_the_next_call_within_a_second,
    test_a_cancelled_running_read_is_cancelled,
    test_a_cancelled_script_frees_the_page,
    test_a_click_cancelled_while_its_navigation_hangs_frees_the_page,
    test_a_failure_is_stored_like_a_result,
    test_get_call_waits_for_a_running_call_and_returns_its_result,
)
from tests.front.service.test_claims import (
    short_offers,
    test_a_call_that_was_queued_when_its_page_was_taken_is_refused_and_the_one_that_ran_ends,
    test_a_claim_with_a_reason_takes_the_page_and_its_holder_is_told_why,
    test_a_page_is_handed_over_by_name_and_its_new_owner_is_told,
    test_a_persons_tab_may_be_taken_for_acting_and_is_not_closed_without_a_reason,
    test_a_released_page_goes_to_those_who_wait_for_it_in_the_order_in_which_they_came,
    test_agents_of_one_client_are_distinguished_and_do_not_close_each_others_pages_by_accident,
    test_all_may_act_on_a_page_shared_for_acting_but_only_its_holder_may_close_it,
    test_an_expired_hold_keeps_nobody_out,
    test_an_offer_that_is_not_used_passes_on,
    test_many_simultaneous_claims_get_the_page_once_each_and_never_together,
    test_nobody_else_reads_a_private_page_or_learns_its_url,
    third,
)
from tests.front.service.test_ownership import (
    test_acting_on_a_free_page_takes_its_lease,
    test_an_act_for_another_revision_or_url_is_refused_before_anything_happens,
    test_every_act_on_anothers_page_is_refused_and_changes_nothing,
    test_reading_is_free,
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
    "short_offers",
    "test_a_call_sent_again_while_it_runs_joins_it_and_happens_once",
    "test_a_call_that_was_queued_when_its_page_was_taken_is_refused_and_the_one_that_ran_ends",
    "test_a_cancel_that_overtakes_its_call_stops_it",
    "test_a_cancelled_queued_call_did_not_happen",
    "test_a_cancelled_running_act_has_an_unknown_outcome_and_the_page_takes_the_next_call_within_a_second",
    "test_a_cancelled_running_read_is_cancelled",
    "test_a_cancelled_script_frees_the_page",
    "test_a_claim_with_a_reason_takes_the_page_and_its_holder_is_told_why",
    "test_a_click_cancelled_while_its_navigation_hangs_frees_the_page",
    "test_a_closed_session_is_gone_with_its_pages",
    "test_a_failure_is_stored_like_a_result",
    "test_a_page_is_handed_over_by_name_and_its_new_owner_is_told",
    "test_a_persons_tab_may_be_taken_for_acting_and_is_not_closed_without_a_reason",
    "test_a_released_page_goes_to_those_who_wait_for_it_in_the_order_in_which_they_came",
    "test_a_session_has_cookies_of_its_own",
    "test_acting_on_a_free_page_takes_its_lease",
    "test_agents_of_one_client_are_distinguished_and_do_not_close_each_others_pages_by_accident",
    "test_all_may_act_on_a_page_shared_for_acting_but_only_its_holder_may_close_it",
    "test_all_may_use_a_shared_session_but_only_its_owner_may_close_it",
    "test_an_act_for_another_revision_or_url_is_refused_before_anything_happens",
    "test_an_act_on_a_private_page_is_seen_by_its_owner_and_the_caller",
    "test_an_expired_hold_keeps_nobody_out",
    "test_an_offer_that_is_not_used_passes_on",
    "test_clearing_the_cookies_of_a_session_in_which_others_work_is_refused_and_names_them",
    "test_cookies_are_cleared_by_domain_name_and_path",
    "test_every_act_on_anothers_page_is_refused_and_changes_nothing",
    "test_get_call_waits_for_a_running_call_and_returns_its_result",
    "test_many_simultaneous_claims_get_the_page_once_each_and_never_together",
    "test_nobody_else_reads_a_private_page_or_learns_its_url",
    "test_reading_is_free",
    "test_running_and_queued_calls_say_that_their_session_closed",
    "test_the_record_shows_who_ended_a_login",
    "third",
]

pytestmark = pytest.mark.anyio

"""Tests what a person is asked for, on real pages: one test of each rule."""

import pytest

from tests.front.service.test_person import (
    _answered,
    ana,
    test_a_page_that_the_person_closes_ends_its_request,
    test_a_person_who_looks_or_acts_keeps_the_page,
    test_a_popup_of_the_page_is_the_persons_too,
    test_agents_that_meet_the_same_login_ask_once_and_all_go_on,
    test_the_accounts_person_acts_on_the_page_and_the_one_who_asked_goes_on_first,
    test_while_a_password_or_code_may_be_typed_nobody_acts_on_or_reads_the_page,
)

__all__ = [
    "_answered",
    "ana",
    "test_a_page_that_the_person_closes_ends_its_request",
    "test_a_person_who_looks_or_acts_keeps_the_page",
    "test_a_popup_of_the_page_is_the_persons_too",
    "test_agents_that_meet_the_same_login_ask_once_and_all_go_on",
    "test_the_accounts_person_acts_on_the_page_and_the_one_who_asked_goes_on_first",
    "test_while_a_password_or_code_may_be_typed_nobody_acts_on_or_reads_the_page",
]

pytestmark = pytest.mark.anyio

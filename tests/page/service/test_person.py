"""Tests what a person is asked for, on real pages: one test of each rule."""

import pytest

from tests.front.service.test_person import (
    _answered,
    ana,
    test_a_popup_of_the_page_is_the_persons_too,
    test_the_accounts_person_acts_on_the_page_and_the_one_who_asked_goes_on_first,
    test_while_a_password_or_code_may_be_typed_nobody_acts_on_or_reads_the_page,
)

__all__ = [
    "_answered",
    "ana",
    "test_a_popup_of_the_page_is_the_persons_too",
    "test_the_accounts_person_acts_on_the_page_and_the_one_who_asked_goes_on_first",
    "test_while_a_password_or_code_may_be_typed_nobody_acts_on_or_reads_the_page",
]

pytestmark = pytest.mark.anyio

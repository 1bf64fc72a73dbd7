"""Tests from where to where a guarded chat takes something that a person has to allow."""

import pytest

from browse_together.contract.calls import SEVERAL, Guard

MAIL, SHOP = "https://mail.example", "https://shop.example"


@pytest.mark.parametrize(
    ("source", "to", "asked"),
    [
        (MAIL, MAIL, False),
        (MAIL, SHOP, True),
        (MAIL, "https://www.mail.example", False),
        ("http://www.mail.example", MAIL, False),
        (MAIL, "http://mail.example", True),
        (MAIL, "https://mail.example:8443", True),
        (MAIL, "https://evil.mail.example", True),
        (MAIL, SEVERAL, True),
        (SEVERAL, MAIL, True),
        (SEVERAL, SEVERAL, True),
    ],
)
def test_data_read_at_one_site_is_free_only_at_that_site(source: str, to: str, *, asked: bool) -> None:
    pairs = [(source, to)] if asked else []
    assert Guard(read=[source]).unallowed(set(), {to}) == pairs
    assert Guard(read=[]).unallowed({source}, {to}) == pairs
    assert Guard(read=[source], allowed=[(source, to)]).unallowed(set(), {to}) == []


def test_a_person_who_allowed_scripts_to_send_anywhere_is_asked_about_each_other_act() -> None:
    guard = Guard(read=[MAIL, SHOP], allowed=[(MAIL, SEVERAL), (SHOP, SEVERAL)])
    assert guard.unallowed(set(), {SHOP}) == [(MAIL, SHOP)]
    assert guard.unallowed(set(), {SEVERAL}) == []

"""Tests that a text is recognized under the usual disguises, and that looking for it ends."""

import pytest

from browser_service.security.disguises import squeezed, undisguised
from tests.support.victim import DISGUISES

CODES = ["K7Q2-9XVB-44TD", "4539148803436467"]


@pytest.mark.parametrize("name", sorted(DISGUISES))
def test_a_code_is_recognized_in_each_disguise(name: str) -> None:
    for code in CODES:
        forms = undisguised([DISGUISES[name](code)])
        assert any(squeezed(code) in form for form in forms), code


def test_disguises_end() -> None:
    assert len(undisguised(["%25" * 5_000 + "QUJD" * 5_000])) <= 300

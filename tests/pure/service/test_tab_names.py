"""Tests what the page of a shared tab is called."""

import pytest

from browse_together.contract.attached import is_stand_in
from browser_service.spine.attached import name_of


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("New order", "new-order"),
        ("Übersicht · Rechnungen - März 2026 und mehr", "ubersicht-rechnungen-marz-2026"),
        ("~/.ssh/../x", "ssh-x"),
        ("Donaudampfschifffahrtsgesellschaftskapitän", "donaudampfschifffahrtsgesellsc"),
        ("Tab", "shared-tab"),
        ("Pages", "shared-pages"),
        ("注文", "shared"),
        ("", "shared"),
    ],
)
def test_it_begins_as_the_title_does(title: str, name: str) -> None:
    assert name_of(title) == name
    assert not is_stand_in(name)

"""Tests the catalogue's fingerprint: the same in every process, another after every change."""

import pytest
from pydantic import Field

from browse_together.contract.actions import interaction
from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS, digest
from browse_together.contract.written import fingerprint


def test_the_written_fingerprint_is_the_digest_of_all_actions() -> None:
    assert fingerprint() == digest(ACTIONS)
    assert digest({}) != digest(ACTIONS)


def test_the_fingerprint_does_not_depend_on_the_order_of_actions() -> None:
    assert digest(dict(reversed([*ACTIONS.items()]))) == fingerprint()


class OneMore(interaction.Click):
    """Click with one more argument."""

    pressure: float = Field(default=0, description="How hard.")


class OtherDefault(interaction.Click):
    """Click with another default."""

    click_count: int = Field(default=2, ge=1, le=3, description="2 is a double click.")


class OtherLimit(interaction.Click):
    """Click with another limit."""

    click_count: int = Field(default=1, ge=1, le=4, description="2 is a double click.")


class Unchanged(interaction.Click):
    """Click under another Python name."""


@pytest.mark.parametrize("changed", [OneMore, OtherDefault, OtherLimit])
def test_the_fingerprint_changes_with_any_argument(changed: type[Action]) -> None:
    assert digest({**ACTIONS, "click": changed}) != fingerprint()


def test_the_fingerprint_changes_with_nothing_else() -> None:
    assert digest({**ACTIONS, "click": Unchanged}) == fingerprint()

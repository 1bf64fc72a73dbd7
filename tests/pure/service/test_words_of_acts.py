"""Tests that people read words for each act and each outcome, and none that nothing stands behind."""

import re
from pathlib import Path

from browse_together import contract
from browse_together.contract.actions.traits import Effect, Scope
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import BrowseError

_TEXT = Path(contract.__file__).with_name("acts.js").read_text("utf-8")


def named(table: str) -> set[str]:
    found = re.search(rf"const {table} = \{{(.*?)\n\}};", _TEXT, re.DOTALL)
    assert found is not None
    return set(re.findall(r"^  (\w+): ", found[1], re.MULTILINE))


def codes(of: type[BrowseError]) -> set[str]:
    return {of.code}.union(*map(codes, of.__subclasses__()))


def test_each_act_on_a_page_or_a_session_has_a_verb() -> None:
    verbs = named("VERBS")
    on_page = {
        name
        for name, action in ACTIONS.items()
        if action.effect is not Effect.READS and action.scope is not Scope.SERVICE
    }
    assert on_page - verbs == set()
    assert verbs - ACTIONS.keys() == set()


def test_each_error_has_a_sentence() -> None:
    assert named("OUTCOMES") == codes(BrowseError)

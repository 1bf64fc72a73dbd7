"""What a caller may ask for at all: one step, which every call and each part of it passes before anything is done."""

from collections.abc import Callable

from browser_service.security.auth import Identity
from shared.actions.base import Action

Rule = Callable[[Identity, Action], None]
"""Raises Forbidden for an action that the caller's token does not allow."""


class Policy:
    """The rules for what tokens allow. There are none yet: a token's `scopes` will be read by one."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = [*rules]

    def check(self, caller: Identity, action: Action) -> None:
        """Raise what a rule raises for the action, or for one that it carries."""
        for each in (action, *action.parts()):
            for rule in self.rules:
                rule(caller, each)

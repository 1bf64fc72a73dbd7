"""Checks what a caller may ask for: every call and each of its parts passes this step before anything is done."""

from collections.abc import Callable

from browser_service.security.auth import Identity
from shared.actions.base import Action

Rule = Callable[[Identity, Action], None]
"""Raises Forbidden for an action that the caller's token does not allow."""


class Policy:
    """Holds the rules for what tokens allow. There are none yet: one will read a token's `scopes`."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = [*rules]

    def check(self, caller: Identity, action: Action) -> None:
        """Raise Forbidden if a rule refuses the action, or one that it carries."""
        for each in (action, *action.parts()):
            for rule in self.rules:
                rule(caller, each)

"""The limits that a token may have, and the actions that they leave.

The limits are in the signed token itself: the service needs no lookup, and a gateway reads them without asking.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, ValidationError, field_validator

from browse_together.contract import toolsets
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Effect
from browse_together.contract.model import Model
from browse_together.contract.wire import ID_PATTERN, TOKEN_LIMITS

CookieAccess = Literal["values", "names", "none"]
_ALWAYS: Final = frozenset({"help", "call_tool", "get_call", "cancel_call"})
"""Actions that every token allows: they find other actions and follow calls to their end."""
_MOST_ORIGINS: Final = 50


class Limits(Model):
    """What a token allows. Without limits it allows all but the cookie values of the shared login."""

    model_config = ConfigDict(frozen=True)

    read_only: bool = Field(default=False, description="Reads, and opens, moves and closes pages of its own.")
    scripting: bool = Field(default=True, description="Runs JavaScript of its own in pages.")
    cookies: CookieAccess = Field(
        default="names", description="What it sees of the shared login's cookies; none: no cookies of any session."
    )
    origins: Annotated[tuple[str, ...], Field(max_length=_MOST_ORIGINS)] = Field(
        default=(), description="Origins it may use. Empty means any."
    )
    session: str | None = Field(default=None, pattern=ID_PATTERN, description="The one session that it may use.")
    toolsets: tuple[str, ...] = Field(default=(), description="Toolsets it may call. Empty means all.")
    pages: int | None = Field(default=None, ge=1, le=10_000, description="Pages that it may have open.")

    @field_validator("toolsets")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in value if name not in toolsets.NAMES]:
            raise ValueError(f"there is no toolset {unknown[0]!r}; there are: {', '.join(toolsets.NAMES)}")
        return value

    def lists(self, action: type[Action]) -> bool:
        """Return whether the token allows calls of an action, so that it is listed. A call may still be refused for
        what it names."""
        return not self.rule_against(action)

    def rule_against(self, action: Action | type[Action]) -> str:
        """Return the option of `token create` that refuses an action, whatever the call names; empty if none does."""
        carries = bool(action.part_fields) or action.name() == CallTool.name()  # its parts are checked separately
        if self.toolsets and action.name() not in toolsets.actions_in(self.toolsets).keys() | _ALWAYS:
            return "--toolset"
        if self.read_only and not carries and not (action.effect is Effect.READS or action.serves_reading):
            return "--read-only"
        if not self.scripting and action.runs_script:
            return "--no-scripting"
        if self.cookies == "none" and action.cookie_use:
            return "--no-cookies"
        return ""

    @property
    def rule_against_programs(self) -> str:
        """Return the option that refuses arguments which are style sheets or HTML; empty if none does."""
        ruled = {"--read-only": self.read_only, "--no-scripting": not self.scripting, "--origin": bool(self.origins)}
        return next((rule for rule, holds in ruled.items() if holds), "")

    @property
    def narrow(self) -> bool:
        """Return whether the token allows less than one without limits."""
        return self.model_copy(update={"cookies": "names" if self.cookies == "values" else self.cookies}) != UNLIMITED

    @property
    def words(self) -> str:
        """Return the limits as options of `token create`; empty without limits."""
        named = {"--session": self.session, "--pages": self.pages}
        return " ".join(
            [
                *(["--read-only"] if self.read_only else []),
                *([] if self.scripting else ["--no-scripting"]),
                *({"values": ["--cookies"], "none": ["--no-cookies"]}.get(self.cookies, [])),
                *(f"--origin {origin}" for origin in self.origins),
                *(f"{option} {value}" for option, value in named.items() if value is not None),
                *(f"--toolset {name}" for name in self.toolsets),
            ]
        )


UNLIMITED: Final = Limits()


def limits_of(claims: Mapping[str, object]) -> Limits:
    """Return the limits in a token's claims. Raises ValidationError for unknown ones: a token with limits that we do
    not understand allows nothing."""
    found = claims.get(TOKEN_LIMITS)
    return UNLIMITED if found is None else Limits.model_validate(found)


def readable_limits(claims: Mapping[str, object]) -> Limits:
    """Return the limits for a list of tools. Claims that only the service understands count as no limits."""
    try:
        return limits_of(claims)
    except ValidationError:
        return UNLIMITED

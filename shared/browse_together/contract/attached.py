"""A person's own browser, and their tabs there, as its owner sees them. Agents are told of shared tabs alone."""

import re
from pathlib import PurePath
from typing import Final, Literal, Self

from pydantic import Field, field_validator

from browse_together.contract.model import Model
from browse_together.contract.pages import Lent
from browse_together.contract.wire import ATTACHED_SESSION, DEFAULT_SESSION, ID_PATTERN, RESERVED_IDS

STAND_IN: Final = "tab"
"""What the page is called that stands for a tab which an agent asked for, with a suffix if that is taken."""
TAB_ID: Final = r"^[A-Za-z0-9-]{1,64}$"
BROWSER_NAMES: Final = ("chrome", "chrome-beta", "msedge", "brave", "chromium")
_DEFAULT: Final = " default"


class AttachTarget(Model):
    """Which browser to attach to, and as which session. With neither of the first two, the one at BROWSE_CDP_URL."""

    browser: str = Field(default="", max_length=40, description="Its name, such as chrome.")
    profile_dir: str = Field(default="", max_length=4_000, description="Its user data directory, if not the usual one.")
    session_id: str = Field(default=ATTACHED_SESSION, pattern=ID_PATTERN, description="What its session is called.")
    default: bool = Field(default=False, description="Calls that name no session work in it.")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a setting: a browser's name or its user data directory, and perhaps `default`. Raises ValueError."""
        where, default = text.removesuffix(_DEFAULT).strip(), text.endswith(_DEFAULT)
        is_name = where in BROWSER_NAMES or not PurePath(where).is_absolute()
        return cls(browser=where if is_name else "", profile_dir="" if is_name else where, default=default)

    @field_validator("browser")
    @classmethod
    def _known(cls, value: str) -> str:
        if value and value not in BROWSER_NAMES:
            known = ", ".join(BROWSER_NAMES)
            raise ValueError(f"no browser is called {value!r}; known are {known}, or give its user data directory")
        return value

    @field_validator("profile_dir")
    @classmethod
    def _whole(cls, value: str) -> str:
        if value and not PurePath(value).is_absolute():
            raise ValueError(f"{value!r} is no whole path, such as /home/me/.config/chromium")
        return value

    @field_validator("session_id")
    @classmethod
    def _free(cls, value: str) -> str:
        if value in {DEFAULT_SESSION, *RESERVED_IDS}:
            raise ValueError(f"{value!r} is the name of something else")
        return value

    def same_browser(self, other: "AttachTarget") -> bool:
        if self.profile_dir or other.profile_dir:
            return self.profile_dir == other.profile_dir
        return self.browser == other.browser

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return how it is named on the command line."""
        browser, where = filter(None, [self.browser]), ("--profile-dir", self.profile_dir) if self.profile_dir else ()
        called = ("--as", self.session_id) if self.session_id != ATTACHED_SESSION else ()
        return (*browser, *where, *called, *(("--default",) if self.default else ()))


class Detachment(Model):
    """Which browser to let go."""

    session_id: str = Field(default="", description="The session whose browser it is; the only one without.")


class AttachmentState(Model):
    """How it stands with a browser that is attached to."""

    state: Literal["off", "asking", "attached", "refused", "gone"] = Field(
        default="off",
        description="asking: the browser asks its person to allow it. refused: they did not, and are not asked again "
        "until a person attaches anew. gone: the next call of an agent there attaches again.",
    )
    session_id: str = Field(default="", description="The session whose browser it is; empty if there is none.")
    browser: str = Field(default="", description="The browser in words, such as Google Chrome.")
    profile: str = Field(default="", description="The profile's name and account in words, as far as it is known.")
    words: str = "No browser of yours is attached to."
    next_step: str = ""
    unshared: int = Field(default=0, description="The person's tabs that are not shared.")


class PersonTab(Model):
    """A tab of a person's browser that no agent opened."""

    tab_id: str = Field(description="The browser's own id of the tab.")
    title: str = ""
    url: str = ""
    session_id: str = Field(default="", description="The session whose browser it is in.")
    page_id: str | None = Field(default=None, description="What agents call it, if it is shared.")
    access: Lent | None = Field(default=None, description="What agents may do with it, if so.")
    with_label: str | None = Field(default=None, description="The client that it is shared with, if with one alone.")


class TabShare(Model):
    """What a person shares."""

    tab_id: str = Field(pattern=TAB_ID)
    access: Lent = "act"
    client_id: str | None = Field(default=None, description="The client that it is for; all without.")
    label: str = Field(default="", max_length=200, description="That client's label or handle, if its id is not known.")
    page_id: str = Field(default="", pattern=f"^$|{ID_PATTERN}", description="What agents are to call it.")
    linked: bool = Field(default=False, description="Share with it the tabs whose scripts can reach each other.")
    request_id: str | None = Field(default=None, max_length=64, description="The request that it answers, if any.")


def is_stand_in(page_id: str) -> bool:
    return re.fullmatch(rf"{STAND_IN}(-[a-z2-9]{{4}})?", page_id) is not None


class TabUnshare(Model):
    """What a person takes back."""

    tab_id: str = Field(pattern=TAB_ID)

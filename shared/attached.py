"""A person's own browser, and their tabs there, as its owner sees them. Agents are told of shared tabs alone."""

from typing import Literal

from pydantic import Field

from shared.model import Model
from shared.pages import Lent

TAB_ID = r"^[A-Za-z0-9-]{1,64}$"


class AttachTarget(Model):
    """Which browser to attach to. With neither field, the one at BROWSE_CDP_URL."""

    browser: str = Field(default="", max_length=40, description="Its name, such as chrome.")
    profile_dir: str = Field(default="", max_length=4_000, description="Its user data directory, in place of a name.")
    default: bool = Field(default=False, description="Calls that name no session work in it.")


class AttachmentState(Model):
    """How it stands with the browser that is attached to."""

    state: Literal["off", "asking", "attached", "refused", "gone"] = Field(
        default="off",
        description="asking: the browser asks its person to allow it. refused: they did not, and are not asked again "
        "until a person attaches anew. gone: the next call of an agent there attaches again.",
    )
    session_id: str = Field(default="", description="The session whose browser it is; empty if there is none.")
    browser: str = Field(default="", description="The browser in words, such as Google Chrome.")
    words: str = "No browser of yours is attached to."
    next_step: str = ""
    asked_ago_ms: int | None = None
    unshared: int = Field(default=0, description="The person's tabs that are not shared.")


class PersonTab(Model):
    """A tab of a person's browser that no agent opened."""

    tab_id: str = Field(description="The browser's own id of the tab.")
    title: str = ""
    url: str = ""
    page_id: str | None = Field(default=None, description="What agents call it, if it is shared.")
    access: Lent | None = Field(default=None, description="What agents may do with it, if so.")
    with_label: str | None = Field(default=None, description="The client that it is shared with, if with one alone.")


class TabShare(Model):
    """What a person shares."""

    tab_id: str = Field(pattern=TAB_ID)
    access: Lent = "act"
    client_id: str | None = Field(default=None, description="The client that it is for; all without.")
    label: str = Field(default="", max_length=200, description="That client's label or handle, if its id is not known.")
    linked: bool = Field(default=False, description="Share with it the tabs whose scripts can reach each other.")
    request_id: str | None = Field(default=None, max_length=64, description="The request that it answers, if any.")


class TabUnshare(Model):
    """What a person takes back."""

    tab_id: str = Field(pattern=TAB_ID)

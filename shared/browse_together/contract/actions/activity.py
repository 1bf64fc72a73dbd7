"""The account of who did what."""

from typing import Literal, Self

from pydantic import Field

from browse_together.contract.actions.arguments import PageId, SessionId
from browse_together.contract.actions.base import ServiceAction
from browse_together.contract.actions.reading import Cursor


class GetActivity(ServiceAction):
    """Get who did what in this browser, newest first.

    When, which client, the action and its page, what it sent, where it led, how it ended. Reads are not recorded,
    and of typed text and scripts only the length."""

    everyday = ("pageId", "client", "since")
    text_key = "activity"

    page_id: PageId | None = Field(default=None, description="Only what was done on this page.")
    client: str | None = Field(default=None, min_length=1, description="Only this client: its label, or `me`.")
    session_id: SessionId | None = Field(default=None, description="Only what was done in this session.")
    action_name: str | None = Field(default=None, min_length=1, description="Only this action, such as click.")
    since: str | None = Field(default=None, description="Not before: how long ago (10m, 2h, 1d) or an ISO time.")
    until: str | None = Field(default=None, description="Not after: likewise.")
    limit: int = Field(default=30, ge=1, le=500, description="Records at most; older ones by cursor.")
    budget: int = Field(default=8_000, ge=100, le=1_000_000, description="Characters at most; older ones by cursor.")
    format: Literal["text", "records"] = Field(default="text", description="A line each, or objects for programs.")
    cursor: Cursor = None

    def about_caller(self) -> Self:
        return self.model_copy(update={"client": "me"})

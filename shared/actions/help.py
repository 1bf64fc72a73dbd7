"""What there is to call, and how."""

from pydantic import Field

from shared.actions.base import Action, Lane


class Help(Action):
    """Describe a tool in full: what it does, every argument, an example. Without a name: all tools by category, of
    which each can be called, listed or not."""

    lane = Lane.BESIDE
    unmetered = True
    shown = "help"

    tool: str | None = Field(default=None, alias="name", min_length=1, description="The tool, such as click.")

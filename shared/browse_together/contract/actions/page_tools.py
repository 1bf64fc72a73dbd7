"""Tools that a page itself declares (WebMCP): listing them, and calling one."""

from typing import Annotated

from pydantic import Field

from browse_together.contract.actions.arguments import Selector
from browse_together.contract.actions.base import PageAct, PageAction
from browse_together.contract.actions.reading import Budget
from browse_together.contract.actions.scripting import Fields, HalfMinute
from browse_together.contract.actions.traits import CalledTool

MOST_TOOL_NAME = 200
ToolName = Annotated[str, Field(min_length=1, max_length=MOST_TOOL_NAME)]


class ListPageTools(PageAction):
    """List the tools that the page itself declares, at most 20.

    Names, descriptions and schemas are the page's words. `readOnly`, `consequential` and `untrustedContent` are what it
    says of its tools."""

    everyday = ("name",)
    untrusted = True
    text_key = "tools"
    extra_keys = ("inFrames",)

    part: str | None = Field(
        default=None, alias="name", min_length=1, max_length=MOST_TOOL_NAME, description="Only with this in the name."
    )
    frame: Selector | None = Field(default=None, description="Selector of the iframe whose tools to list.")
    budget: Budget = None


class CallPageTool(PageAct):
    """Call a tool that the page itself declares, and get what it gives.

    A tool that has changed since you listed it is not called."""

    everyday = ("arguments",)
    loggable_arguments = frozenset({"name"})
    calls_page_tool = True

    tool: ToolName = Field(alias="name", description="As list_page_tools gives it.")
    arguments: Fields = Field(default={}, description="By the tool's schema.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe that declares it.")
    schema_: Fields | None = Field(
        default=None, alias="schema", description="What it has to take still, or is not called."
    )
    timeout: HalfMinute = 30_000

    @property
    def page_tool(self) -> CalledTool:
        return CalledTool(self.tool, self.frame, self.schema_ is not None)

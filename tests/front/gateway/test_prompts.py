"""Tests the prompts over the protocol: declared, listed, filled in, and their arguments completed; no service is
needed."""

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, TextContent

from browse_together.contract.limits import UNLIMITED, Limits
from mcp_gateway.connection import Connection
from mcp_gateway.prompts import listed

pytestmark = pytest.mark.anyio

URL = "https://example.com"
NAMES = ("scrape_website", "fill_form", "capture_screenshots")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_prompt_is_listed_and_given_as_a_message(connection: Connection, mode: str) -> None:
    async with Client(connection.server(), mode=mode) as client:
        listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        given = await client.get_prompt("capture_screenshots", {"url": URL, "fullPage": "true"})
    assert (*listed,) == NAMES
    assert [(each.name, each.required) for each in listed["fill_form"].arguments or ()] == [
        ("url", True),
        ("fields", True),
        ("submit", False),
    ]
    (message,) = given.messages
    assert given.description == "Capture screenshots of pages or elements"
    assert isinstance(message.content, TextContent)
    assert (message.role, message.content.text.splitlines()[3]) == ("user", "- Full page screenshot (scrolling)")


def test_a_prompt_that_a_token_could_not_follow_is_not_listed() -> None:
    assert [prompt.name for prompt in listed(Limits(read_only=True)).prompts] == [
        "scrape_website",
        "capture_screenshots",
    ]
    assert [prompt.name for prompt in listed(Limits(toolsets=("waiting",))).prompts] == []
    assert [prompt.name for prompt in listed(UNLIMITED).prompts] == [*NAMES]


async def test_a_bad_argument_is_an_error_of_the_protocol_that_names_it(connection: Connection) -> None:
    async with Client(connection.server(), mode="legacy") as client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("scrape_website", {"url": URL, "fields": "title, price"})
        assert refused.value.code == -32602
        assert refused.value.message.startswith("fields of scrape_website must be a list of objects as JSON: ")
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("scrape", {"url": URL})
        assert (refused.value.code, refused.value.data) == (-32602, {"availablePrompts": [*NAMES]})


@pytest.mark.parametrize(
    ("argument", "begun", "values"),
    [("format", "", ["png", "jpeg"]), ("format", "j", ["jpeg"]), ("fullPage", "T", ["true"]), ("url", "h", [])],
)
async def test_what_an_argument_can_be_is_completed(
    connection: Connection, argument: str, begun: str, values: list[str]
) -> None:
    async with Client(connection.server(), mode="legacy") as client:
        reference = PromptReference(name="capture_screenshots")
        completed = await client.complete(reference, {"name": argument, "value": begun})
    assert completed.completion.values == values

"""Tests where pages may go: decided on what a caller asks for, and again on what a browser makes of it."""

import json

import pytest

from tests.support.service import Agent, RunningService


@pytest.mark.anyio
async def test_the_services_own_address_is_not_opened_by_any_name(agent: Agent, service: RunningService) -> None:
    port = service.settings.port
    for host in ("127.0.0.1", "localhost", "[::1]", "127.1", "0", "x.localhost"):
        error = await agent.error("goto", pageId="p", url=f"http://{host}:{port}/api/tools")
        assert (error["status"], error["code"]) == (403, "FORBIDDEN"), host
    assert (await agent.call("list_pages"))["yours"] == []


@pytest.mark.anyio
async def test_a_refusal_shows_the_url_as_it_was_given(agent: Agent) -> None:
    error = await agent.error("goto", pageId="p", url="file:///etc/passwd")
    assert error["details"]["url"] == "file:///etc/passwd"
    assert json.dumps(error["details"]["context"]) == '{"field": "url"}'

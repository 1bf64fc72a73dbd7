"""Tests that a person calls a chat by another name, and that it is called so everywhere from then on."""

import pytest

from browse_together.contract import wire
from tests.support.service import Agent, RunningService

pytestmark = pytest.mark.anyio


async def rename(person: Agent, client: str, name: str) -> dict[str, object]:
    body: dict[str, object] = (await person.http.post(wire.RENAME, json={"client": client, "name": name})).json()
    return body


async def test_a_chat_is_called_by_its_new_name_everywhere_at_once(service: RunningService, other: Agent) -> None:
    async with service.agent("Crush · shop") as agent, service.agent(operator=True) as person:
        await agent.call("open_page", pageId="held")
        await agent.call("open_page", pageId="left")
        await agent.call("release_page", pageId="left")
        await agent.call("request_human", pageId="held", kind="other", message="Look", timeout=1)
        assert (await rename(person, "crush · SHOP", "The books"))["success"] is True
        refused = await other.error("click", pageId="held", selector="a")
        assert '"The books"' in refused["message"] + refused["hint"]
        listed = {page["pageId"]: page for page in (await other.call("list_pages", all=True))["others"]}
        assert listed["held"]["owner"]["label"] == "The books"
        assert listed["left"]["leftBy"] == "The books"
        asked = (await person.http.get(wire.REQUESTS)).json()["result"]["requests"]
        assert [each["askedBy"] for each in asked] == ["The books"]
        await person.http.post(f"{wire.REQUESTS}/{asked[0]['requestId']}/resolve", json={"state": "refused"})
        done = await other.call("get_activity", client="The books", format="records", pageId="left")
        assert {record["client"] for record in done["records"]} == {"The books"}
        agents = (await person.http.get(wire.AGENTS)).json()["result"]["agents"]
        assert "The books" in [each["label"] for each in agents]
        await agent.call("goto", pageId="left", url="about:blank")
        assert (await other.call("list_pages", all=True))["others"][-1]["owner"]["label"] == "The books"
        for page in ("held", "left"):
            await agent.call("close_page", pageId=page)


async def test_only_the_accounts_person_renames_and_no_two_get_one_name(service: RunningService, agent: Agent) -> None:
    async with service.agent("Aider") as aider, service.agent(operator=True) as person:
        await agent.call("list_pages")
        await aider.call("list_pages")
        refusals = [
            await rename(agent, "Aider", "Mine"),
            await rename(person, "Aider", agent.label),
            await rename(person, "Nobody here", "x"),
            await rename(person, "Aider", ""),
        ]
        codes = [each["error"]["code"] for each in refusals if isinstance(each["error"], dict)]
        assert codes == ["FORBIDDEN", *["VALIDATION_ERROR"] * 3]

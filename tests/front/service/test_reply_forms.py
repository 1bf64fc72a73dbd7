"""Tests that a caller may ask for a reply as text: the service makes it, in the form that the caller can show."""

import pytest

from browse_together.contract import wire
from browse_together.contract.call_spellings import as_command
from browse_together.contract.help_text import action_help
from browse_together.contract.next_calls import spelled
from browse_together.contract.replies import OTHER_VERSION, ForCompletion, ForModel, ForReader, ForTerminal, ReplyForm
from tests.support.json import AnyJson
from tests.support.service import Agent

pytestmark = pytest.mark.anyio


async def asked(agent: Agent, form: ReplyForm, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
    reply = await agent.reply(action, headers={wire.REPLY: form.model_dump_json()}, **arguments)
    body: dict[str, AnyJson] = reply.json()
    assert reply.is_success is body["success"]
    return body


async def test_a_model_gets_content_blocks_in_place_of_the_result(agent: Agent) -> None:
    whole = (await agent.reply("help", name="focus")).json()
    body = await asked(agent, ForModel(), "help", name="focus")
    assert body == {"success": True, "rendered": {"content": [{"type": "text", "text": whole["result"]["help"]}]}}


async def test_a_failure_has_its_error_and_its_text(agent: Agent) -> None:
    body = await asked(agent, ForModel(), "help", name="hovr")
    assert body["error"]["code"] == "INVALID_REQUEST"
    (block,) = body["rendered"]["content"]
    assert block["text"] == f"INVALID_REQUEST: {body['error']['message']}\n{body['error']['hint']}"


async def test_the_envelope_comes_as_structured_content_on_request(agent: Agent) -> None:
    whole = (await agent.reply("list_downloads")).json()
    body = await asked(agent, ForModel(structured=True), "list_downloads")
    assert body["rendered"]["structuredContent"] == whole


async def test_advised_calls_are_worded_for_the_readers_list_of_tools(agent: Agent) -> None:
    for read, example in (("core", 'call_tool {"name": "focus", "arguments": {'), ("editing", "focus {")):
        form = ForModel(toolsets=frozenset({"all"}), read=frozenset({read}))
        text = (await asked(agent, form, "help", name="focus"))["rendered"]["content"][0]["text"]
        assert f"\nExample: {example}" in text


@pytest.mark.parametrize("through", [False, True])
async def test_a_list_that_may_grow_names_the_missing_toolset(agent: Agent, *, through: bool) -> None:
    form, arguments = ForModel(toolsets=frozenset({"core"})), {"toolset": "files"}
    if through:
        body = await asked(agent, form, "call_tool", name="help", arguments=arguments)
    else:
        body = await asked(agent, form, "help", **arguments)
    assert body["rendered"]["toolsets"] == ["files"]
    assert body["rendered"]["content"][0]["text"].endswith("They are in your list of tools now.")


async def test_a_failure_says_that_its_caller_is_of_another_version(agent: Agent) -> None:
    headers = {wire.REPLY: ForModel().model_dump_json(), wire.CATALOGUE: "other"}
    failed = (await agent.reply("help", headers=headers, name="hovr")).json()
    assert failed["rendered"]["content"][0]["text"].endswith(OTHER_VERSION)
    done = (await agent.reply("list_downloads", headers=headers)).json()
    assert OTHER_VERSION not in done["rendered"]["content"][0]["text"]


async def test_a_terminal_gets_readable_text_and_json_besides_the_envelope(agent: Agent) -> None:
    whole = (await agent.reply("list_downloads")).json()
    body = await asked(agent, ForTerminal(), "list_downloads")
    assert body == {**whole, "rendered": {"text": '{\n  "downloads": []\n}'}}


async def test_a_terminal_that_reads_on_in_a_call_is_shown_what_that_was_about(agent: Agent) -> None:
    await agent.reply("help", headers={wire.CALL_ID: "c-1"}, name="hover")
    body = await asked(agent, ForTerminal(action="help"), "get_call", callId="c-1")
    assert body["rendered"]["text"] == spelled(action_help("hover"), as_command)
    assert "Example: browse-together run hover --selector " in body["rendered"]["text"]


async def test_a_reader_gets_contents_and_a_completion_the_ids(agent: Agent) -> None:
    contents = (await asked(agent, ForReader(mime_type="application/json"), "list_downloads"))["rendered"]
    assert contents == {"mimeType": "application/json", "text": '{"downloads": []}'}
    sessions = await asked(agent, ForCompletion(key="sessionId"), "list_sessions")
    assert sessions["rendered"] == {"values": [wire.DEFAULT_SESSION]}


async def test_a_form_is_refused_if_it_is_too_long_to_be_kept(agent: Agent) -> None:
    for names, status in ((10, 200), (1_000, 400)):
        form = ForModel(toolsets=frozenset(f"set-{number}" for number in range(names)))
        reply = await agent.reply("list_downloads", headers={wire.REPLY: form.model_dump_json()})
        assert reply.status_code == status
    assert reply.json()["error"]["message"] == "X-Browse-Reply has more than 4,000 characters."


async def test_an_unknown_form_is_refused_and_the_call_is_not_made(agent: Agent) -> None:
    for header in (
        "model",
        '{"kind": "poem"}',
        "{}",
        '{"kind":' * 400,
        f'{{"kind": "model", "toolsets": [{"1" * 500}]}}',
    ):
        reply = await agent.reply("create_session", headers={wire.REPLY: header})
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "INVALID_REQUEST")
    assert [each["sessionId"] for each in (await agent.call("list_sessions"))["sessions"]] == [wire.DEFAULT_SESSION]


async def test_a_key_that_nothing_listed_has_completes_nothing(agent: Agent) -> None:
    completions = await asked(agent, ForCompletion(key="nope"), "list_sessions")
    assert completions["rendered"] == {}

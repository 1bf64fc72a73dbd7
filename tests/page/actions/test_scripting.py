"""Tests running JavaScript in a page."""

import json

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


RESULTS: dict[str, object] = {
    "document.title": "/page-1",
    "1 + 1": 2,
    "() => [1, 'a', true, null, {deep: {er: [1.5]}}]": [1, "a", True, None, {"deep": {"er": [1.5]}}],
    "async () => { await Promise.resolve(); return 'done' }": "done",
    "new Promise(done => setTimeout(() => done('later'), 30))": "later",
    "const a = 2; const b = 3; a * b": 6,
    "'漢字 🫖 \\u2028'": "漢字 🫖 \u2028",
    "''": "",
    "0": 0,
    "undefined": None,
    "null": None,
    "() => {}": None,
    "2 ** 53": 2**53,
    "12345678901234567890n": 12345678901234567890,
}

SPELLED: dict[str, object] = {
    "NaN": "NaN",
    "[Infinity, -Infinity]": ["Infinity", "-Infinity"],
    "new Date(Date.UTC(2026, 0, 2, 3, 4, 5))": "2026-01-02T03:04:05.000Z",
    "({when: new Date(0)})": {"when": "1970-01-01T00:00:00.000Z"},
    "new URL('http://127.0.0.1/a')": "http://127.0.0.1/a",
    "(() => { const a = {n: 1}; a.self = a; return a })()": {"n": 1, "self": "[Circular]"},
    "(() => { const a = [1]; return [a, a] })()": [[1], [1]],
    "new Map([['green', 5], ['black', {pack: 2}]])": [["green", 5], ["black", {"pack": 2}]],
    "new Set(['a', 'b'])": ["a", "b"],
}

OTHERS = ["-0", "window", "document.body", "Symbol('s')", "() => () => 1", "new Map([[1, 2]])", "/re/g",
          "new Error('made, not thrown')", "'\\ud800'"]  # fmt: skip


async def test_evaluate_script_gives_the_result_as_json(tab: Tab) -> None:
    await tab.show("x")
    got = {expression: await tab.call("evaluate_script", expression=expression) for expression in RESULTS}
    assert got == {expression: {"value": value} for expression, value in RESULTS.items()}


async def test_results_that_json_has_no_word_for_are_given_as_javascript_prints_them(tab: Tab) -> None:
    await tab.show("x")
    assert {expression: await tab.sees(expression) for expression in SPELLED} == SPELLED


async def test_results_of_any_other_kind_do_not_break_the_reply(tab: Tab) -> None:
    await tab.show("x")
    for expression in OTHERS:
        reply = await tab.agent.reply("evaluate_script", expression=expression)
        strictly: dict[str, AnyJson] = json.loads(reply.content.decode(), parse_constant=_no_json)
        assert strictly["success"] is True, expression
        assert "value" in strictly["result"], expression


def _no_json(word: str) -> None:
    raise AssertionError(word)


async def test_evaluate_script_gives_the_argument_to_the_function(tab: Tab) -> None:
    await tab.show("x")
    given = {"n": 41, "list": [None, True, 'a"b'], "deep": {"é": 0.5}}
    assert (await tab.call("evaluate_script", expression="arg => [arg.n + 1, arg]", arg=given))["value"] == [42, given]


async def test_evaluate_script_gives_the_element_first_and_then_the_argument(tab: Tab) -> None:
    await tab.show("<p id=p data-n=1>First</p><p>Second</p>")
    got = await tab.call("evaluate_script", selector="p", expression="(e, arg) => [e.id, e.textContent, arg]", arg="x")
    assert got == {"value": ["p", "First", "x"]}


async def test_evaluate_script_runs_in_the_frame_that_it_names(tab: Tab) -> None:
    tab.site.page("/inner", "<p>Inner</p>")
    inner = tab.site.url("/inner", "localhost")
    await tab.show(f"<iframe src={inner}></iframe>")
    assert (await tab.call("evaluate_script", frame="iframe", expression="location.href"))["value"] == inner
    assert (await tab.call("evaluate_script", frame="iframe", selector="p", expression="e => e.textContent"))[
        "value"
    ] == "Inner"
    error = await tab.error("evaluate_script", frame="body", expression="1")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "frame")


async def test_evaluate_script_is_called_evaluate_too_and_its_expression_script(tab: Tab) -> None:
    await tab.show("x")
    assert await tab.call("evaluate", script="6 * 7") == {"value": 42}
    assert await tab.call("evaluate", params={"expression": "a => a", "arg": 5}) == {"value": 5}


async def test_a_script_that_throws_is_an_error_with_its_words(tab: Tab) -> None:
    url = await tab.show("<p>x")
    for script, said in {
        "() => { throw new TypeError('no tea left') }": "no tea left",
        "Promise.reject(new Error('promised badly'))": "promised badly",
        "Promise.reject({error: 'sold out', left: 0})": '{"error":"sold out","left":0}',
        "not_defined.x": "not_defined is not defined",
        "this is no script": "SyntaxError",
        "() => { throw 'a bare string' }": "a bare string",
    }.items():
        for more in ({}, {"selector": "p"}):
            error = await tab.error("evaluate_script", expression=script, **more)
            assert (error["code"], error["status"]) == ("SCRIPT_EXECUTION_FAILED", 500)
            assert said in error["message"]
            assert "\n" not in error["message"]
            assert (error["details"]["tool"], error["details"]["url"]) == ("evaluate_script", url)
    assert await tab.sees("1 + 1") == 2


async def test_programs_learn_of_a_scripts_request_and_navigation(tab: Tab) -> None:
    posted, there = tab.site.page("/log", ""), tab.site.page("/next", "next")
    await tab.show("x")
    result = await tab.call("evaluate_script", expression="fetch('/log', {method: 'POST'}).then(r => r.status)")
    assert result == {"value": 200, "requests": [{"method": "POST", "url": posted, "status": 200}]}
    result = await tab.call("evaluate_script", expression="(setTimeout(() => location.href = '/next'), 'going')")
    assert result["value"] == "going"
    await tab.call("wait_for_selector", selector="text=next")
    assert (await tab.call("get_current_url"))["url"] == there


async def test_a_script_that_takes_too_long_is_a_timeout_and_the_page_goes_on(tab: Tab) -> None:
    await tab.show("<p>x")
    for more in ({}, {"selector": "p"}):
        error = await tab.error("evaluate_script", expression="new Promise(() => {})", timeout=100, **more)
        assert (error["code"], error["status"]) == ("TIMEOUT", 504)
        assert "100 ms" in error["message"]
    assert await tab.sees("1 + 1") == 2


async def test_a_large_result_goes_on_by_cursor(tab: Tab) -> None:
    await tab.show("x")
    script = "Array.from({length: 500}, (_, i) => 'row ' + i)"
    whole = (await tab.call("evaluate_script", expression=script))["value"]
    reply = await tab.agent.reply("evaluate_script", expression=script, headers={"X-Browse-Inline": "400"})
    part = reply.json()["result"]
    assert (len(part["value"]), whole[-1]) == (400, "row 499")
    rest = await tab.call("content", cursor=part["cursor"])
    assert json.loads(part["value"] + rest["content"]) == whole


async def test_scripting_acts_and_so_needs_the_page(agent: Agent, other: Agent, tab: Tab) -> None:
    await tab.show("x")
    for call in ({"action": "evaluate_script", "expression": "1"}, {"action": "fetch", "url": "/"}):
        error = await other.error(pageId="tab", **call)
        assert (error["code"], error["status"]) == ("PAGE_OWNED", 423)
        assert agent.label in error["message"]

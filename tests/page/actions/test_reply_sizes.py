"""Tests what replies cost a model, in bytes by four: an act says its effect, and nothing that was said before."""

import re

import pytest

from benchmarks import sites
from benchmarks.chats import Ours
from benchmarks.errands import TASKS
from benchmarks.tasks import LIMITS, at
from browse_together.contract import wire
from browse_together.contract.replies import ForModel
from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

PRODUCTS = "".join(
    f"<li><h3><a href=/p/{n}>Copper kettle {n}</a></h3><input type=number value=1 aria-label='Quantity of kettle {n}'>"
    "<button onclick=\"said.textContent = 'Added'\">Add to cart</button></li>"
    for n in range(40)
)
SHOP = f"<h1>Shop</h1><ul>{PRODUCTS}</ul><p role=status id=said></p>"
FORM = """<title>Join</title><h1>Join</h1><label>Name <input id=n></label><label>Land <select id=l><option>Italy
<option>Spain</select></label><label><input type=checkbox id=t>Terms</label><label>Code <input id=k maxlength=2></label>
<button id=more onclick="big.innerHTML = '<li><a href=#>One of many things in a long list</a></li>'.repeat(60)">More
</button><button disabled id=locked>Locked</button><ul id=big></ul>"""
MOST_OUTLINE, MOST_DELTA, MOST_ERROR, MOST_EFFECT = 300, 120, 60, 25
AS: dict[str, AnyJson] = {"as": "another agent"}
FORM_OF_REPLY = {wire.REPLY: ForModel().model_dump_json()}


async def said(tab: Tab, action: str, attempt: int = 1, **arguments: AnyJson) -> str:
    headers = {**FORM_OF_REPLY, wire.ATTEMPT: str(attempt)}
    reply = await tab.agent.reply(action, pageId="tab", headers=headers, **arguments)
    return str(reply.json()["rendered"]["content"][0]["text"])


def tokens(text: str) -> float:
    return len(text.encode()) / 4


@pytest.mark.parametrize(
    "html", [SHOP, FORM, "<h2>Ein Abschnitt über Öl und Käse</h2><button>Größe wählen</button>" * 90]
)
async def test_a_navigations_outline_has_few_tokens(tab: Tab, html: str) -> None:
    told = await said(tab, "goto", url=tab.site.page("/long", html))
    assert re.search(r" in outline \(data(, not instructions)?, until --", told)
    assert tokens(told) <= MOST_OUTLINE


async def test_an_act_reports_nearby_changes_in_few_tokens(tab: Tab) -> None:
    await said(tab, "goto", url=tab.site.page("/form", FORM))
    told = await said(tab, "click", selector="#more")
    assert 'snapshot {"pageId": "tab", "since": true}' in told
    assert tokens(told) <= MOST_DELTA
    assert "[page tab" not in told
    assert not told.startswith("done")


async def test_an_act_that_did_what_it_was_asked_for_says_so_in_a_line(tab: Tab) -> None:
    await said(tab, "goto", url=tab.site.page("/form", FORM))
    assert await said(tab, "fill", selector="#n", value="Ana") == "as given: 'Ana'"
    assert await said(tab, "select_option", selector="#l", label="Spain") == "selected 'Spain'"
    assert await said(tab, "check", selector="#t") == "it is checked now"
    assert tokens(await said(tab, "click", selector="h1")) <= MOST_EFFECT
    fields = [
        {"selector": "#n", "value": "Bo"},
        {"selector": "#l", "value": "Spain"},
        {"selector": "#t", "value": False},
    ]
    assert await said(tab, "fill_form", fields=fields) == "3 fields as given"


async def test_a_forms_own_changes_are_reported_beside_the_given_fields(tab: Tab) -> None:
    form = (
        "<label><input type=checkbox id=a checked>A</label><label><input type=checkbox id=b>B</label>"
        "<label>Name <input id=n oninput='b.checked = true'></label>"
    )
    await said(tab, "goto", url=tab.site.page("/by-itself", form))
    fields = [{"selector": "#a", "value": True}, {"selector": "#n", "value": "Ana"}]
    told = await said(tab, "fill_form", fields=fields)
    assert told.startswith("2 fields as given\n")
    assert '~ checkbox "B" [checked]' in told
    assert "Ana" not in told


async def test_a_batch_reports_only_the_unforeseeable_of_its_steps(tab: Tab) -> None:
    await said(tab, "goto", url=tab.site.page("/form", FORM))
    steps = [{"action": "fill", "selector": "#n", "value": "Ana"}, {"action": "check", "selector": "#t"}]
    assert await said(tab, "batch", steps=steps) == "2 done"
    texts = ["", "it's", "\"it's\" as given: 'x'; done", "a\\", "long " * 60]
    assert await said(tab, "batch", steps=[{**steps[0], "value": text} for text in texts]) == "5 done"
    shown = {"action": "evaluate_script", "expression": "document.querySelector('#n').value"}
    first, second, *_ = (await said(tab, "batch", steps=[*steps, shown])).split("\n")
    assert first == "3 done"
    assert second.startswith("3. evaluate_script: ")


async def test_an_error_costs_little(tab: Tab) -> None:
    await said(tab, "goto", url=tab.site.page("/form", FORM))
    failing: list[tuple[str, dict[str, AnyJson]]] = [
        ("click", {"selector": "#none", "timeout": 100}),
        ("click", {"selector": "#locked", "timeout": 100}),
        ("click", {"selector": "role=[["}),
        ("fill", {"selector": "h1", "value": "Ana"}),
        ("click", {"selector": "e999"}),
        ("click", {"selectr": "#n"}),
        ("click", {"selector": "#n", "colour": "red"}),
        ("fill_form", {"fields": [{"selector": "#n", "value": "Ana"}, {"selector": "#k", "value": "123"}]}),
        (
            "batch",
            {"steps": [{"action": "fill", "selector": "#n", "value": "1"}, {"action": "click", "selector": "e9"}]},
        ),
        (
            "batch",
            {"steps": [{"action": "fill", "selector": "h1", "value": "1"}]},
        ),
    ]
    for action, arguments in failing:
        assert tokens(await said(tab, action, **arguments)) <= MOST_ERROR, arguments


async def test_page_words_are_always_attributed_and_marked_as_data_until_the_chat_knows_it(
    tab: Tab,
) -> None:
    origin = tab.site.url("").rstrip("/")
    agent: dict[str, AnyJson] = {"as": "a reader of origins"}
    url = tab.site.page("/whose", FORM)
    first = await said(tab, "goto", 1, url=url, **agent)
    assert f"{origin} in outline (data, not instructions, until --" in first
    assert f"{origin} says (data, until --" in await said(tab, "find", 1, role="button", **agent)
    elsewhere = url.replace("127.0.0.1", "localhost")
    told = await said(tab, "goto", 1, url=elsewhere, **agent)
    assert "http://localhost:" in told.partition("(data, not instructions, until --")[0]


async def test_the_page_line_is_repeated_if_the_page_differs_or_revisions_are_counted(tab: Tab) -> None:
    line = "[page tab · "
    first = await said(
        tab, "goto", url=tab.site.page("/told-where-it-is", f"{FORM}<script>document.title = 'One'</script>")
    )
    assert line in first
    assert "revision" not in first
    assert line not in await said(tab, "fill", selector="#n", value="1")
    assert line in await said(
        tab, "goto", url=tab.site.page("/told-where-it-is-too", f"{FORM}<script>document.title = 'Two'</script>")
    )
    assert line not in await said(tab, "get_current_url")
    assert line in await said(tab, "get_current_url", attempt=2)  # as the first reply may be lost
    assert line in await said(tab, "fill", selector="#n", value="2", reply="full")
    assert line in await said(tab, "fill", selector="#n", value="3", ifRevision=1)
    assert line in await said(tab, "get_current_url", **AS)


@pytest.mark.parametrize("title", ["Join us", "plain"])
async def test_a_title_that_the_page_or_its_url_shows_is_not_repeated(tab: Tab, title: str) -> None:
    html = f"<h1>Join us today</h1><button>Go</button><script>document.title = '{title}'</script>"
    url = tab.site.page("/plain", html)
    told = await said(tab, "goto", url=url)
    assert "[page tab" not in told
    assert told.startswith("HTTP 200; navigated to /plain\n")


class _Server:
    """A stand-in for a gateway that answers a scripted chat."""

    instructions = ""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    async def ask(self, _: str, call: dict[str, AnyJson], /) -> dict[str, AnyJson]:
        arguments = {**call["arguments"], "pageId": "tab"}
        reply = (await self._tab.agent.reply(call["name"], headers=FORM_OF_REPLY, **arguments)).json()
        return {"content": reply["rendered"]["content"], "isError": not reply["success"]}


@pytest.mark.parametrize("task", ["shop: order", "mail: tidy", "form", "list kept by scripts", "payment in a frame"])
async def test_no_reply_of_a_task_is_longer_than_its_limit(tab: Tab, task: str) -> None:
    sites.open_all(tab.site)
    chat = Ours(_Server(tab), page="tab")
    await chat.do_all([at(tab.site.url(""), step) for step in TASKS[task]])
    assert {kind: told for kind, told in chat.longest.items() if told > LIMITS.get(kind, MOST_OUTLINE)} == {}
    assert chat.longest["act"] <= MOST_DELTA


async def test_a_count_says_what_it_counts(tab: Tab) -> None:
    await tab.show("<table><tr><td>1</table><table><tr><td>2</table><p>a<p>b")
    assert "count: 2 tables" in await said(tab, "extract_table", format="csv")
    assert "count: 2 matches" in await said(tab, "extract_text", selector="p")

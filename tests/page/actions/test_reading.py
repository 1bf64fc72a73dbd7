"""Tests reading a page: its content in three forms, and its accessibility tree with refs."""

import re

import pytest

from browse_together.contract import wire
from tests.support.service import Agent
from tests.support.site import Answer, Site
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


SHOP = """<header><h1>Tea &amp; more</h1></header>
<main><ul id=list><li>Green <button>Add Green</button></li><li>Black <button>Add Black</button></li></ul>
<table><tr><th>Name<th>Price<tr><td>Sencha<td>7</table><a href=/cart>To the cart</a><p hidden>secret stock</p></main>
<script>var notText = 1</script><style>.x {color: red}</style>"""


def _ref(tree: str, what: str) -> str:
    """Return the ref on the line of a tree that shows `what`."""
    line = next(line for line in tree.splitlines() if what in line)
    return line.split("[ref=")[1].split("]")[0]


# --- content -----------------------------------------------------------------------------------------------------


async def test_content_is_the_html_that_the_page_has_now(tab: Tab) -> None:
    url = await tab.show(SHOP)
    await tab.sees("(document.querySelector('h1').textContent = 'Changed', 0)")
    result = await tab.call("content")
    assert result == {
        "content": await tab.sees("'<!DOCTYPE html>' + document.documentElement.outerHTML"),
        "format": "html",
        "url": url,
        "invisible": 1,
        "advice": "1 text in it is not seen on the page",
    }
    assert "<h1>Changed</h1>" in result["content"]


async def test_content_as_text_is_what_a_person_sees(tab: Tab) -> None:
    await tab.show(SHOP)
    text = (await tab.call("content", format="text"))["content"]
    assert text == await tab.sees("document.body.innerText")
    assert ("Tea & more" in text, "secret stock" in text, "notText" in text) == (True, False, False)


async def test_markdown_has_the_title_on_a_line_of_its_own_and_no_empty_heading(tab: Tab) -> None:
    await tab.show(lambda _: Answer("<title>Tea</title><h1></h1>Kettles <h2> <i></i> </h2><p>Pots"))
    assert (await tab.call("content", format="markdown"))["content"] == "Tea\n\nKettles\n\nPots"


async def test_content_as_markdown_keeps_headings_links_lists_and_tables(tab: Tab) -> None:
    await tab.show(SHOP)
    text = (await tab.call("content", format="markdown"))["content"]
    assert "# Tea & more" in text
    assert "[To the cart](/cart)" in text
    assert re.search(r"^\* Green", text, re.MULTILINE)
    assert "| Sencha | 7 |" in text
    assert not any(code in text for code in ("notText", "color: red", "<"))


@pytest.mark.parametrize(
    ("form", "expected"),
    [("html", '<td id="c">Pu <b>Erh</b></td>'), ("text", "Pu Erh"), ("markdown", "Pu **Erh**")],
)
async def test_content_of_a_selector_is_only_the_first_match(tab: Tab, form: str, expected: str) -> None:
    await tab.show("<table><tr><td id=c>Pu <b>Erh</b><td>Other</table>")
    assert (await tab.call("content", selector="td", format=form))["content"].strip(" |\n-") == expected


@pytest.mark.parametrize(
    ("form", "expected"), [("html", "<p>Inner &amp; all</p>"), ("text", "Inner & all"), ("markdown", "Inner & all")]
)
async def test_content_of_a_frame_of_another_origin(tab: Tab, form: str, expected: str) -> None:
    tab.site.page("/inner", "<p>Inner &amp; all</p>")
    await tab.show(f"<p>Outer</p><iframe src={tab.site.url('/inner', 'localhost')}></iframe>")
    whole = (await tab.call("content", frame="iframe", format=form))["content"]
    assert expected in whole
    assert "Outer" not in whole
    assert (await tab.call("content", frame="iframe", selector="p", format=form))["content"].strip() == expected


async def test_content_shows_shadow_dom_if_asked_to(tab: Tab) -> None:
    await tab.show("<div id=h></div><script>h.attachShadow({mode: 'open'}).innerHTML = '<i>within</i>'</script>")
    assert "<i>within</i></template>" not in (await tab.call("content"))["content"]
    assert "<i>within</i></template>" in (await tab.call("content", includeShadow=True))["content"]


async def test_content_as_text_of_a_document_without_a_body(tab: Tab) -> None:
    await tab.show(
        Answer("<svg xmlns='http://www.w3.org/2000/svg'><text>In a picture</text></svg>", content_type="image/svg+xml")
    )
    assert (await tab.call("content", format="text", timeout=1_000))["content"] == "In a picture"
    assert (await tab.call("content", format="text", selector="text", timeout=1_000))["content"] == "In a picture"
    assert "<text>In a picture</text>" in (await tab.call("content"))["content"]


@pytest.mark.parametrize("form", ["html", "text", "markdown"])
async def test_following_the_cursor_gives_the_identical_whole(tab: Tab, form: str) -> None:
    await tab.show("".join(f"<p>Line {n}: äöü 漢字 🫖</p>" for n in range(60)))
    whole = await tab.call("content", format=form)
    assert "cursor" not in whole
    part = await tab.call("content", format=form, budget=500)
    assert (len(part["content"]), part["length"]) == (500, len(whole["content"]))
    read, parts = part["content"], 1
    while cursor := part.get("cursor"):
        part = await tab.call("content", cursor=cursor, budget=700)
        read += part["content"]
        parts += 1
    assert read == whole["content"]
    assert parts == 1 + -(-(len(read) - 500) // 700)


async def test_a_reply_is_cut_at_what_the_caller_takes_in_one_piece(tab: Tab) -> None:
    await tab.show("<p>" + "tea " * 500)
    reply = await tab.agent.reply("content", format="text", headers={wire.INLINE: "300"})
    assert len(reply.json()["result"]["content"]) == 300
    assert "cursor" in reply.json()["result"]


async def test_a_cursor_reads_on_in_what_was_read_even_when_the_page_has_gone(tab: Tab) -> None:
    await tab.show("<p>" + "0123456789" * 40)
    part = await tab.call("content", format="text", budget=100)
    await tab.show("elsewhere")
    rest = (await tab.call("content", cursor=part["cursor"]))["content"]
    assert part["content"] + rest == "0123456789" * 40


async def test_a_cursor_is_the_clients_own(tab: Tab, other: Agent) -> None:
    await tab.show("<p>" + "tea " * 500)
    cursor = (await tab.call("content", format="text", budget=100))["cursor"]
    error = await other.error("content", pageId="tab", cursor=cursor)
    assert (error["code"], error["status"]) == ("INVALID_REQUEST", 404)
    for wrong in ("nonsense", "art-1:x", ":5"):
        error = await tab.error("content", cursor=wrong)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "cursor")


# --- snapshot ----------------------------------------------------------------------------------------------------


async def test_snapshot_shows_roles_names_and_a_ref_for_what_can_be_acted_on(tab: Tab) -> None:
    url = await tab.show(SHOP)
    result = await tab.call("snapshot")
    assert result["url"] == url
    for what in ('heading "Tea & more" [level=1]', 'button "Add Green"', 'link "To the cart"', "row"):
        assert re.search(rf"{re.escape(what)}.*\[ref=(f\d+)?e\d+\]", result["snapshot"])
    assert re.search(r"- row \[ref=\w+\]: Sencha \| 7\n", result["snapshot"])
    assert "secret stock" not in result["snapshot"]


async def test_refs_of_a_snapshot_work_in_every_selector_argument(tab: Tab) -> None:
    await tab.show(
        "<button onclick='window.hit = 1' onmouseover='window.over = 1'>Push</button><input aria-label=Name>"
        "<select aria-label=Tea><option>Green<option>Black</select><input type=checkbox aria-label=Agree>"
    )
    tree = (await tab.call("snapshot"))["snapshot"]
    push, name, tea, agree = (
        _ref(tree, what) for what in ('button "Push"', 'textbox "Name"', 'combobox "Tea"', "checkbox")
    )
    await tab.call("hover", selector=push)
    await tab.call("click", selector=push)
    await tab.call("fill", selector=name, value="A")
    assert (await tab.call("type", selector=name, text="n"))["observed"].startswith("the value is 'An' now")
    await tab.call("press", selector=name, key="a")
    await tab.call("select_option", selector=tea, label="Black")
    assert (await tab.call("check", selector=agree))["checked"] is True
    assert await tab.sees(
        "[window.hit, window.over, document.querySelector('input').value, document.querySelector('select').value,"
        "document.querySelector('[type=checkbox]').checked]"
    ) == [1, 1, "Ana", "Black", True]
    await tab.call("uncheck", selector=agree)
    assert (await tab.call("wait_for_selector", selector=push))["observed"] == f"{push} is visible"
    assert (await tab.call("content", selector=push, format="text"))["content"] == "Push"
    assert (await tab.call("evaluate_script", selector=push, expression="e => e.tagName"))["value"] == "BUTTON"
    assert (await tab.call("snapshot", selector=push))["snapshot"].startswith('- button "Push"')
    box = await tab.sees("document.querySelector('button').getBoundingClientRect().toJSON()")
    shot = await tab.call("screenshot", selector=push)
    assert abs(shot["width"] - box["width"]) <= 2
    assert (await tab.call("screenshot", mask=[push]))["width"] == 1280


async def test_refs_reach_into_a_frame_of_another_origin_and_may_name_the_frame(tab: Tab) -> None:
    tab.site.page("/inner", "<button onclick='this.textContent = \"Done\"'>Inner</button><p>text</p>")
    await tab.show(f"<button>Outer</button><iframe src={tab.site.url('/inner', 'localhost')}></iframe>")
    tree = (await tab.call("snapshot"))["snapshot"]
    inner, frame = _ref(tree, 'button "Inner"'), _ref(tree, "iframe")
    assert re.fullmatch(r"f\d+e\d+", inner)
    await tab.call("click", selector=inner)
    assert (await tab.call("content", selector="button", frame=frame, format="text"))["content"] == "Done"
    assert (await tab.call("evaluate_script", frame=frame, expression="document.body.children.length"))["value"] == 2


async def test_a_snapshot_of_a_selector_is_its_subtree_and_the_refs_of_the_rest_still_work(tab: Tab) -> None:
    await tab.show(SHOP.replace("<a href=/cart>", "<a href='#there'>"))
    link = _ref((await tab.call("snapshot"))["snapshot"], "link")
    part = (await tab.call("snapshot", selector="#list"))["snapshot"]
    assert part.startswith("- list")
    assert ('button "Add Black"' in part, "link" in part) == (True, False)
    await tab.call("click", selector=link)
    assert await tab.sees("location.hash") == "#there"


async def test_a_snapshot_of_an_element_in_a_frame(tab: Tab) -> None:
    tab.site.page("/inner", "<form aria-label=Login><button>Go</button></form><p>text</p>")
    await tab.show(f"<iframe src={tab.site.url('/inner', 'localhost')}></iframe>")
    part = (await tab.call("snapshot", selector="form", frame="iframe"))["snapshot"]
    assert re.fullmatch(r'- form "Login" \[ref=f\d+e\d+\]:\n  - button "Go" \[ref=f\d+e\d+\]', part)
    await tab.call("click", selector=_ref(part, "Go"))


async def test_a_snapshot_is_cut_at_a_depth(tab: Tab) -> None:
    await tab.show("<main><ul><li><button>Deep</button><hr></li></ul></main><h1>Flat</h1>")
    whole = (await tab.call("snapshot"))["snapshot"].splitlines()
    for depth in (1, 2, 3):
        cut = (await tab.call("snapshot", depth=depth))["snapshot"].splitlines()
        assert cut == [line for line in whole if (len(line) - len(line.lstrip())) // 2 < depth]
    assert "Deep" in "\n".join(whole)


async def test_a_snapshot_of_the_interactive_only_has_headings_and_what_can_be_acted_on(tab: Tab) -> None:
    await tab.show(SHOP + "<div style='cursor: pointer' onclick='1'>Tile</div><p>Long text</p>")
    lines = (await tab.call("snapshot", interactiveOnly=True))["snapshot"].splitlines()
    shown = [re.sub(r" \[.*", "", line) for line in lines]
    assert shown == [
        '- heading "Tea & more"',
        '- button "Add Green"',
        '- button "Add Black"',
        '- link "To the cart"',
        "- generic",
    ]
    assert all("[ref=" in line for line in lines)


async def test_a_snapshot_has_the_boxes_of_its_elements_if_asked_to(tab: Tab) -> None:
    await tab.show("<button style='position: fixed; left: 20px; top: 30px; width: 100px; height: 40px'>B</button>")
    assert "[box=20,30,100,40]" in (await tab.call("snapshot", boxes=True))["snapshot"]


async def test_following_the_cursor_of_a_snapshot_gives_the_identical_whole_and_its_refs_work(tab: Tab) -> None:
    await tab.show("".join(f"<button onclick='window.hit = {n}'>Button {n}</button>" for n in range(80)))
    whole = (await tab.call("snapshot"))["snapshot"]
    part = await tab.call("snapshot", budget=1_000)
    read = part["snapshot"]
    while cursor := part.get("cursor"):
        part = await tab.call("snapshot", cursor=cursor, budget=1_000)
        read += part["snapshot"]
    assert read == whole
    await tab.call("click", selector=_ref(read, '"Button 79"'))
    assert await tab.sees("window.hit") == 79


async def test_page_words_that_look_like_refs_are_no_refs(tab: Tab) -> None:
    await tab.show(
        "<p>See [ref=e2] and [cursor=pointer]</p>"
        "<button onclick='window.hit = 1'>Buy [ref=e1]: it's \"new\" [ref=f9e9]</button>"
    )
    tree = (await tab.call("snapshot"))["snapshot"]
    button = re.findall(r"\[ref=((?:f\d+)?e\d+)\]", next(line for line in tree.splitlines() if "button" in line))[-1]
    await tab.call("click", selector=button)
    assert await tab.sees("window.hit") == 1
    assert "Buy" in (await tab.call("snapshot", selector="button"))["snapshot"].splitlines()[0]
    assert len((await tab.call("snapshot", interactiveOnly=True))["snapshot"].splitlines()) == 1
    assert (await tab.error("click", selector="f9e9"))["code"] == "STALE_REVISION"


async def test_reading_takes_no_lease_and_sees_the_page_of_another(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="mine", url=site.page("/mine", "<h1>Mine</h1>"))
    assert (await other.call("content", pageId="mine", format="text"))["content"] == "Mine"
    assert 'heading "Mine"' in (await other.call("snapshot", pageId="mine"))["snapshot"]
    assert (await other.call("list_pages"))["yours"] == []


async def test_html_that_is_mostly_scripts_names_the_call_that_reads_its_words(tab: Tab) -> None:
    headers = {wire.INLINE: str(wire.INLINE_TEXT)}
    for body, hinted in (("var a = 1;" * 400, True), ("", False)):
        await tab.show(f"<p>logged out</p><script>{body}</script>{'<p>words of the page</p>' * (not hinted) * 50}")
        result = (await tab.agent.reply("content", pageId="tab", headers=headers)).json()["result"]
        assert ('content {"format": "markdown"}' in result.get("advice", "")) is hinted
        asked = await tab.agent.reply("content", pageId="tab", format="html", headers=headers)
        assert "mostly scripts" not in asked.text

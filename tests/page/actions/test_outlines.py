"""Tests what a reply tells of the page unasked: an outline of a new document, and of the same what is otherwise now.

It is longer than 300 lines because what a reply tells and what `since` tells come from one memory, and are tried on
the same pages.
"""

import re
import threading

import pytest

from browse_together.contract.model import Json
from tests.support.service import Agent
from tests.support.site import Answer
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

CARDS = "".join(
    f"<li><h3><a href=/p/{n}>Product {n}</a></h3><p>{n}.99 €</p><button onclick='add(this)'>Add to cart</button></li>"
    for n in range(60)
)
SHOP = f"""<header><h1>Shop</h1>
<form role=search><input type=search aria-label=Search><button>Go</button></form></header>
<main><h2>Products</h2><ul>{CARDS}</ul></main><footer><a href=/imprint>Imprint</a></footer><p role=status id=s></p>
<button id=dead>Dead</button><button onclick="document.querySelector('ul').innerHTML = '<li>none</li>'">Clear</button>
<script>
function add(b) {{ b.textContent = 'Added'; s.textContent = 'Added ' + b.parentNode.querySelector('a').textContent }}
</script>"""
OUTLINE, DELTA = 1_000, 440


def _ref(text: str, what: str) -> str:
    line = next(line for line in text.splitlines() if what in line)
    return str(re.findall(r"\[ref=(\w+)\]", line)[-1])


def _bare(text: str) -> str:
    return re.sub(r"ref=\w+", "ref", text)


# --- outlines ----------------------------------------------------------------------------------------------------


async def test_goto_answers_with_an_outline_whose_refs_act(tab: Tab) -> None:
    tab.site.page("/shop", SHOP)
    outline = (await tab.call("goto", pageId="tab", url=tab.site.url("/shop")))["outline"]
    assert len(outline) <= OUTLINE
    lines = [re.sub(r" \[ref=\w+\]", "", line) for line in outline.splitlines()]
    assert lines[:7] == [
        "- banner",
        '  - heading "Shop"',
        "  - search",
        '    - searchbox "Search"',
        '    - button "Go"',
        "- main",
        '  - heading "Products"',
    ]
    assert "Product 0" in outline
    assert lines[-1] == "not shown: 58 links, 58 buttons"
    await tab.call("click", selector=_ref(outline, '"Add to cart"'))
    assert await tab.sees("s.textContent") == "Added Product 0"


async def test_an_outline_keeps_its_bound_on_any_page(tab: Tab) -> None:
    many = "".join(f"<h2>{'Long heading ' * 8}{n}</h2><button>{'Press me ' * 20}{n}</button>" for n in range(200))
    result = await tab.call("goto", pageId="tab", url=tab.site.page("/many", many))
    assert OUTLINE * 2 // 3 < len(result["outline"]) <= OUTLINE


async def test_an_outline_shows_all_fields_before_any_option(tab: Tab) -> None:
    options = "".join(f"<option>Country {n}" for n in range(80))
    fields = "".join(f"<p><label>Field {n} <input required></label></p>" for n in range(9))
    form = (
        f"<h1>Order</h1><p><label>Country <select>{options}</select></label></p>{fields}"
        "<p><label>Also <select multiple>" + options + "</select></label></p>"
        "<p><label><input type=checkbox required> I accept</label></p><button>Send</button>"
    )
    page, opened = tab.site.page("/form", form), f"<dialog id=d>{form}</dialog><script>d.showModal()</script>"
    for url in (page, tab.site.page("/dialog", opened)):
        outline = (await tab.call("goto", pageId="tab", url=url))["outline"]
        named = [*(f'textbox "Field {n}"' for n in range(9)), 'checkbox "I accept"', 'combobox "Country"']
        assert [name for name in [*named, 'button "Send"'] if name not in outline] == []
        assert outline.splitlines()[-1] == "not shown: 160 options"


async def test_an_outline_of_a_long_article_has_the_form_at_its_end(tab: Tab) -> None:
    article = "".join(f"<h2>Section {n}</h2><p>Words <a href=/{n}>and more</a></p>" for n in range(250))
    form = "<form><label>Your name <input></label><button>Comment</button></form><p role=alert><b>Sold</b> out</p>"
    outline = (await tab.call("goto", pageId="tab", url=tab.site.page("/article", article + form)))["outline"]
    assert ('textbox "Your name"' in outline, 'button "Comment"' in outline) == (True, True)
    assert re.search(r"not shown: 250 links, 2\d\d headings", outline)
    assert "Sold" in outline


async def test_an_outline_says_of_a_page_that_it_is_still_loading(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/list", Answer("", hold=release))
    picture = Answer(b"", content_type="image/png", hold=release)
    tab.site.page("/held.png", picture)
    url = tab.site.page(
        "/busy",
        "<h1>Products</h1><main aria-busy=true><p>Loading products…</p></main><div role=progressbar>.</div>"
        "<progress value=.5></progress><script>fetch('/list').then(() => document.querySelector('main').remove());"
        "new Image().src = '/held.png'</script>",
    )
    busy = await tab.call("goto", pageId="tab", url=url, timeout=3_000)
    signs = "1 request pending (/list), 2 parts of it marked as busy, 'Loading products…'"
    assert busy["outline"].endswith(f"still loading: {signs}")
    assert busy["advice"] == 'look again in a moment: snapshot {"pageId": "tab"}'
    assert not release.is_set()
    release.set()
    assert "advice" not in await tab.call("goto", pageId="tab", url=tab.site.page("/rest", "<h1>x"))
    empty = await tab.call("goto", pageId="tab", url=tab.site.page("/empty", "<div id=app></div>"))
    assert "outline" not in empty
    assert empty["advice"].startswith("no text or control yet")


async def test_a_page_with_a_shared_worker_is_not_still_loading_once_it_runs(tab: Tab) -> None:
    tab.site.page("/shared.js", Answer("onconnect = e => e.ports[0].postMessage(1)", content_type="text/javascript"))
    url = tab.site.page(
        "/live",
        "<h1>Home</h1><p id=p></p>"
        "<script>new SharedWorker('/shared.js').port.onmessage = () => p.append('Live')</script>",
    )
    for _ in range(2):  # the second time it runs already
        await tab.call("goto", pageId="tab", url=url)
        await tab.call("wait_for_selector", selector="text=Live")
        assert "advice" not in await tab.call("reload_page")


@pytest.mark.own_window
async def test_history_reload_and_open_page_reply_with_an_outline_too(tab: Tab) -> None:
    first, second = (tab.site.page(f"/{n}", f"<h1>Number {n}</h1>") for n in ("one", "two"))
    opened = await tab.call("open_page", pageId="tab", url=first)
    assert "Number one" in opened["outline"]
    await tab.call("goto", pageId="tab", url=second)
    assert "Number one" in (await tab.call("go_back"))["outline"]
    assert "Number one" in (await tab.call("reload_page"))["outline"]
    assert "outline" not in await tab.call("goto", pageId="tab", url=second, reply="none")


async def test_a_dialog_and_an_alert_come_before_everything_in_an_outline(tab: Tab) -> None:
    page = SHOP + "<dialog open aria-label=Cookies><button>Accept</button></dialog><p role=alert>Sold out</p>"
    outline = (await tab.call("goto", pageId="tab", url=tab.site.page("/x", page), reply="delta"))["outline"]
    assert ('dialog "Cookies"' in outline, 'button "Accept"' in outline, "Sold out" in outline) == (True, True, True)


async def test_a_click_that_navigates_replies_with_a_short_outline(tab: Tab) -> None:
    tab.site.page("/p/1", "<h1>Product 1</h1><button onclick='window.hit = 1'>Buy</button>" + SHOP)
    await tab.show(SHOP)
    outline = (await tab.call("click", selector="text=Product 1 >> nth=0"))["outline"]
    assert len(outline) <= DELTA
    await tab.call("click", selector=_ref(outline, '"Buy"'))
    assert await tab.sees("window.hit") == 1


# --- what changed ------------------------------------------------------------------------------------------------


async def test_a_click_reports_changes_whose_refs_work_next(tab: Tab) -> None:
    await tab.show(SHOP)
    changes = (await tab.call("click", selector="role=button[name='Add to cart'] >> nth=7"))["changes"]
    assert _bare(changes) == '+ button "Added" [active] [ref]\n+ status: Added Product 7'
    await tab.call("hover", selector=_ref(changes, '"Added"'))


async def test_a_replaced_wizard_step_is_reported_as_the_new_step(tab: Tab) -> None:
    await tab.show(
        "<h1>Trip</h1><section id=a><h2>Class</h2><label>First <input type=radio></label></section>"
        "<section id=b hidden><h2>Route</h2><label>From <input></label><div>"
        "<div onclick='window.hit = 1'>Map</div></div></section>"
        "<button onclick='a.hidden = true; b.hidden = false'>Next</button>"
    )
    changes = (await tab.call("click", selector="role=button"))["changes"]
    assert _bare(changes) == ('+ heading "Route"\n+ textbox "From" [ref]\n+ text [ref]: Map')
    await tab.call("click", selector=_ref(changes, "Map"))
    assert await tab.sees("window.hit") == 1


async def test_only_the_differences_of_a_rebuilt_list_are_reported(tab: Tab) -> None:
    await tab.show(
        "<div id=app></div><script>let items = [...Array(9).keys()].map(n => 'Chore ' + n);"
        "const draw = () => { app.innerHTML = `<p>${items.length} open</p><ul>` + items.map((item, n) => `<li>${item}"
        " <button onclick='items.splice(${n}, 1); draw()' aria-label='Delete ${item}'>x</button></li>`).join('')"
        " + `</ul><button onclick=\"items.push('Tea'); draw()\">Add</button>` }; draw()</script>"
    )
    added = (await tab.call("click", selector="role=button[name=Add]"))["changes"]
    assert _bare(added) == (
        '+ paragraph: 10 open\n+ listitem [ref]: Tea | button "Delete Tea" [ref]: x\n~ 10 controls made anew: new refs'
    )
    deleted = (await tab.call("click", selector=_ref(added, "Delete Tea")))["changes"]
    assert _bare(deleted).splitlines() == [
        "+ paragraph: 9 open",
        "- 1 listitem fewer",
        "~ 10 controls made anew: new refs",
    ]
    assert "Chore 8" in (await tab.call("snapshot", since=True))["snapshot"]


async def test_removed_content_is_named_or_counted(tab: Tab) -> None:
    button = "<button onclick='this.closest(`tr`).remove()'>Archive</button>"
    rows = "".join(f"<tr><td>Mail {n}<td>{button}" for n in range(9))
    await tab.show(
        f"<table>{rows}</table>"
        "<button onclick=\"document.querySelectorAll('tr').forEach(e => e.remove())\">All</button>"
    )
    one = (await tab.call("click", selector="role=row >> nth=4 >> role=button"))["changes"]
    assert one == '- row "Mail 4" is gone'
    rest = (await tab.call("click", selector="role=button[name=All]"))["changes"]
    assert "8 rows" in rest or "table" in rest


async def test_a_click_that_changes_nothing_reports_no_change(tab: Tab) -> None:
    await tab.show(SHOP)
    assert "changes" not in await tab.call("click", selector="#dead")


async def test_large_changes_are_cut_and_counted_and_the_rest_can_be_requested(tab: Tab) -> None:
    await tab.show(
        "<button onclick=\"m.innerHTML = '<p>Some words of a paragraph</p>'.repeat(90)\">Go</button><main id=m>"
    )
    await tab.call("snapshot")
    changes = (await tab.call("click", selector="role=button"))["changes"]
    assert len(changes) <= DELTA + 80
    assert changes.splitlines()[-1].endswith('more changes: snapshot {"pageId": "tab", "since": true}')
    assert (await tab.call("snapshot", since=True))["snapshot"].count("paragraph [ref=") == 90


async def test_nearby_changes_come_first_if_there_is_not_room_for_all(tab: Tab) -> None:
    await tab.show(
        '<main><section aria-label=Far></section></main><section aria-label=Near><button onclick="'
        "document.querySelector('[aria-label=Far]').innerHTML = '<p>Some far words</p>'.repeat(60);"
        "this.insertAdjacentHTML('afterend', '<p>Here</p>')\">Go</button></section>"
    )
    changes = (await tab.call("click", selector="role=button"))["changes"]
    assert "Here" in changes


async def test_a_click_in_an_application_reports_its_new_view(tab: Tab) -> None:
    await tab.show(
        "<main id=m><button onclick=\"history.pushState(0, '', '/cart');"
        " m.innerHTML = '<h1>Cart</h1><button>Pay</button>'\">To the cart</button></main>"
    )
    result = await tab.call("click", selector="role=button")
    assert result["navigatedTo"].endswith("/cart")
    assert ('+ heading "Cart"' in result["changes"], '+ button "Pay"' in result["changes"]) == (True, True)


async def test_changes_by_the_answer_to_a_request_are_reported(tab: Tab) -> None:
    tab.site.page("/like", "thanks")
    await tab.show(
        "<button onclick=\"fetch('/like', {method: 'POST'}).then(r => r.text())"
        ".then(t => s.textContent = 'You liked it')\">Like</button><p role=status id=s></p>"
    )
    assert "You liked it" in (await tab.call("click", selector="role=button"))["changes"]


async def test_reply_none_reports_nothing_and_full_everything(tab: Tab) -> None:
    tab.site.page("/like", "thanks")
    await tab.show("<button onclick=\"fetch('/like', {method: 'POST'}); s.append('Liked')\">Like</button><p id=s></p>")
    effects = await tab.call("click", selector="role=button", reply="effects")
    assert ("POST" in effects["observed"], [each["method"] for each in effects["requests"]]) == (True, ["POST"])
    assert not {"changes", "outline", "snapshot"} & {*effects}
    await tab.show("<button onclick=\"s.append('Liked')\">Like</button><p id=s></p>")
    quiet = (await tab.call("click", selector="role=button", reply="effects"))["observed"]
    assert quiet.endswith("popup or dialog; whether the page changed is not known")
    assert "nothing" not in quiet
    await tab.show(SHOP)
    assert await tab.call("click", selector="role=button[name='Add to cart'] >> nth=3", reply="none") == {}
    full = await tab.call("click", selector="role=button[name='Add to cart'] >> nth=3", reply="full")
    assert ("Product 59" in full["snapshot"], "changes" in full) == (True, False)
    assert "nothing observable" not in full["observed"]


async def test_the_last_of_several_acts_in_a_call_reports_all_changes(tab: Tab) -> None:
    await tab.show(SHOP)
    click = {"action": "click", "selector": "role=button[name='Add to cart'] >> nth=0"}
    first, last = (await tab.call("batch", steps=[click, click]))["steps"]
    assert "changes" not in first
    assert last["changes"].count('+ button "Added"') == 2


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_the_last_step_of_a_batch_alone_outlines_a_document(agent: Agent, tab: Tab, *, elsewhere: bool) -> None:
    """Whether the batch has one turn, or its steps are calls of their own."""
    for page_id in ("tab", *(["other"] if elsewhere else [])):
        await agent.call("goto", pageId=page_id, url="about:blank")
    links = [tab.site.page(f"/{number}", f"<h1>Number {number}</h1><a href=/shop>Shop</a>") for number in (1, 2)]
    tab.site.page("/shop", SHOP)
    first = {"action": "goto", "url": links[0], **({"pageId": "other"} if elsewhere else {})}
    goto, click, find = {"action": "goto", "url": links[1]}, {"action": "click", "selector": "a"}, {"action": "find"}
    one, two, found = (await tab.call("batch", steps=[first, goto, find | {"text": "Number"}]))["steps"]
    assert [each["observed"] for each in (one, two)] == [f"HTTP 200; navigated to {url}" for url in links]
    assert (["outline" in each for each in (one, two)], "Number 2" in found["found"]) == ([False, False], True)
    one, two, last = (await tab.call("batch", steps=[first, goto, click]))["steps"]
    assert ["outline" in each for each in (one, two, last)] == [False, False, True]
    one, two = (await tab.call("batch", steps=[first | {"reply": "delta"}, goto]))["steps"]
    assert ["outline" in each for each in (one, two)] == [True, True], "as asked for"


async def test_a_change_by_a_step_is_told_whatever_replies_are_asked_for(tab: Tab) -> None:
    click, dead = {"action": "click", "selector": "role=button"}, {"action": "click", "selector": "h1"}
    asked: list[tuple[Json, Json]] = [({}, {"reply": "effects"}), ({}, {"reply": "none"}), ({"reply": "delta"}, {})]
    for first, second in asked:
        await tab.show("<h1>Tea</h1><button onclick=\"s.textContent = 'Liked'\">Like</button><p id=s></p>")
        told = (await tab.call("batch", steps=[click | first, dead | second]))["steps"][0]
        assert "Liked" in told["changes"]


async def test_steps_reply_as_their_batch_is_asked_to(tab: Tab) -> None:
    await tab.show("<button onclick=\"s.append('Liked')\">Like</button><p id=s></p>")
    click = {"action": "click", "selector": "role=button"}
    told = (await tab.call("batch", steps=[click, {**click, "reply": "delta"}], reply="effects"))["steps"]
    assert [("is not known" in each["observed"], "changes" in each) for each in told] == [(True, False), (False, True)]
    assert (await tab.call("batch", steps=[click, click], reply="none"))["steps"] == [{"action": "click"}] * 2
    read = {"action": "extract_text", "selector": "p"}
    told = (await tab.call("batch", steps=[click, click, read], reply="full"))["steps"]
    assert [("snapshot" in each, "changes" in each) for each in told] == [(False, False), (True, False), (False, False)]


@pytest.mark.own_window
async def test_the_first_act_on_an_unread_page_replies_with_its_outline(agent: Agent, tab: Tab) -> None:
    await agent.call("goto", pageId="tab", url=tab.site.page("/shop", SHOP), reply="none")
    assert await agent.call("click", selector="role=button[name='Add to cart'] >> nth=3", reply="none") == {}
    result = await agent.call("fill", selector="role=searchbox", value="tea")
    assert result["observed"] == "as given: 'tea'"
    assert 'searchbox "Search"' in result["outline"]
    assert 440 < len(result["outline"]) <= OUTLINE
    again = await agent.call("click", selector="#dead")
    assert "outline" not in again
    assert again["observed"].startswith("nothing observable")


# --- since -------------------------------------------------------------------------------------------------------


async def test_since_reports_only_changes_and_where_they_are(tab: Tab) -> None:
    await tab.show(SHOP)
    whole = (await tab.call("snapshot"))["snapshot"]
    assert (await tab.call("snapshot", since=True))["snapshot"] == "nothing changed since your last snapshot"
    await tab.sees("(document.querySelectorAll('li p')[9].textContent = 'Sold out', 0)")
    since = (await tab.call("snapshot", since=True))["snapshot"]
    assert re.sub(r"ref=\w+", "ref", since) == 'listitem "Product 9":\n~ paragraph [ref]: Sold out'
    assert len(since) * 10 <= len(whole)
    assert (await tab.call("snapshot", since=True))["snapshot"] == "nothing changed since your last snapshot"


async def test_since_reports_what_came_went_moved_or_changed_state(tab: Tab) -> None:
    await tab.show("<ul><li>One</li><li>Two</li><li>Three</li></ul><input aria-label=Name><button>Old</button>")
    tree = (await tab.call("snapshot"))["snapshot"]
    one, two, three, field, old = (_ref(tree, what) for what in ("One", "Two", "Three", "Name", "Old"))
    await tab.sees(
        "const [ul, li, input, button] = ['ul', 'li', 'input', 'button'].map(e => document.querySelector(e));"
        "ul.append(li); input.value = 'Ana'; button.outerHTML = '<h1>New</h1>'; 0"
    )
    since = (await tab.call("snapshot", since=True))["snapshot"]
    assert f"in this order now: {two}, {three}, {one}" in since
    assert f'~ textbox "Name" [ref={field}]: Ana' in since
    assert f'- button "Old" [ref={old}] is gone' in since
    assert '+ heading "New" [level=1]' in since


async def test_since_after_a_new_document_is_the_whole_with_a_note(tab: Tab) -> None:
    await tab.show(SHOP)
    assert (await tab.call("snapshot", since=True))["snapshot"].startswith("(you had no snapshot of this document")
    await tab.call("reload_page")
    since = (await tab.call("snapshot", since=True))["snapshot"]
    assert since.startswith("(you had no snapshot of this document")
    assert "Product 59" in since


async def test_since_is_each_clients_own(tab: Tab, other: Agent) -> None:
    await tab.show(SHOP)
    await tab.call("snapshot")
    await other.call("snapshot", pageId="tab")
    await tab.sees("(document.querySelector('h1').textContent = 'Store', 0)")
    assert "Store" in (await tab.call("snapshot", since=True))["snapshot"]
    assert "Store" in (await other.call("snapshot", pageId="tab", since=True))["snapshot"]


async def test_since_may_be_asked_of_a_part(tab: Tab) -> None:
    await tab.show(SHOP)
    await tab.call("snapshot")
    await tab.sees("(s.textContent = 'Hello', document.querySelector('h1').textContent = 'Store', 0)")
    part = (await tab.call("snapshot", since=True, selector="header"))["snapshot"]
    assert ("Store" in part, "Hello" in part) == (True, False)


async def test_since_does_not_repeat_what_an_act_reported(tab: Tab) -> None:
    await tab.show(SHOP)
    await tab.call("snapshot")
    assert "changes" in await tab.call("click", selector="role=button[name='Add to cart'] >> nth=3")
    assert (await tab.call("snapshot", since=True))["snapshot"] == "nothing changed since your last snapshot"


# --- what is typed as a password, and frames -----------------------------------------------------------------------


async def test_no_reading_shows_a_password(tab: Tab) -> None:
    tab.site.page("/inner", "<label>Inner <input type=password value=in-the-frame></label>")
    await tab.show(
        "<table><tr><td>Row <input type=password value='my \"secret\" one'></table><div id=h></div>"
        f"<iframe src={tab.site.url('/inner', 'localhost')}></iframe><button onclick='1'>Go</button><input value=shown>"
        "<script>h.attachShadow({mode: 'open'}).innerHTML = '<input type=password value=in-the-shadow>'</script>"
    )
    told = [await tab.call("snapshot"), await tab.call("find", role="textbox"), await tab.call("find", text="Row")]
    told.append(await tab.call("type", selector="td input", text="-more-of-it"))
    told.append(await tab.call("snapshot", since=True))
    assert "shown" in str(told[0])
    for secret in ("secret", "in-the-frame", "in-the-shadow", "more-of-it"):
        assert secret not in str(told), secret


async def test_a_ref_in_a_frame_that_went_elsewhere_is_stale(tab: Tab) -> None:
    for name in ("a", "b"):
        tab.site.page(f"/{name}", f"<button onclick='window.hit = 1'>{name}</button>")
    await tab.show(f"<iframe src={tab.site.url('/a')}></iframe>")
    ref = _ref((await tab.call("snapshot"))["snapshot"], 'button "a"')
    await tab.call("evaluate_script", frame="iframe", expression="location.href = '/b'")
    await tab.call("wait_for_selector", selector="text=b", frame="iframe")
    assert (await tab.error("click", selector=ref, timeout=500))["code"] == "ELEMENT_GONE"
    await tab.call("find", text="nothing of the kind")
    assert (await tab.error("click", selector=ref, timeout=500))["code"] == "STALE_REVISION"
    assert (await tab.call("evaluate_script", frame="iframe", expression="window.hit ?? 0"))["value"] == 0


async def test_omitted_content_is_counted(tab: Tab) -> None:
    boxes = "".join(f"<label><input type=checkbox>Box {n} {'x' * 60}</label>" for n in range(100))
    outline = (await tab.call("goto", pageId="tab", url=tab.site.page("/boxes", boxes)))["outline"]
    assert re.fullmatch(r"not shown: \d+ checkboxes", outline.splitlines()[-1])


async def test_an_outline_shows_a_pages_main_content_before_its_surroundings(tab: Tab) -> None:
    links = "".join(f"<li><a href=/{n}>Place {n}</a>" for n in range(20))
    buttons = "".join(f"<button>Tool {n}</button>" for n in range(30))
    teas = "".join(f"<li><h3>Tea {n}</h3><p>{n} EUR</p><button>Add tea {n}</button>" for n in range(8))
    page = (
        f"<header><nav><ul>{links}</ul></nav>{buttons}</header><main><h1>Teas</h1><p role=status></p>"
        f"<ul>{teas}</ul></main><table><tr><th>Name<th>Price{'<tr><td>Tea<td>3' * 20}</table><footer>{links}</footer>"
    )
    outline = _bare((await tab.call("goto", pageId="tab", url=tab.site.page("/matter", page)))["outline"])
    assert [f'button "Add tea {n}"' for n in range(8) if f'button "Add tea {n}"' not in outline] == []
    assert '    - link "Place 2" [ref] [url=/2]\n    - 17 more links\n' in outline
    assert "- table [ref]: 21 rows: Name | Price" in outline
    assert "status" not in outline


async def test_an_outline_of_a_page_that_marks_no_main_part_has_what_its_heading_is_in_first(tab: Tab) -> None:
    buttons = "".join(f"<button>Tool with a long name {n}</button>" for n in range(40))
    page = f"<div>{buttons}</div><div><h1>Order</h1><a href=/pay>Pay</a></div>"
    assert 'link "Pay"' in (await tab.call("goto", pageId="tab", url=tab.site.page("/order", page)))["outline"]

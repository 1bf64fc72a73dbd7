"""Tests searching a page: a dozen handles instead of the whole, each with its state and with where it is."""

import asyncio
import re
import threading

import pytest

from tests.support.site import Answer
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


ROWS = "".join(
    f"<tr><th scope=row>{name}<td>{price}.00 €<td><button onclick='window.hit = \"{name}\"'>Add</button>"
    for name, price in (("Kettle", 29), ("Toaster", 39), ("Teapot", 19))
)
SHOP = f"""<h1>Kitchen</h1><nav aria-label=Main><a href=/cart>Cart (2)</a></nav>
<form aria-label=Login><label>Name <input value=Ana></label><label>Secret <input type=password value=hunter22></label>
<label><input type=checkbox checked> Remember me</label><button disabled>Log in</button></form>
<h2>Products</h2><table><thead><tr><th>What<th>Price<th></thead><tbody>{ROWS}</table>
<ul>{"".join(f"<li><h3>Tip {n}</h3><p>Use fresh water</p><a href=/tips/{n}>More</a></li>" for n in range(20))}</ul>
<div style="cursor: pointer" onclick="window.hit = 'tile'">Open the tile</div>"""


async def test_find_by_role_and_name_gives_handles_that_act_and_says_where_each_is(tab: Tab) -> None:
    await tab.show(SHOP)
    found = await tab.call("find", role="button", name="ADD")
    assert [(m["role"], m["name"], m["in"]) for m in found["matches"]] == [
        ("button", "Add", 'row "Kettle"'),
        ("button", "Add", 'row "Toaster"'),
        ("button", "Add", 'row "Teapot"'),
    ]
    assert found["total"] == 3
    lines = found["found"].splitlines()
    assert lines[1] == f'- button "Add" [ref={found["matches"][1]["ref"]}] · row "Toaster"'
    for match, name in zip(found["matches"], ("Kettle", "Toaster", "Teapot"), strict=True):
        await tab.call("click", selector=match["ref"])
        assert await tab.sees("window.hit") == name


async def test_find_shows_states_and_values_but_never_a_password(tab: Tab) -> None:
    await tab.show(SHOP)
    field, secret = [(await tab.call("find", role="textbox", name=name))["matches"][0] for name in ("Name", "Secret")]
    assert (field["text"], field["in"]) == ("Ana", 'form "Login"')
    assert "hunter22" not in str(secret)
    box = (await tab.call("find", role="checkbox"))["found"]
    assert "[checked]" in box
    assert "[disabled]" in (await tab.call("find", role="button", name="log in"))["found"]


async def test_find_by_text_names_the_innermost_element_that_has_it(tab: Tab) -> None:
    await tab.show(SHOP)
    (cell,) = (await tab.call("find", text="39.00"))["matches"]
    assert (cell["role"], cell["in"]) == ("cell", 'row "Toaster"')
    (link,) = (await tab.call("find", text="cart"))["matches"]
    assert (link["role"], link["in"]) == ("link", 'navigation "Main"')
    (tile,) = (await tab.call("find", text="the tile"))["matches"]
    await tab.call("click", selector=tile["ref"])
    assert await tab.sees("window.hit") == "tile"


async def test_find_shows_a_dozen_matches_and_their_total(tab: Tab) -> None:
    await tab.show(SHOP)
    found = await tab.call("find", text="more")
    assert (len(found["matches"]), found["total"]) == (12, 20)
    assert found["advice"].startswith("20 in all")
    assert [m["in"] for m in found["matches"][:2]] == ['listitem "Tip 0"', 'listitem "Tip 1"']


async def test_find_lists_exact_names_first(tab: Tab) -> None:
    await tab.show("<p>Send it soon</p><a href=#>Send later</a><button>Send</button>")
    found = await tab.call("find", text="send")
    assert [m["role"] for m in found["matches"]] == ["button", "link", "paragraph"]


async def test_find_lists_a_single_other_name_beside_the_exact_one(tab: Tab) -> None:
    await tab.show("<button>Save</button><button>Save all</button><button>Reset</button>")
    found = await tab.call("find", role="button", name="save")
    assert [match["name"] for match in found["matches"]] == ["Save", "Save all"]
    assert "more" not in found["found"]


async def test_find_without_matches_names_the_nearest(tab: Tab) -> None:
    await tab.show(SHOP)
    found = await tab.call("find", role="link", name="Carts")
    assert (found["matches"], found["total"]) == ([], 0)
    assert found["found"] == 'nothing matches; nearest: link "Cart (2)"'
    assert "nearest" in (await tab.call("find", text="zzzz"))["found"]
    assert (await tab.call("find", selector="#nowhere"))["total"] == 0


async def test_find_knows_a_row_or_a_list_item_by_the_words_in_it(tab: Tab) -> None:
    await tab.show(SHOP)
    (row,) = (await tab.call("find", role="row", name="39.00"))["matches"]
    assert (row["role"], row["in"]) == ("row", 'row "Toaster"')
    await tab.show("<div role=group><table><tr><td><input type=checkbox title=x><td>Kettle<td>39</table></div>")
    assert (await tab.call("find", text="39"))["matches"][0]["in"] == 'row "Kettle"'
    await tab.show(SHOP)
    (item,) = (await tab.call("find", role="listitem", name="Tip 7"))["matches"]
    assert item["role"] == "listitem"
    assert (await tab.call("find", role="button", name="39.00"))["total"] == 0


async def test_find_by_selector_gives_refs_and_a_selector_where_an_element_has_none(tab: Tab) -> None:
    await tab.show(
        SHOP + "<span class=x>a</span><i class=x hidden>b</i><button class=x onclick='window.hit = 1'>c</button>"
    )
    span, hidden, button = (await tab.call("find", selector=".x"))["matches"]
    assert (span["selector"], hidden["selector"], hidden["visible"]) == (".x >> nth=0", ".x >> nth=1", False)
    await tab.call("click", selector=button["ref"])
    assert await tab.sees("window.hit") == 1


async def test_find_within_a_selector(tab: Tab) -> None:
    await tab.show(SHOP)
    found = await tab.call("find", selector="tbody tr:nth-child(2)", role="button")
    assert [m["in"] for m in found["matches"]] == ['row "Toaster"']


async def test_find_reaches_into_frames_and_shadow_dom(tab: Tab) -> None:
    tab.site.page("/inner", "<button onclick=\"this.textContent = 'Done'\">Pay now</button>")
    await tab.show(
        f"<div id=h></div><iframe src={tab.site.url('/inner', 'localhost')}></iframe>"
        "<script>h.attachShadow({mode: 'open'}).innerHTML = '<a href=#s>Pay later</a>'</script>"
    )
    now, later = (await tab.call("find", text="pay"))["matches"]
    if now["name"] == "Pay later":
        now, later = later, now
    await tab.call("click", selector=now["ref"])
    assert (await tab.call("content", frame="iframe", selector="button", format="text"))["content"] == "Done"
    await tab.call("click", selector=later["ref"])
    assert await tab.sees("location.hash") == "#s"
    (inner,) = (await tab.call("find", selector="button", frame="iframe"))["matches"]
    assert inner["name"] == "Done"


async def test_find_needs_something_to_look_for(tab: Tab) -> None:
    await tab.show(SHOP)
    error = await tab.error("find")
    assert (error["code"], "selector" in error["message"]) == ("VALIDATION_ERROR", True)
    assert (await tab.error("find", selector="a[["))["code"] == "INVALID_SELECTOR"


async def test_a_selector_may_go_on_from_a_ref(tab: Tab) -> None:
    await tab.show(SHOP)
    (row,) = (await tab.call("find", role="row", text="Teapot"))["matches"]
    await tab.call("click", selector=f"{row['ref']} >> role=button")
    assert await tab.sees("window.hit") == "Teapot"
    (table,) = (await tab.call("find", role="table"))["matches"]
    error = await tab.error("click", selector=f"{table['ref']} >> role=button")
    assert [c["in"] for c in error["details"]["context"]["candidates"]] == [
        'row "Kettle"',
        'row "Toaster"',
        'row "Teapot"',
    ]
    assert (await tab.call("find", selector=f"{table['ref']} >> th"))["total"] == 6
    assert (await tab.error("click", selector="e999 >> role=button"))["code"] == "STALE_REVISION"


async def test_a_role_within_a_role_acts_without_any_reading(tab: Tab) -> None:
    await tab.show(SHOP)
    await tab.call("click", selector='role=row[name="Kettle"] >> role=button')
    assert await tab.sees("window.hit") == "Kettle"


async def test_several_matches_are_distinguished_by_their_rows_and_have_refs(tab: Tab) -> None:
    await tab.show(SHOP)
    error = await tab.error("click", selector='role=button[name="Add"]')
    assert error["code"] == "AMBIGUOUS_SELECTOR"
    candidates = error["details"]["context"]["candidates"]
    assert [c["in"] for c in candidates] == ['row "Kettle"', 'row "Toaster"', 'row "Teapot"']
    assert re.search(rf'{candidates[2]["selector"]} \(button \'Add\', row "Teapot"\)', error["message"])
    await tab.call("click", selector=candidates[2]["selector"])
    assert await tab.sees("window.hit") == "Teapot"


async def test_find_waits_for_a_new_pages_requests_before_it_finds_nothing(tab: Tab) -> None:
    held = threading.Event()
    tab.site.page("/chores", Answer('["Tea"]', content_type="application/json", hold=held))
    script = "fetch('/chores').then(r => r.json()).then(all => { u.innerHTML = `<li>${all[0]}</li>` })"
    await tab.call(
        "goto", pageId="tab", url=tab.site.page("/late", f"<ul id=u></ul><script>{script}</script>"), reply="none"
    )
    asyncio.get_running_loop().call_later(0.1, held.set)
    assert (await tab.call("find", pageId="tab", text="Tea"))["total"] == 1


async def test_a_button_that_says_the_words_twice_is_listed_once(tab: Tab) -> None:
    await tab.show(
        "<h1>Start</h1><div role=button tabindex=0 style='cursor: pointer'><div title='Kernel 3'><b>Kernel 3</b></div>"
        "<p>Kernel 3</p></div><p>About Kernel 3</p>"
    )
    found = await tab.call("find", text="Kernel 3")
    assert [match["role"] for match in found["matches"]] == ["button", "paragraph"]


async def test_an_empty_look_at_a_page_that_still_waits_for_its_data_says_so(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/data", Answer("", hold=release))
    await tab.show("<div id=root></div><script>fetch('/data').then(() => root.innerHTML = '<h1>Late</h1>')</script>")
    for look in (await tab.call("find", text="Late"), await tab.call("snapshot")):
        assert str(look["advice"]).startswith("still loading: 1 request pending (/data); look again")
    release.set()
    assert "Late" in str(await tab.call("wait_for_selector", selector="text=Late")) + str(await tab.call("snapshot"))
    assert "advice" not in await tab.call("find", text="Early")

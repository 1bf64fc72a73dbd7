"""Tests extracting data: texts, attributes, tables, links, pictures, styles, and what a page says of itself."""

import json
from typing import Any

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


SOON = 300
"""Bounds, in milliseconds, how long a test waits for what is not there."""


# --- texts, HTML, attributes -----------------------------------------------------------------------------------------


async def test_text_is_that_of_the_first_element_or_of_all(tab: Tab) -> None:
    await tab.show("<p class=t>  Green\n   <b>tea</b> </p><p class=t>Black</p><p class=t></p>")
    assert await tab.call("extract_text", selector=".t") == {"text": "Green tea", "count": 3}
    assert (await tab.call("extract_text", selector=".t", all=True))["text"] == ["Green tea", "Black", ""]


async def test_text_is_what_a_person_sees_with_its_space_if_asked_for(tab: Tab) -> None:
    await tab.show(
        "<pre id=pre>  a\n   b </pre><div id=parts><p>one</p><p>two</p><p hidden>three</p></div>"
        "<div id=hidden hidden>not shown</div><svg><text id=svg>drawn</text></svg>"
        "<ul><li id=raw style='text-transform:uppercase'>a  <b>b</b>\n<i hidden>c</i></ul><input id=field value=' v '>"
    )
    text = {
        selector: (await tab.call("extract_text", selector=selector))["text"]
        for selector in ("#pre", "#parts", "#hidden", "#svg")
    }
    assert text == {"#pre": "a b", "#parts": "one two", "#hidden": "not shown", "#svg": "drawn"}
    raw = await tab.call("extract_text", selector="#pre", trim=False, normalizeWhitespace=False)
    assert raw["text"] == "  a\n   b "
    both = {"trim": False, "normalizeWhitespace": False}
    assert (await tab.call("extract_text", selector="#raw", **both))["text"] == "a  b\nc"
    assert (await tab.call("extract_text", selector="#field", **both))["text"] == " v "
    assert (await tab.call("extract_text", selector="#raw"))["text"] == "A B"
    assert (await tab.call("extract_text", selector="#pre", normalizeWhitespace=False))["text"] == "a\n   b"
    assert (await tab.call("extract_text", selector="#pre", trim=False))["text"] == " a b "


async def test_the_text_of_a_field_is_its_value_but_for_passwords(tab: Tab) -> None:
    await tab.show(
        "<textarea>old</textarea><input id=i value=old><input id=p type=password value=s3cret>"
        "<select><option>Green<option selected>Black</select><script>"
        "document.querySelector('textarea').value = 'new'; document.querySelector('#i').value = 'now'</script>"
    )
    fields = (await tab.call("extract_text", selector="textarea, input, select", all=True))["text"]
    assert fields == ["new", "now", "", "Black"]


async def test_html_is_inner_or_outer(tab: Tab) -> None:
    await tab.show("<ul><li id=a>1<li>2</ul>")
    assert (await tab.call("extract_html", selector="li"))["html"] == "1"
    assert (await tab.call("extract_html", selector="li", inner=False))["html"] == '<li id="a">1</li>'
    assert (await tab.call("extract_html", selector="li", inner=False, all=True))["html"] == [
        '<li id="a">1</li>',
        "<li>2</li>",
    ]


async def test_attributes_are_as_written_and_null_where_there_is_none(tab: Tab) -> None:
    await tab.show("<a href='/cart?a=1&amp;b' data-id=7 data-kind='green tea' DATA-Up=x>cart</a><a>none</a>")
    assert (await tab.call("extract_attribute", selector="a", attribute="href"))["value"] == "/cart?a=1&b"
    assert (await tab.call("extract_attribute", selector="a", attribute="href", all=True))["value"] == [
        "/cart?a=1&b",
        None,
    ]
    data = await tab.call("extract_attribute", selector="a", attribute="data-*")
    assert data["value"] == {"data-id": "7", "data-kind": "green tea", "data-up": "x"}
    assert (await tab.call("extract_attribute", selector="a >> nth=1", attribute="*"))["value"] == {}


async def test_what_is_not_there_is_an_error_in_the_agreed_words(tab: Tab) -> None:
    await tab.show("<p>here</p>")
    for action, more in (
        ("extract_text", {}),
        ("extract_html", {"all": True}),
        ("extract_attribute", {"attribute": "href"}),
        ("extract_computed_style", {}),
        ("extract_table", {}),
        ("extract_links", {}),
        ("extract_images", {}),
    ):
        error = await tab.error(action, selector=".login-button", timeout=SOON, **more)
        assert (error["code"], error["message"]) == (
            "ELEMENT_NOT_FOUND",
            f"Element matching selector '.login-button' not found after {SOON}ms",
        ), action
        assert error["details"]["selector"] == ".login-button"
    assert (await tab.error("extract_text", selector="p[", timeout=SOON))["code"] == "INVALID_SELECTOR"


async def test_what_comes_late_is_waited_for(tab: Tab) -> None:
    await tab.show("<script>setTimeout(() => document.body.append('x', document.createElement('i')), 200)</script>")
    assert (await tab.call("extract_html", selector="i", inner=False, all=True))["html"] == ["<i></i>"]


async def test_extracting_reaches_frames_shadow_roots_and_refs(tab: Tab) -> None:
    tab.site.page("/inner", "<h2>Inner</h2><a href=/there>There</a>")
    await tab.show(
        f"<iframe src={tab.site.url('/inner', 'localhost')}></iframe><div id=host></div><script>"
        "host.attachShadow({mode: 'open'}).innerHTML = '<a href=/deep>Deep</a><b>bold</b>'</script>"
    )
    assert (await tab.call("extract_text", selector="h2", frame="iframe"))["text"] == "Inner"
    assert (await tab.call("extract_links", frame="iframe"))["links"] == [
        {"text": "There", "url": tab.site.url("/there", "localhost")}
    ]
    assert [link["text"] for link in (await tab.call("extract_links"))["links"]] == ["Deep"]
    assert (await tab.call("extract_data", schema={"bold": "b"}))["data"] == {"bold": "bold"}
    tree = (await tab.call("snapshot"))["snapshot"]
    ref = tree.split('link "Deep" [ref=')[1].split("]")[0]
    assert (await tab.call("extract_attribute", selector=ref, attribute="href"))["value"] == "/deep"


async def test_long_data_is_cut_and_following_its_cursor_gives_the_identical_whole(tab: Tab) -> None:
    await tab.show("".join(f"<p>Paragraph {n} of many</p>" for n in range(60)))
    whole = (await tab.call("extract_text", selector="p", all=True))["text"]
    part = await tab.call("extract_text", selector="p", all=True, budget=400)
    read = part["text"]
    assert len(read) == 400
    while cursor := part.get("cursor"):
        part = await tab.call("content", cursor=cursor, budget=400)
        read += part["content"]
    assert json.loads(read) == whole


# --- tables ----------------------------------------------------------------------------------------------------------


async def _rows(tab: Tab, html: str, **arguments: AnyJson) -> Any:
    await tab.sees(f"(document.body.innerHTML = {json.dumps(html)}, 0)")
    return (await tab.call("extract_table", **arguments))["tables"][0]["rows"]


async def test_a_table_is_rows_by_its_headers(tab: Tab) -> None:
    await tab.show(
        "<table><caption>Teas</caption><thead><tr><th>Name<th>Price</thead>"
        "<tbody><tr><td>Sencha<td> 4\n€<tr><td>Assam<td>3 €<tr hidden><td>Old<td>1 €</tbody>"
        "<tfoot><tr><td>Sum<td>7 €</tfoot></table><table><tr><td>other</table>"
    )
    assert await tab.call("extract_table") == {
        "tables": [
            {
                "caption": "Teas",
                "headers": ["Name", "Price"],
                "rows": [
                    {"Name": "Sencha", "Price": "4 €"},
                    {"Name": "Assam", "Price": "3 €"},
                    {"Name": "Sum", "Price": "7 €"},
                ],
                "hiddenRows": 1,
            }
        ],
        "count": 2,
    }
    tables = (await tab.call("extract_table", all=True))["tables"]
    assert tables[1] == {"headers": ["column1"], "rows": [{"column1": "other"}]}
    assert (await tab.call("extract_table", rows="lists"))["tables"][0]["rows"][1] == ["Assam", "3 €"]
    named = (await tab.call("extract_table", params={"headers": ["tea"]}))["tables"][0]
    assert (named["headers"], named["rows"][0]) == (["tea", "column2"], {"tea": "Sencha", "column2": "4 €"})


async def test_cells_that_span_are_repeated(tab: Tab) -> None:
    await tab.show("x")
    assert await _rows(
        tab,
        "<table><tr><th rowspan=2>Tea<th colspan=2>Price<tr><th>net<th>gross<tr><td rowspan=2>Green<td>1<td>2"
        "<tr><td colspan=2>3<tr><td rowspan=0>Black<td>4<td>5<tr><td>6</table>",
    ) == [
        {"Tea": "Green", "Price / net": "1", "Price / gross": "2"},
        {"Tea": "Green", "Price / net": "3", "Price / gross": "3"},
        {"Tea": "Black", "Price / net": "4", "Price / gross": "5"},
        {"Tea": "Black", "Price / net": "6", "Price / gross": ""},
    ]


async def test_headers_that_are_missing_or_double_get_names_of_their_own(tab: Tab) -> None:
    await tab.show("x")
    assert await _rows(tab, "<table><tr><td>a<td>b<tr><td>c</table>") == [
        {"column1": "a", "column2": "b"},
        {"column1": "c", "column2": ""},
    ]
    assert await _rows(tab, "<table><tr><th>N<th>N<th><tr><td>1<td>2<td>3<td>4</table>") == [
        {"N": "1", "N (2)": "2", "column3": "3", "column4": "4"}
    ]
    assert await _rows(tab, "<table><tr><th>Row head<td>1<tr><th>Other<td>2</table>") == [
        {"column1": "Row head", "column2": "1"},
        {"column1": "Other", "column2": "2"},
    ]


async def test_a_grid_of_roles_is_a_table_and_what_has_none_is_an_error(tab: Tab) -> None:
    await tab.show("<p>none</p>")
    grid = (
        "<div role=grid><div role=rowgroup><div role=row><span role=columnheader>Name</span>"
        "<span role=columnheader>Age</span></div></div><div role=rowgroup><div role=row>"
        "<span role=gridcell>Ana</span><span role=gridcell>9</span></div></div></div>"
    )
    error = await tab.error("extract_table", selector="p")
    assert (error["code"], "is no table" in error["message"]) == ("ELEMENT_NOT_FOUND", True)
    assert await _rows(tab, grid) == [{"Name": "Ana", "Age": "9"}]
    assert await _rows(tab, f"<section>{grid}</section>", selector="section") == [{"Name": "Ana", "Age": "9"}]


# --- links, pictures, metadata, styles -------------------------------------------------------------------------------


async def test_links_have_texts_and_absolute_urls(tab: Tab) -> None:
    await tab.show(
        "<nav><a href=/cart>To\n the cart</a><a href=/cart rel=nofollow target=_blank>again</a></nav>"
        "<a href='https://example.com/x' title=Away><img alt=Logo></a><a name=anchor>no link</a>"
        "<a href='mailto:a@b.c' aria-label=Mail></a><a href='#top' hidden>Top</a>"
        "<svg><a href=/s><text>S</text></a></svg>"
    )
    here = tab.site.url("/page-1")
    cart, other = tab.site.url("/cart"), "https://example.com/x"
    assert await tab.call("extract_links") == {
        "links": [
            {"text": "To the cart", "url": cart},
            {"text": "again", "url": cart, "rel": "nofollow", "target": "_blank"},
            {"text": "Logo", "url": other, "title": "Away"},
            {"text": "Mail", "url": "mailto:a@b.c"},
            {"text": "Top", "url": f"{here}#top", "hidden": True},
            {"text": "S", "url": tab.site.url("/s")},
        ],
        "count": 6,
    }
    for arguments, texts in (
        ({"selector": "nav"}, ["To the cart", "again"]),
        ({"selector": "nav", "unique": True}, ["To the cart"]),
        ({"site": "other"}, ["Logo", "Mail"]),
        ({"site": "same", "unique": True}, ["To the cart", "Top", "S"]),
    ):
        assert [link["text"] for link in (await tab.call("extract_links", **arguments))["links"]] == texts


PICTURE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='30' height='20'/>"


async def test_images_have_urls_sizes_and_whether_they_are_loaded(tab: Tab) -> None:
    await tab.show(
        f'<img id=i src="{PICTURE}" alt="A tea" width=60 height=40><img src=/gone.png hidden>'
        f'<div style="background-image: url(/back.png), none; width: 9px; height: 8px"></div><img id=late>'
    )
    await tab.sees("document.querySelector('#i').decode().then(() => 1)")
    first, second = (await tab.call("extract_images"))["images"]
    assert first.pop("url").startswith("data:image/svg+xml,<svg")
    assert first == {
        "alt": "A tea",
        "width": 30,
        "height": 20,
        "shownWidth": 60,
        "shownHeight": 40,
        "loaded": True,
    }
    assert second == {
        "url": tab.site.url("/gone.png"),
        "alt": None,
        "width": 0,
        "height": 0,
        "shownWidth": 0,
        "shownHeight": 0,
        "loaded": False,
        "hidden": True,
    }
    assert (await tab.call("extract_images", backgrounds=True))["images"][2] == {
        "url": tab.site.url("/back.png"),
        "background": True,
        "shownWidth": 9,
        "shownHeight": 8,
    }


async def test_metadata_is_what_the_page_says_of_itself(tab: Tab) -> None:
    url = await tab.show(
        "<html lang=de><head><meta name=description content='Teas of all kinds'>"
        "<meta name=keywords content='tea, green ,x'><meta name=Author content=Ana>"
        "<link rel=canonical href=/tea><link rel='shortcut icon' href=/i.png>"
        "<meta property=og:title content=Tea><meta property=og:image content=/1.png>"
        "<meta property=og:image content=/2.png><meta name=twitter:card content=summary>"
        '<link rel=alternate hreflang=en href=/en><script type=application/ld+json>{"@type": "Product"}</script>'
        "<script type=application/ld+json>{broken</script>"
    )
    assert (await tab.call("extract_metadata"))["metadata"] == {
        "title": "/page-1",
        "url": url,
        "lang": "de",
        "description": "Teas of all kinds",
        "canonical": tab.site.url("/tea"),
        "keywords": ["tea", "green", "x"],
        "openGraph": {"title": "Tea", "image": ["/1.png", "/2.png"]},
        "twitter": {"card": "summary"},
        "jsonLd": [{"@type": "Product"}],
        "jsonLdBroken": ["{broken"],
        "meta": {"author": "Ana"},
        "alternates": [{"url": tab.site.url("/en"), "lang": "en"}],
        "icons": [tab.site.url("/i.png")],
    }


async def test_computed_styles_are_the_browsers(tab: Tab) -> None:
    await tab.show(
        "<style>p { color: red; --brand: 7px } p + p { display: none } p::before { content: 'x' }</style>"
        "<p>a</p><p>b</p>"
    )
    asked = ["color", "--brand", "--none", "no-such"]
    assert (await tab.call("extract_computed_style", selector="p", properties=asked))["style"] == {
        "color": "rgb(255, 0, 0)",
        "--brand": "7px",
        "--none": "",
        "no-such": None,
    }
    both = await tab.call("extract_computed_style", selector="p", properties=["display"], all=True)
    assert both["style"] == [{"display": "block"}, {"display": "none"}]
    before = await tab.call("extract_computed_style", selector="p", properties=["content"], pseudo="::before")
    assert before["style"] == {"content": '"x"'}
    usual = (await tab.call("extract_computed_style", selector="p"))["style"]
    every = (await tab.call("extract_computed_style", selector="p", properties=["*"]))["style"]
    assert usual.items() <= every.items() | {("border", usual["border"]), *usual.items()}
    assert (usual["display"], len(every) > 200 > len(usual)) == ("block", True)


# --- data by a schema ------------------------------------------------------------------------------------------------

CARDS = """<h1>Teas</h1><div class=card data-id=1><h2><a href=/green>Green</a></h2><b class=price>€ 1.234,50</b>
<ul><li>fresh<li>mild</ul><input type=checkbox checked></div>
<div class=card data-id=2><h2><a href=/black>Black</a></h2><b class=price>sold out</b><ul></ul>
<input type=checkbox></div>"""


async def test_data_is_read_by_a_schema_of_selectors(tab: Tab) -> None:
    await tab.show(CARDS)
    result = await tab.call(
        "extract_data",
        schema={
            "title": "h1",
            "missing": ".no",
            "cards": {
                "selector": ".card",
                "all": True,
                "fields": {
                    "id": {"attribute": "data-id", "type": "number"},
                    "name": "h2",
                    "link": {"selector": "a", "type": "url"},
                    "price": {"selector": ".price", "type": "number"},
                    "notes": {"selector": "li", "all": True},
                    "chosen": {"selector": "input", "type": "boolean"},
                    "second": "//li[2]",
                },
            },
        },
    )
    green = {"id": 1, "name": "Green", "link": tab.site.url("/green"), "price": 1234.5}
    black = {"id": 2, "name": "Black", "link": tab.site.url("/black"), "price": None}
    assert result["data"] == {
        "title": "Teas",
        "missing": None,
        "cards": [
            {**green, "notes": ["fresh", "mild"], "chosen": True, "second": "mild"},
            {**black, "notes": [], "chosen": False, "second": None},
        ],
    }
    assert result["notFound"] == [
        "missing: nothing matches .no",
        'cards.price: "sold out" is no number',
        "cards.notes: nothing matches li",
        "cards.second: nothing matches //li[2]",
    ]
    part = await tab.call(
        "extract_data", selector=".card >> nth=1", schema={"name": "h2", "id": {"attribute": "data-id"}}
    )
    assert part == {"data": {"name": "Black", "id": "2"}}


async def test_a_schema_may_be_json_schema(tab: Tab) -> None:
    await tab.show(CARDS)
    cards = {
        "type": "array",
        "selector": ".card",
        "items": {"type": "object", "properties": {"name": "h2", "tags": {"type": "array", "items": "li"}}},
    }
    result = await tab.call(
        "extract_data", schema={"type": "object", "properties": {"title": "h1", "cards": cards}, "required": ["title"]}
    )
    assert result["data"] == {
        "title": "Teas",
        "cards": [{"name": "Green", "tags": ["fresh", "mild"]}, {"name": "Black", "tags": []}],
    }


async def test_numbers_are_read_as_they_are_written(tab: Tab) -> None:
    written = {
        "12": 12, "-5 °C": -5, "1,234.50 $": 1234.5, "1.234,50": 1234.5, "1.234.567": 1234567, "12,5 %": 12.5,
        "1 234,5": 1234.5, "1'234": 1234, "0.125": 0.125, "\u22127": -7, "1,234": 1234, "$ 3.50": 3.5, "RTX-3080": 3080,
        "1.2.3": None, "none": None, ".5": 0.5, "-$4": -4,
    }  # fmt: skip
    await tab.show("".join(f"<i>{text}</i>" for text in written) + "<p lang=de>1.234</p><p lang=en>1.234</p>")
    schema = {
        "i": {"selector": "i", "all": True, "type": "number"},
        "p": {"selector": "p", "all": True, "type": "number"},
    }
    data = (await tab.call("extract_data", schema=schema))["data"]
    assert dict(zip(written, data["i"], strict=True)) == written
    assert data["p"] == [1234, 1.234]


async def test_booleans_tell_whether_something_is_there_and_not_denied(tab: Tab) -> None:
    await tab.show(
        "<i>yes</i><i>No</i><i>0</i><i>anything</i><button aria-pressed=false>B</button>"
        "<u disabled></u><u data-on=false></u>"
    )
    data = await tab.call(
        "extract_data",
        schema={
            "words": {"selector": "i", "all": True, "type": "boolean"},
            "pressed": {"selector": "button", "type": "boolean"},
            "disabled": {"selector": "u", "attribute": "disabled", "type": "boolean"},
            "on": {"selector": "u[data-on]", "attribute": "data-on", "type": "boolean"},
            "there": {"selector": ".none", "type": "boolean"},
        },
    )
    assert data == {
        "data": {"words": [True, False, False, True], "pressed": False, "disabled": True, "on": False, "there": False}
    }


async def test_what_a_schema_requires_is_waited_for_and_then_missed(tab: Tab) -> None:
    await tab.show(
        CARDS + "<p></p><script>setTimeout(() => document.querySelector('p').textContent = 'late', 200)</script>"
    )
    assert (await tab.call("extract_data", schema={"p": {"selector": "p", "required": True}}))["data"] == {"p": "late"}
    price = {"selector": ".price", "type": "number", "required": True}
    schema = {"cards": {"selector": ".card", "all": True, "fields": {"price": price}}}
    error = await tab.error("extract_data", schema=schema, timeout=SOON)
    assert (error["code"], error["message"]) == (
        "ELEMENT_NOT_FOUND",
        f'What schema requires was not found after {SOON}ms. cards.price: "sold out" is no number',
    )


@pytest.mark.parametrize(
    ("schema", "code", "said"),
    [
        ({}, "VALIDATION_ERROR", "schema"),
        ({"a": {"select": "p"}}, "VALIDATION_ERROR", "schema.a.select"),
        ({"a": {"selector": "p", "type": "date"}}, "VALIDATION_ERROR", "schema.a.type"),
        ({"a": {"fields": {"b": {"fields": {"c": 3}}}}}, "VALIDATION_ERROR", "schema.a.fields.b.fields.c"),
        ({"a": {"fields": {"b": "p["}}}, "INVALID_SELECTOR", "schema.a.b"),
    ],
)
async def test_a_schema_that_is_wrong_is_refused_by_the_name_of_its_field(
    tab: Tab, schema: dict[str, AnyJson], code: str, said: str
) -> None:
    await tab.show("<p>x</p>") if code == "INVALID_SELECTOR" else None
    error = await tab.error("extract_data", schema=schema)
    assert (error["code"], said in error["message"]) == (code, True), error

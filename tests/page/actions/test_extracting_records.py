"""Tests extracting data as rows and records: tables by their headers, and whatever a schema of selectors names."""

import json

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


SOON = 300
"""How many milliseconds a test waits for something that never comes."""


# --- tables ----------------------------------------------------------------------------------------------------------


async def _rows(tab: Tab, html: str, **arguments: AnyJson) -> AnyJson:
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


async def test_a_grid_in_parts_is_read_in_the_order_that_it_tells(tab: Tab) -> None:
    row = "<div role=row aria-rowindex={0}><div>{1}</div></div>"
    cells = [
        "<i role=columnheader aria-colindex=2>B</i><i role=columnheader aria-colindex=1>A</i>",
        "<i role=gridcell aria-colindex=1>{0}</i>",
        "<i role=gridcell aria-colindex=2>{0}!</i>",
    ]
    left = "".join(row.format(n, cells[1].format(n)) for n in (3, 2))
    right = "".join(row.format(n, cells[2].format(n)) for n in (2, 3))
    await tab.show(
        f"<div role=grid aria-rowcount=90><div>{row.format(1, cells[0])}</div><div role=presentation>{left}</div>"
        f"<div>{right}</div></div>"
    )
    (table,) = (await tab.call("extract_table", rows="lists"))["tables"]
    assert table == {"headers": ["A", "B"], "rows": [["2", "2!"], ["3", "3!"]], "rowsInAll": 90}


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


async def test_booleans_say_whether_something_is_there_and_not_denied(tab: Tab) -> None:
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


async def test_required_values_are_awaited_and_then_reported_missing(tab: Tab) -> None:
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

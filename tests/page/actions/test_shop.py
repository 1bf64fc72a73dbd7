"""Tests each tool of extraction on one page of a shop, as somebody would use it there."""

import pytest

from tests.support.shop import SHOP
from tests.support.site import Answer
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def test_a_shop_is_read_by_each_tool_of_extraction(tab: Tab) -> None:
    url = await tab.show(Answer(SHOP), "/teas")
    assert (await tab.call("extract_text", selector="h1"))["text"] == "Green teas"
    assert (await tab.call("extract_text", selector=".card h2", all=True))["text"] == ["Sencha Japan", "Matcha Japan"]
    assert (await tab.call("extract_html", selector=".card h2 a"))["html"] == "Sencha <small>Japan</small>"
    stock = await tab.call("extract_attribute", selector=".card", attribute="data-*", all=True)
    assert stock["value"] == [{"data-sku": "S-100", "data-stock": "12"}, {"data-sku": "M-200", "data-stock": "0"}]
    sizes = (await tab.call("extract_table", selector="#sizes"))["tables"][0]
    assert sizes["rows"] == [
        {"Tea": "Sencha", "Price / 50 g": "12 €", "Price / 100 g": "22 €"},
        {"Tea": "Matcha", "Price / 50 g": "49 €", "Price / 100 g": "49 €"},
    ]
    links = (await tab.call("extract_links", selector="nav"))["links"]
    assert [(link["text"], link["url"]) for link in links][2] == ("Blog", "https://leaf.example/blog")
    assert [image["alt"] for image in (await tab.call("extract_images"))["images"]] == [
        *("Leaf & Co", "Sencha leaves", "Matcha powder"),
    ]
    said = (await tab.call("extract_metadata"))["metadata"]
    assert (said["title"], said["canonical"], said["keywords"], said["openGraph"]["title"]) == (
        *("Green teas · Leaf & Co", tab.site.url("/teas/green"), ["tea", "green tea", "sencha"], "Green teas"),
    )
    assert said["jsonLd"][0]["numberOfItems"] == 2
    style = await tab.call("extract_computed_style", selector=".price", properties=["color", "font-weight"])
    assert style["style"] == {"color": "rgb(200, 0, 0)", "font-weight": "700"}
    assert await tab.sees("document.querySelectorAll('.card').length") == 2
    assert url == (await tab.call("get_current_url"))["url"]


async def test_the_products_of_a_shop_are_data(tab: Tab) -> None:
    await tab.show(Answer(SHOP), "/teas")
    product = {
        "sku": {"attribute": "data-sku", "required": True},
        "name": "h2",
        "url": {"selector": "h2 a", "type": "url"},
        "picture": {"selector": "img", "type": "url"},
        "price": {"selector": ".price", "type": "number", "required": True},
        "sale": {"selector": ".sale", "type": "boolean"},
        "tags": {"selector": ".tags li", "all": True},
        "stock": {"attribute": "data-stock", "type": "number"},
    }
    found = await tab.call(
        "extract_data", schema={"count": ".count", "products": {"selector": ".card", "all": True, "fields": product}}
    )
    sencha, matcha = found["data"]["products"]
    assert sencha == {
        "sku": "S-100",
        "name": "Sencha Japan",
        "url": tab.site.url("/p/sencha"),
        "price": 1234.5,
        "sale": True,
        "picture": tab.site.url("/sencha.svg"),
        "tags": ["fresh", "organic"],
        "stock": 12,
    }
    assert (matcha["price"], matcha["sale"], matcha["tags"], matcha["stock"]) == (49, False, [], 0)
    assert found["data"]["count"] == "2 of 40 teas"

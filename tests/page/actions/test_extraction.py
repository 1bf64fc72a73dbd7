"""Tests extracting data: texts, attributes, links, pictures, styles, and what a page says of itself."""

import json

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


SOON = 300
"""How many milliseconds a test waits for something that never comes."""


# --- texts, HTML, attributes -----------------------------------------------------------------------------------------


async def test_text_comes_from_the_first_element_or_from_all(tab: Tab) -> None:
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


async def test_a_missing_element_is_an_error_in_the_agreed_words(tab: Tab) -> None:
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


async def test_late_elements_are_waited_for(tab: Tab) -> None:
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

"""Tests the patterns of origins that a token is limited to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser_service.security.origins import asks_within, origin_pattern, pattern_within, within
from browser_service.security.urls import origin_of

LABELS = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://shop.example", "https://shop.example"),
        (" HTTPS://Shop.Example:443/ ", "https://shop.example"),
        ("http://127.1:8080", "http://127.0.0.1:8080"),
        ("https://*.shop.example", "https://*.shop.example"),
        ("https://müller.example", "https://xn--mller-kva.example"),
        ("http://[::1]:9", "http://[::1]:9"),
    ],
)
def test_a_pattern_is_kept_in_one_form(text: str, kept: str) -> None:
    assert origin_pattern(text) == kept
    assert origin_pattern(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "  ",
            "*",
            "shop.example",
            "https://",
            "https://shop.example/path",
            "https://shop.*",
            "ftp://shop.example",
        ),
        *("https://*", "https://a b", "https://shop..example", "https://-shop.example", "https://u@shop.example"),
        *("https://*.*.example", "https://*.127.0.0.1", "https://shop.example:99999", "file:///etc", "https://shop?x"),
    ],
)
def test_a_pattern_that_matches_nothing_or_everything_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"https://shop\.example|leave --origin out"):
        origin_pattern(text)


def test_all_below_a_host_is_without_the_host_itself() -> None:
    below = ["https://*.shop.example"]
    assert within(below, "https://a.b.shop.example/x")
    outside = [
        "https://shop.example",
        "http://a.shop.example",
        "https://evilshop.example",
        "https://a.shop.example:8443",
    ]
    assert [url for url in outside if within(below, url)] == []


@given(st.lists(LABELS, min_size=2, max_size=4), st.lists(LABELS, min_size=2, max_size=4))
def test_a_host_is_within_its_own_pattern_and_no_other_host_is(labels: list[str], others: list[str]) -> None:
    host, other = ".".join(labels), ".".join(others)
    pattern = [origin_pattern(f"https://{host}")]
    assert within(pattern, f"https://{host.upper()}./x?y#z")
    assert within(pattern, f"https://{other}/") == (host == other)
    for spelled in (f"https://{host}@{other}/", f"https://{other}/{host}"):
        assert within(pattern, spelled) == (host == other)
    assert not within(pattern, f"https://{host}.{other}x/")


@given(st.text())
def test_no_text_fails_or_counts_as_both_inside_and_outside(text: str) -> None:
    pattern = ["https://shop.example"]
    within(pattern, text)
    asks_within(pattern, text)
    assert not within(pattern, f"https://evil.example/{text}")
    assert not pattern_within(pattern, f"https://*{text}")


def test_only_a_blank_page_is_inside_without_an_origin() -> None:
    pattern = ["https://shop.example"]
    assert within(pattern, "about:blank")
    assert within(pattern, "blob:https://shop.example/1")
    outside = [
        "data:text/html,x",
        "blob:https://evil.example/1",
        "blob:null/1",
        "file:///etc",
        "javascript:1",
        "about:srcdoc",
    ]
    assert [url for url in outside if within(pattern, url)] == []


@pytest.mark.parametrize(
    ("url", "base", "name"),
    [
        ("https://Example.com:443/a?b#c", "", "https://example.com"),
        ("http://example.com.", "", "http://example.com"),
        ("http:\\\\example.com\\a", "", "http://example.com"),
        ("http://user:pw@127.1:8080/", "", "http://127.0.0.1:8080"),
        ("//cdn.example.com/x", "https://example.com/", "https://cdn.example.com"),
        ("/x", "https://example.com/a/b", "https://example.com"),
        ("http://[::1]:80/", "", "http://[::1]"),
        ("about:blank", "", None),
        ("blob:https://example.com/1", "", None),
        ("example.com", "", None),
        ("http://[", "", None),
        ("http://a:b/", "", None),
    ],
)
def test_an_origin_has_one_name_however_it_is_spelled(url: str, base: str, name: str | None) -> None:
    assert origin_of(url, base) == name

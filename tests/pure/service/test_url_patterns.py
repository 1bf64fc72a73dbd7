"""Tests patterns for URLs: the forms that callers write, and what holds for every glob."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browse_together.contract.errors import ValidationFailed
from browser_service.host.network.patterns import UrlPattern

ANALYTICS = "https://www.google-analytics.com/g/collect?v=2&t=page"
MATCHES = [
    ("*.google-analytics.com/*", ANALYTICS),
    ("*.google-analytics.com/*", "https://google-analytics.com/ga.js"),
    ("*.Google-Analytics.com/*", ANALYTICS),
    ("*.facebook.net/*", "https://connect.facebook.net/en_US/fbevents.js"),
    ("https://*.facebook.net/*", "https://connect.facebook.net/en_US/fbevents.js"),
    ("*://*.facebook.net/*", "http://facebook.net/"),
    ("http*://*.facebook.net/*", "https://connect.facebook.net/x"),
    ("*.example.com:8080/*", "http://api.example.com:8080/x"),
    ("doubleclick.net", "https://doubleclick.net/pixel"),
    ("*.doubleclick.net", "https://ad.g.doubleclick.net:444/pixel"),
    ("*.doubleclick.net", "https://doubleclick.net/pixel"),
    ("example.com/api/*", "https://example.com/api/a/b/c?d=/e"),
    ("**/api/**", "https://example.com/v1/api/users"),
    ("*/api/*", "https://example.com/v1/api/users"),
    ("/api/users", "http://127.0.0.1:8000/api/users"),
    ("/api/*", "http://127.0.0.1:8000/api/users?page=2#top"),
    ("*.{png,jpg}", "https://example.com/a/b.jpg"),
    ("*.min.js", "https://example.com/a.min.js"),
    ("https://example.com/?q=*", "https://example.com/?q=a+b"),
    ("*", "wss://example.com/"),
    (r"/items\/\d+$/", "https://example.com/items/12"),
    (r"/ITEMS/i", "https://example.com/items/12"),
    (r"/^https:\/\/(?!api\.)/", "https://www.example.com/"),
]
DIFFERS = [
    ("*.google-analytics.com/*", "https://google-analytics.com.evil.example/"),
    ("*.google-analytics.com/*", "https://notgoogle-analytics.com/"),
    ("*.google-analytics.com/*", "https://shop.example/leave?to=www.google-analytics.com/x"),
    ("https://*.facebook.net/*", "http://connect.facebook.net/x"),
    ("doubleclick.net", "https://shop.example/doubleclick.net"),
    ("/api/users", "https://example.com/v2/api/users"),
    ("*.png", "https://example.com/a.jpg"),
    (r"/ITEMS/", "https://example.com/items/12"),
    (r"/^https:\/\/(?!api\.)/", "https://api.example.com/"),
]
TEXT = st.text("ab./?=-", max_size=12)
URLS = st.builds("{}://{}/{}".format, st.sampled_from(["http", "https"]), st.sampled_from(["a.b", "b:80"]), TEXT)


@pytest.mark.parametrize(("pattern", "url"), MATCHES)
def test_a_pattern_matches(pattern: str, url: str) -> None:
    assert UrlPattern(pattern).matches(url)


@pytest.mark.parametrize(("pattern", "url"), DIFFERS)
def test_a_pattern_does_not_match(pattern: str, url: str) -> None:
    assert not UrlPattern(pattern).matches(url)


@given(URLS)
def test_a_url_matches_itself_with_its_scheme_and_without(url: str) -> None:
    assert UrlPattern(url).matches(url)
    assert UrlPattern(url.partition("://")[2]).matches(url)
    assert UrlPattern("*").matches(url)


@given(st.lists(TEXT, min_size=1, max_size=4), URLS)
def test_a_star_is_any_text(parts: list[str], url: str) -> None:
    meant = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    assert UrlPattern("https://*/" + "*".join(parts)).matches(url) == (
        url.startswith("https://")
        and any(meant.fullmatch(url, match.end()) for match in re.finditer("/", url) if match.end() > len("https://"))
    )


@given(URLS, st.integers(0, 20), st.integers(0, 20))
def test_any_part_of_a_url_may_be_a_star(url: str, start: int, length: int) -> None:
    rest = url.partition("://")[2]
    assert UrlPattern(f"*://*{rest[start + length :]}").matches(url)
    assert UrlPattern(f"{rest[: max(start, 4)]}*").matches(url)


@pytest.mark.parametrize("pattern", ["/(unclosed/", "/a{2,1}/", ",".join(["{a,b,c,d,e}"] * 3)])
def test_a_pattern_that_cannot_be_used_is_refused_with_its_field(pattern: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        UrlPattern(pattern, "patterns")
    assert refused.value.details["context"] == {"field": "patterns"}


def test_an_endless_expression_matches_nothing_and_is_reported() -> None:
    pattern = UrlPattern(r"/^https:\/\/(x+x+)+y$/")
    assert not pattern.matches("https://" + "x" * 4_000)
    assert pattern.too_slow
    assert not pattern.matches("https://xxy")


@pytest.mark.parametrize(
    ("pattern", "sockets"),
    [
        ("/live/*", ["ws://*:*/live/*", "wss://*:*/live/*"]),
        ("wss://example.com/live", [r"wss://example.com/live\?"]),
        ("example.com:8080", ["ws://example.com:8080/*", "wss://example.com:8080/*"]),
        ("*://*.example.com/*", ["ws://{*.}?example.com/*", "wss://{*.}?example.com/*"]),
        ("wss://*chat*", ["wss://*chat*:*/*", "wss://*:*/*chat*"]),
        ("wss://a.b/{x,y}?q=(1)", [r"wss://a.b/x\?q=\(1\)", r"wss://a.b/y\?q=\(1\)"]),
        ("https://example.com/*", []),
        (r"/live\/\d+/", []),
    ],
)
def test_a_glob_says_which_web_sockets_it_means_in_the_browsers_own_words(pattern: str, sockets: list[str]) -> None:
    assert UrlPattern(pattern).sockets() == sockets

"""Tests the owner's rules about where pages may go."""

import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from browse_together.contract.errors import Forbidden
from browser_service.security.globs import matches_glob
from browser_service.security.url_rules import UrlRules, url_rule
from browser_service.security.urls import UrlPolicy
from browser_service.settings import Settings


def allowing(*texts: str) -> UrlPolicy:
    return UrlPolicy(rules=UrlRules(allowed=tuple(url_rule(text, allows=True) for text in texts)))


def denying(*texts: str) -> UrlPolicy:
    return UrlPolicy(rules=UrlRules(denied=tuple(map(url_rule, texts))))


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        (
            "https://shop.example",
            [
                "https://shop.example",
                "https://SHOP.example./x",
                "https://shop.example:443/",
                "https://me@shop.example/",
            ],
            [
                "https://shop.example.evil/",
                "https://shop.example@evil/",
                "https://shop.example:444/",
                "http://shop.example/",
                "https://a.shop.example/",
                "https://evil/https://shop.example",
                "https://evil?https://shop.example",
                "https://evil\\@shop.example/",
            ],
        ),
        ("shop.example", ["http://shop.example:81/x", "https://shop.example/"], ["https://a.shop.example/"]),
        ("*.shop.example", ["https://a.b.shop.example/", "https://shop.example/"], ["https://notshop.example/"]),
        ("https://shop.example/cart", ["https://shop.example/cart/1?x=2", "https://shop.example/%63art"], []),
        ("https://shop.example/cart", ["https://shop.example/cart"], ["https://shop.example/carts"]),
        ("https://shop.example/a?id=1", ["https://shop.example/a?id=1&b"], ["https://shop.example/a?id=2"]),
        ("https://shop.example/*.pdf", ["https://shop.example/a/b.pdf?x"], ["https://shop.example/a.html?.pdf"]),
        ("*://*:8080/*", ["http://a.example:8080/x", "https://b:8080"], ["http://a.example:8081/x"]),
        ("localhost:3000", ["http://localhost:3000/"], ["http://localhost:3001/", "http://localhost.evil:3000/"]),
        ("10.*", ["http://10.1.2.3/", "http://0xA000005/"], ["http://10.evil.example/", "http://110.0.0.1/"]),
        ("http://10.0.0.5", ["http://[::ffff:10.0.0.5]/", "http://167772165/"], ["http://10.0.0.6/"]),
        ("https://bücher.example", ["https://xn--bcher-kva.example/"], ["https://bucher.example/"]),
        ("https://faß.example", ["https://xn--fa-hia.example/"], ["https://fass.example/"]),
        ("::1", ["http://[0:0:0:0:0:0:0:1]:8080/"], ["http://[::2]/"]),
        ("https://", ["https://anywhere.example/"], ["http://anywhere.example/"]),
        ("http*://shop.example/*", ["http://shop.example/", "https://shop.example/x"], ["https://other.example/"]),
    ],
)
def test_a_rule_is_compared_by_the_parts_of_a_url(rule: str, inside: list[str], outside: list[str]) -> None:
    for url in inside:
        assert allowing(rule).permits(url), url
        assert not denying(rule).permits(url), url
    for url in outside:
        assert not allowing(rule).permits(url), url
        assert denying(rule).permits(url), url


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/admin",
        "https://shop.example//admin/x",
        "https://shop.example/%61dmin",
        "https://shop.example/%2561dmin",
        "https://shop.example/x/../admin",
        "https://shop.example/x/%2e%2e/admin",
        "https://shop.example/x/..%2fadmin",
        "https://shop.example/x/..%5cadmin",
        "https://shop.example\\admin",
        "https://shop.example/admin;x=1",
        "https://shop.example/%2fadmin",
    ],
)
def test_a_denied_path_is_denied_in_every_way_that_a_server_may_read_it(url: str) -> None:
    assert not denying("https://shop.example/admin").permits(url)


def test_an_allowed_path_is_left_by_no_way_that_a_server_may_read() -> None:
    policy = allowing("https://shop.example/public")
    assert policy.permits("https://shop.example/public/a%20b?x=/../..")
    for url in ("/public/..%2fadmin", "/public/%252e%252e/admin", "/public%2f..%2fadmin", "/public/..\\admin"):
        assert not policy.permits(f"https://shop.example{url}"), url


def test_a_denied_url_is_denied_even_if_also_allowed() -> None:
    rules = UrlRules((url_rule("*.shop.example"),), (url_rule("https://shop.example/admin"),))
    policy = UrlPolicy(rules=rules)
    assert policy.permits("https://shop.example/")
    assert not policy.permits("https://shop.example/admin")
    assert not policy.permits("https://other.example/")


def test_a_proxy_that_a_session_chooses_lies_where_requests_may_go() -> None:
    rules = UrlRules(denied=(url_rule("*.evil.example"), url_rule("https://shop.example/admin")), for_requests=True)
    policy = UrlPolicy(rules=rules)
    policy.check_server("shop.example:3128")
    with pytest.raises(Forbidden, match="BROWSE_URL_BLACKLIST"):
        policy.check_server("proxy.evil.example:3128")
    UrlPolicy(rules=replace(rules, for_requests=False)).check_server("proxy.evil.example:3128")


def test_rules_hold_for_a_blob_of_a_site_and_for_no_blank_page() -> None:
    assert not denying("shop.example").permits("blob:https://shop.example/0f3a")
    assert not allowing("shop.example").permits("blob:https://evil.example/0f3a")
    for policy in (denying("*"), allowing("shop.example")):
        assert policy.permits("about:blank")
    assert allowing("shop.example").check_own("data:,x") == "data:,x"
    with pytest.raises(Forbidden, match="data:"):
        denying("data:").check_own("data:,x")


def test_a_refusal_names_the_rule_and_what_the_owner_does() -> None:
    with pytest.raises(Forbidden, match=r"denied by the rule \*\.shop\.example") as raised:
        denying("other.example", "*.shop.example").check("https://a.shop.example/")
    context = raised.value.details["context"]
    assert context == {"field": "url", "setting": "BROWSE_URL_BLACKLIST", "rule": "*.shop.example"}
    assert "changes url_blacklist in the file" in (raised.value.advice or "")
    with pytest.raises(Forbidden, match=r"allowed is only a\.example, b\.example") as raised:
        allowing("a.example", "b.example").check("https://c.example/")
    assert "changes url_whitelist in the file" in (raised.value.advice or "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "matches no URL"),
        ("/admin", "has no host"),
        ("https://", ""),
        ("https:///x", "has no host"),
        ("https://shop.example/a b", "matches no URL"),
        ("https://me@shop.example", "has no host that a URL can have"),
        ("https://shop.example#top", "Write 'https://shop.example'"),
        ("wss://shop.example", "write https://"),
        ("ftp://shop.example", "no page is ever opened by ftp:"),
        ("https://shop.example:99999", "is no port"),
        ("https://-shop.example", "is no host"),
        ("https://sh%00op.example", "is no host"),
        ("10.0.0.0/8", "such as 10.*"),
        ("https://shop.example\\x", "matches no URL"),
        ("x" * 501, "matches no URL"),
    ],
)
def test_a_rule_that_no_url_matches_is_refused_at_start_with_the_right_form(text: str, says: str) -> None:
    for name in ("url_whitelist", "url_blacklist"):
        if says:
            with pytest.raises(ValidationError) as raised:
                Settings(**{name: (text,)})  # type: ignore[arg-type] # pydantic makes the types
            assert says in str(raised.value)
        else:
            assert getattr(Settings(**{name: (text,)}), name) == (text,)  # type: ignore[arg-type] # as above


def test_schemes_that_are_never_opened_may_be_denied_and_not_allowed() -> None:
    usual = "file://, javascript:"
    assert Settings(url_blacklist=usual).url_blacklist == ("file://", "javascript:")
    with pytest.raises(ValidationError, match="matches nothing"):
        Settings(url_whitelist=usual)


def test_a_rule_of_many_stars_takes_no_longer_for_a_long_url() -> None:
    policy = denying("https://shop.example/" + "*a" * 200)
    began = time.process_time()
    policy.permits("https://shop.example/" + "a" * 60_000 + "b")
    assert time.process_time() - began < 1  # a backtracking one would take years
    assert not policy.permits("https://shop.example/" + "b" * 70_000)


_PARTS = st.sampled_from(["a", "ab", "*", "b", "/", ".", "ba"])


@settings(deadline=None)  # a busy machine is no defect
@given(st.lists(_PARTS, max_size=8).map("".join), st.text(alphabet="ab/.", max_size=20))
def test_a_glob_means_what_an_expression_means(glob: str, text: str) -> None:
    expression = ".*".join(map(re.escape, glob.split("*")))
    assert matches_glob(glob, text) == (re.fullmatch(expression, text) is not None)


@settings(deadline=None)  # a busy machine is no defect
@given(st.text(max_size=60))
def test_a_text_is_a_rule_or_is_explained(text: str) -> None:
    for allows in (True, False):
        try:
            url_rule(text, allows=allows)
        except ValueError as error:
            assert str(error)  # noqa: PT017 - not every text is refused

"""Tests where pages may go: decided on what a caller asks for, and again on what a browser makes of it.

It is a little longer than 300 lines because each spelling of a refused address is an example of one of its tests.
"""

from dataclasses import replace
from ipaddress import ip_address

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from browse_together.contract.errors import BrowseError, Forbidden, ValidationFailed
from browser_service.http.edge import loopback_hosts
from browser_service.security.url_rules import UrlRules, url_rule
from browser_service.security.urls import UrlPolicy
from browser_service.security.web_address import web_address
from browser_service.settings import Settings
from tests.support.each import each

OWN_PORT = 8888
POLICY = UrlPolicy(own_hosts=lambda: frozenset(loopback_hosts(OWN_PORT)))

METADATA = [
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254",
    "http://169.254.169.254.",
    "http://169.254.169.254:80/",
    "http://user:secret@169.254.169.254/",
    "http://2852039166/",
    "http://0xA9FEA9FE/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.16689662/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://%31%36%39.254.169.254/",
    "http://１６９.２５４.１６９.２５４/",  # noqa: RUF001 - browsers read these digits
    "http://169。254。169。254/",
    "http://①⑥⑨.254.169.254/",
    "http://169.254.169.2\u00ad54/",
    "http://169.254.169.254\\@good.example/",
    "http:\\\\169.254.169.254/",
    "ht\ntp://169.254.\t169.254/",
    " http://169.254.169.254 ",
    "http://METADATA.google.internal/computeMetadata/v1/",
    "http://metadata.google.internal./",
    "http://169.254.170.2/v2/credentials",
    "http://100.100.100.200/latest/meta-data/",
    "http://0x646464c8/",
    "http://192.0.0.192/opc/v1/",
    "http://0300.0.0.192/",
    "http://168.63.129.16/machine?comp=goalstate",
    "http://2822734096/",
    "http://[fd20:ce::254]/",
    "http://[fd20:00ce:0:0:0:0:0:254]/",
    "http://[fd00:c1::a9fe:a9fe]/",
    "http://[::169.254.169.254]/",
    "http://[::ffff:0:169.254.169.254]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://[64:ff9b::100.100.100.200]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[2002:a9fe:a9fe:1:2:3:4:5]/",
    "http://[2001:0:102:304:0:ffff:5601:5601]/",
    "http://[fd00::5efe:169.254.169.254]/",
    "http://[::ffff:6464:64c8]/",
    "http://[febf::1]/",
    "http://instance-data/latest/meta-data/",
    "http://INSTANCE-DATA.:80/",
    "http://instance-data.ec2.internal/",
    "http://ｍｅｔａｄａｔａ.google.internal/",  # noqa: RUF001 - browsers read these letters
    "http://metadata。google。internal/",
    "blob:http://169.254.169.254/0f3a",
]
OWN = [
    f"http://127.0.0.1:{OWN_PORT}/",
    f"http://localhost:{OWN_PORT}/api/browser",
    f"http://LOCALHOST.:{OWN_PORT}/",
    f"http://[::1]:{OWN_PORT}/",
    f"http://[0:0:0:0:0:0:0:1]:{OWN_PORT}/",
    f"http://[::ffff:127.0.0.1]:{OWN_PORT}/",
    f"http://127.1:{OWN_PORT}/",
    f"http://2130706433:{OWN_PORT}/",
    f"http://0x7f000001:{OWN_PORT}/",
    f"http://127.0.0.2:{OWN_PORT}/",
    f"http://0.0.0.0:{OWN_PORT}/",
    f"http://0:{OWN_PORT}/",
    f"http://[::]:{OWN_PORT}/",
    f"http://evil.localhost:{OWN_PORT}/",
    f"https://127.0.0.1:{OWN_PORT}/",
]
SCHEMES = [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,<h1>x",
    "chrome://version",
    "view-source:http://127.0.0.1/",
    "ftp://127.0.0.1/",
    "about:srcdoc",
    "about:version",
    "ws://127.0.0.1/",
    "chrome-extension://abc/page.html",
    "filesystem:http://127.0.0.1/temporary/x",
]


@each({url: url for url in METADATA})
def test_a_metadata_address_is_refused_however_it_is_spelled(url: str) -> None:
    with pytest.raises(Forbidden, match="metadata"):
        POLICY.check(url)


@pytest.mark.parametrize(
    ("named", "urls"),
    [
        ("[2001:db8::1]", ["https://[2001:db8::1]/", "http://[2001:DB8:0:0::1]/x", "wss://[2001:db8::1]/"]),
        ("[2001:db8::1]:8443", ["https://[2001:db8::1]:8443/", "https://[2001:db8:0::1]:8443/x"]),
        ("Browse.Example", ["https://browse.example./", "http://u@browse.example/", "https://%62rowse.example:443/"]),
        ("203.0.113.5", ["https://3405803781/", "https://[::ffff:203.0.113.5]/"]),
    ],
)
def test_no_page_opens_the_address_by_which_people_reach_the_service(named: str, urls: list[str]) -> None:
    policy = UrlPolicy(own_hosts=lambda: frozenset({named}))
    assert [url for url in urls if policy.permits(url)] == []
    place = web_address(urls[0])
    assert policy.refusal_of_host(place.host, place.port)
    assert policy.permits("https://[2001:db8::2]:8443/")
    assert policy.permits("https://browse.example:8443/")


ELSEWHERE = UrlPolicy(
    own_hosts=lambda: frozenset({"10.0.0.5:8888", "203.0.113.5"}), elsewhere=True, opens_loopback=False
)


@pytest.mark.parametrize(
    ("address", "port"), [("10.0.0.5", 8888), ("::ffff:10.0.0.5", 8888), ("203.0.113.5", 443), ("203.0.113.5", 80)]
)
def test_no_name_leads_a_page_of_a_host_elsewhere_to_an_address_of_the_service(address: str, port: int) -> None:
    assert ELSEWHERE.needs_gate
    assert "own address" in ELSEWHERE.refusal_of_address(ip_address(address), port)
    assert ELSEWHERE.refusal_of_address(ip_address("10.0.0.5"), 8889) == ""


@pytest.mark.parametrize("address", ["10.0.0.9", "::ffff:10.0.0.9"])
def test_no_name_leads_a_page_to_a_machine_that_its_host_is_told_to_refuse(address: str) -> None:
    policy = replace(ELSEWHERE, refuses=frozenset({"10.0.0.9"}))
    assert "--refuse" in policy.refusal_of_address(ip_address(address), 6379)
    assert policy.refusal_of_address(ip_address("10.0.0.8"), 6379) == ""


@each({url: url for url in ("http://localhost:3000/", "http://127.1/", "http://[::1]:80/", "https://x.localhost/")})
def test_a_host_elsewhere_does_not_open_its_own_loopback_and_names_the_session_that_has_the_callers(url: str) -> None:
    with pytest.raises(Forbidden, match="another machine") as refused:
        ELSEWHERE.check(url)
    assert 'open_page {"sessionId": "default"' in str(refused.value.advice)
    opened = replace(ELSEWHERE, opens_loopback=True)
    assert opened.check(url) == url
    assert "another machine" in ELSEWHERE.refusal_of_address(ip_address("127.0.0.9"), 3000)
    assert opened.refusal_of_address(ip_address("127.0.0.9"), 3000) == ""
    assert "metadata" in opened.refusal_of_address(ip_address("fe80::1"), 80)


@pytest.mark.parametrize("url", OWN)
def test_the_services_own_port_is_refused_however_this_machine_is_spelled(url: str) -> None:
    with pytest.raises(Forbidden, match="own address"):
        POLICY.check(url)


@pytest.mark.parametrize("url", SCHEMES)
def test_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(Forbidden, match="may not be opened"):
        POLICY.check(url)


def test_only_a_callers_own_navigation_may_be_a_data_url() -> None:
    for url in ("data:text/html,<h1>x", " DATA:,x", "about:blank", "https://example.com/"):
        assert POLICY.check_own(url) == url.strip()
    for url in ("about:srcdoc", "about:version", "file:///etc/passwd", "javascript:alert(1)", "chrome://version"):
        with pytest.raises(Forbidden, match="may not be opened"):
            POLICY.check_own(url)
    with pytest.raises(Forbidden, match="may not be opened"):
        POLICY.check("data:,x")
    with pytest.raises(ValidationFailed, match="65,536"):
        POLICY.check_own("data:," + "ä" * 40_000)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://127.0.0.1:8900/",
        "http://localhost:80/",
        "http://[::1]:8900/x",
        f"http://example.com:{OWN_PORT}/",
        f"http://mylocalhost:{OWN_PORT}/",
        "http://10.0.0.1/",
        "http://1.169.254.169/",
        "http://169.253.169.254/",
        "https://bücher.example/ä?ö=ü#ß",
        "http://metadata.example/",
        "about:blank",
        "about:blank#x",
        "blob:https://example.com/0f3a",
        " https://example.com/ ",
        "https://example.com/a\\b?c=\\d",
        "http://good.example\\@169.254.169.254/",
    ],
)
def test_the_rest_of_the_web_is_allowed(url: str) -> None:
    assert POLICY.check(url) == url.strip()


@pytest.mark.parametrize(
    ("url", "guess"),
    [
        ("example.com", "https://example.com"),
        ("example.com:8080/x", "https://example.com:8080/x"),
        ("localhost:3000", "http://localhost:3000"),
        ("//example.com/x", "https://example.com/x"),
        ("   ", "https://example.com/"),
        ("/cart", "https://example.com/"),
        ("", "https://example.com/"),
    ],
)
def test_a_url_without_a_scheme_is_explained(url: str, guess: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        POLICY.check(url)
    assert raised.value.advice is not None
    assert f'{{"url": "{guess}"}}' in raised.value.advice
    assert raised.value.details["context"] == {"field": "url"}


@pytest.mark.parametrize("url", ["http://", "https://:80/", "http://a:port/", "http://a:99999/", "http://[x"])
def test_a_url_without_a_usable_host_is_explained(url: str) -> None:
    with pytest.raises(ValidationFailed):
        POLICY.check(url)


def test_a_relative_url_is_judged_from_where_the_page_is() -> None:
    base = "https://example.com/shop/"
    assert POLICY.check_from(base, "/cart") == "https://example.com/cart"
    for url in ("//169.254.169.254/x", "\\\\169.254.169.254\\x", "\t//169.254.169.254", "/\\169.254.169.254/x"):
        with pytest.raises(Forbidden):
            POLICY.check_from(base, url)
    with pytest.raises(ValidationFailed, match="no scheme"):
        POLICY.check_from(base, "//[")


def test_only_allowed_hosts_are_opened_where_some_are_named() -> None:
    allowed = ("*.example.com", "*.bücher.example", "10.0.0.5")
    policy = UrlPolicy(rules=UrlRules(tuple(url_rule(text, allows=True) for text in allowed)))
    for url in (
        "https://example.com/",
        "https://a.b.example.com./",
        "https://xn--bcher-kva.example/",
        "http://167772165/",
    ):
        assert policy.permits(url)
    for url in ("https://example.org/", "https://notexample.com/", "https://example.com.evil.org/", "http://10.0.0.6/"):
        assert not policy.permits(url)


def test_denied_hosts_are_not_opened_though_they_are_spelled_otherwise() -> None:
    denied = ("*.Bank.example", "*.bücher.example", "10.0.0.5")
    policy = UrlPolicy(rules=UrlRules(denied=tuple(map(url_rule, denied))))
    for url in ("https://bank.example/", "https://my.BANK.example/", "https://bücher.example/", "http://0xA000005/"):
        assert not policy.permits(url)
    assert policy.permits("https://example.com/")


def test_a_host_header_that_no_client_sends_is_refused() -> None:
    for value in ("https://browse.example/", "browse.example:port", "browse.example/x"):
        with pytest.raises(ValidationError, match=r"such as 'browse\.example:\d+'"):
            Settings(allowed_hosts=value)
    assert Settings(allowed_hosts="browse.example:80,[::1]:8888,me").allowed_hosts == (
        "browse.example:80",
        "[::1]:8888",
        "me",
    )


@settings(deadline=None)  # a busy machine is no defect
@given(st.text())
@example("http://[::1%25eth0]/")
@example("http://\x00/")
@example("http://a\ud800b/")
@example("http://[::ffff:1.2.3.4%1]/")
@example("http://" + "a" * 70 + ".example/")
@example("http://xn--/")
@example("//[")
@example("http://%00/")
def test_nothing_but_our_own_errors_is_ever_raised_for_a_text(url: str) -> None:
    _judge(url)


_HOSTS = st.text(alphabet=st.sampled_from("0123456789abcdefx.:%[]@\\/-_~。１①\u00ad\u200b \t\ufeff"), max_size=40)


@settings(deadline=None)  # a busy machine is no defect
@given(st.sampled_from(["http", "https", "HTTP", "blob:http"]), _HOSTS, st.text(max_size=5))
def test_nothing_but_our_own_errors_is_ever_raised_for_a_host(scheme: str, host: str, rest: str) -> None:
    _judge(f"{scheme}://{host}{rest}")


@settings(deadline=None)  # a busy machine is no defect
@given(st.integers(min_value=0xA9FE0000, max_value=0xA9FEFFFF), st.sampled_from([str, hex, lambda n: f"0{n:o}"]))
def test_every_link_local_address_is_refused_as_a_number(number: int, spelled: "type[str]") -> None:
    assert not POLICY.permits(f"http://{spelled(number)}/")


def _judge(url: str) -> None:
    try:
        POLICY.check(url)
        POLICY.check_from("https://example.com/", url)
    except BrowseError as error:
        if not isinstance(error, Forbidden | ValidationFailed) or not error.message:
            raise


# --- in a browser ---------------------------------------------------------------------------------------------------

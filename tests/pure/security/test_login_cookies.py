"""Tests which cookies look like a login, and what is told of the sites that have such ones."""

import pytest

from browse_together.contract.model import Json
from browser_service.rules.login_cookies import SiteLogin, looks_like_login, signs_in, site_logins

LONG = "0123456789abcdef"


def cookie(name: str, domain: str = "a.example", *, value: str = LONG, ends: float = -1, hidden: bool = True) -> Json:
    return {"name": name, "value": value, "domain": domain, "path": "/", "expires": ends, "httpOnly": hidden}


@pytest.mark.parametrize("name", ["user_session", "__Secure-1PSID", "xs", "connect.sid", "remember_web"])
def test_a_long_value_that_scripts_cannot_read_looks_like_a_login(name: str) -> None:
    assert looks_like_login(cookie(name))


def test_a_value_that_scripts_can_read_looks_like_a_login_if_its_name_says_so() -> None:
    assert looks_like_login(cookie("PHPSESSID", hidden=False))
    assert not looks_like_login(cookie("cart", hidden=False))


@pytest.mark.parametrize(
    "name", ["_csrf", "XSRF-TOKEN", "CookieConsent", "_ga", "_hjSession_1", "__cf_bm", "cf_clearance", "IDE", "AWSALB"]
)
def test_what_sites_set_for_all_visitors_does_not(name: str) -> None:
    assert not looks_like_login(cookie(name))


def test_a_short_value_does_not() -> None:
    assert not looks_like_login(cookie("session", value="de"))


def test_hosts_below_a_domain_with_a_login_are_one_site_which_ends_with_the_first_of_its_cookies() -> None:
    cookies = [
        cookie("sid", ".a.example", ends=300),
        cookie("auth", "mail.a.example", ends=200),
        cookie("session", "www.a.example"),
        cookie("session", "www.b.example"),
        cookie("_ga", ".example", ends=100),
    ]
    assert site_logins(cookies) == [SiteLogin("a.example", 3, 200), SiteLogin("www.b.example", 1, None)]


def test_a_page_to_sign_in_at_is_told_by_its_address() -> None:
    assert signs_in("a.example/users/sign_in")
    assert signs_in("login.a.example/")
    assert not signs_in("a.example/catalogin")

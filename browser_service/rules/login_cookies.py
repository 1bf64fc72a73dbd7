"""Tells by a session's cookies where it seems to be signed in, and until when. No value of a cookie is told."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call

DAY_S: Final = 86_400
_LONG_ENOUGH: Final = 16
"""A shorter value could be guessed: it is a setting, such as a language."""
_SAYS_SO: Final = re.compile(r"sess|sid\b|auth|log_?in|signed|token|jwt|remember", re.IGNORECASE)
_IS_OTHER: Final = re.compile(
    r"csrf|xsrf|consent|^_g|^_fb|^_hj|^_pk|^__cf|^cf_|^(ide|nid|muid)$|^ajs_|^mp_|^bm_|ak_bm|incap|visid|visitor|anon"
    r"|datadome|awsalb|device|ab_?test",
    re.IGNORECASE,
)
"""Names of cookies that guard forms, tell robots from people, share out load, count visits, or keep a consent."""
_SIGNS_IN: Final = re.compile(r"\b(log-?_?in|sign-?_?in|sso|oauth2?|auth(enticate|orize)?)\b", re.IGNORECASE)


class SiteLogin(NamedTuple):
    """What a site's cookies show of a login there."""

    site: str
    cookies: int
    ends_at: float | None
    """The first end of its cookies that have one (Unix time); None if the browser forgets them when it ends."""


def looks_like_login(cookie: Json) -> bool:
    """Return whether a cookie is too long to be guessed, and is hidden from scripts or named like a login, but not
    named like what sites set for all their visitors."""
    name, value = str(cookie.get("name", "")), str(cookie.get("value", ""))
    told = bool(cookie.get("httpOnly")) or _SAYS_SO.search(name) is not None
    return told and len(value) >= _LONG_ENOUGH and _IS_OTHER.search(name) is None


def site_logins(cookies: Iterable[Json]) -> list[SiteLogin]:
    """Return the sites with cookies that look like a login. A site is the widest domain that has such a cookie."""
    found = [(str(each["domain"]), each) for each in cookies if looks_like_login(each)]
    wide = sorted({domain.lstrip(".") for domain, _ in found if domain.startswith(".")}, key=len)
    ends = defaultdict[str, list[float]](list)
    for domain, each in found:
        host = domain.lstrip(".")
        site = next((top for top in wide if is_at(host, top)), host)
        expires = each.get("expires", -1)
        ends[site].append(float(expires) if isinstance(expires, int | float) else -1)
    return [
        SiteLogin(site, len(each), min((end for end in each if end > 0), default=None))
        for site, each in sorted(ends.items())
    ]


def is_at(host: str, site: str) -> bool:
    """Return whether a host is a site's own or one below it."""
    return f".{host}".endswith(f".{site}")


def signs_in(place: str) -> bool:
    """Return whether a host and path look like those of a page to sign in at."""
    return _SIGNS_IN.search(place) is not None


def is_bound(site: str, hosts: Iterable[str]) -> bool:
    """Return whether one of the hosts that bind logins to their browser is of a site."""
    return any(is_at(host, site) or is_at(site, host) for host in hosts)


def bound_words(cookies: Iterable[Json], hosts: Collection[str]) -> str:
    """Say which logins that these cookies show do not last elsewhere, and what does; "" if all may."""
    sites = [login.site for login in site_logins(cookies) if is_bound(login.site, hosts)]
    if not sites:
        return ""
    return (
        f"bound to the browser in which they were made, and mostly over within minutes elsewhere: {', '.join(sites)}. "
        f"There a person signs in anew: {next_call('login')}; or they attach their own browser: browse-together attach"
    )

"""Counts the requests that a call sends to each site."""

import contextlib
from collections import Counter
from urllib.parse import urljoin

from browser_service.security.urls import origin_of
from shared.actions.base import Action


def visits(action: Action) -> bool:
    """Return whether the action sends a request to a site, at its `url` or where the page is."""
    return bool(action.navigates or action.request_method)


def count_visits(action: Action, page_url: str) -> Counter[str]:
    """Count the requests of a call per origin, by its URLs or by the page's URL at that point."""
    origins: Counter[str] = Counter()
    for each in action.parts() or (action,):
        url = each.requested_url or page_url
        if visits(each) and (origin := origin_of(url, page_url)):
            origins[origin] += 1
        if each.navigates:
            with contextlib.suppress(ValueError):  # opening it will raise the error
                page_url = urljoin(page_url, url)
    return origins

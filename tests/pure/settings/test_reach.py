"""Tests which settings on where pages may go cannot be kept to together."""

import pytest
from pydantic import ValidationError

from browser_service.settings import Settings


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"private_network": "refuse", "cdp_url": "http://127.0.0.1:9222"}, "leave cdp_url out"),
        ({"url_rules_for": "requests", "url_blacklist": "a.example", "cdp_url": "http://[::1]:1"}, "leave cdp_url out"),
        ({"private_network": "refuse", "attach": "chrome"}, "leave attach out"),
    ],
)
def test_rules_that_nothing_could_check_are_refused_at_start(given: dict[str, str], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Settings.alone(given)
    Settings.alone({**given, "private_network": "allow", "url_rules_for": "documents"})

"""Tests which host gets a session."""

import pytest

from browse_together.contract.errors import BrowseError, BrowserLaunchFailed, ResourceExhausted, ServiceUnavailable
from browse_together.contract.pages import SessionOptions
from browser_service.rules.placement import BROWSER_MB, HostFacts, Needs, hinders_draining, needs_of, place

CHROMIUM = Needs("chromium")
ALL_ENGINES = frozenset({"chromium", "firefox", "webkit"})


def host(name: str, free_mb: int | None = 1_000, **facts: bool) -> HostFacts:
    return HostFacts(name, frozenset({"chromium"}), display=facts.pop("display", False), free_mb=free_mb, **facts)


def refusal(needs: Needs, *hosts: HostFacts) -> BrowseError:
    with pytest.raises(BrowseError) as refused:
        place(needs, hosts)
    return refused.value


def test_the_host_with_the_most_free_memory_gets_the_session() -> None:
    assert place(CHROMIUM, [host("a", 500), host("b", 900), host("c", 700)]).name == "b"
    assert place(CHROMIUM, [host("a", 500), host("b", None)]).name == "b", "no limit is the most"


@pytest.mark.parametrize("hindered", ["draining", "other_catalogue", "gone"])
def test_a_host_that_may_only_end_what_it_has_gets_nothing_new(hindered: str) -> None:
    assert place(CHROMIUM, [host("a", 9_000, **{hindered: True}), host("b", 300)]).name == "b"


def test_engine_and_display_are_looked_at() -> None:
    firefox = HostFacts("f", ALL_ENGINES, display=False, free_mb=500)
    assert place(Needs("firefox"), [host("a", 9_000), firefox]).name == "f"
    assert place(Needs("chromium", windows=True), [host("a", 9_000), host("b", 500, display=True)]).name == "b"


def test_a_browser_of_its_own_needs_more_room() -> None:
    own = Needs("chromium", own_browser=True)
    assert place(own, [host("a", BROWSER_MB)]).name == "a"
    refused = refusal(own, host("a", BROWSER_MB - 1))
    assert isinstance(refused, ResourceExhausted)
    assert "a: 399 MB free, and 400 are needed" in refused.message
    assert "close_page" in str(refused.body().hint)


def test_a_refusal_says_whether_waiting_helps() -> None:
    assert isinstance(refusal(CHROMIUM, host("a", gone=True)), ServiceUnavailable)
    assert isinstance(refusal(CHROMIUM), ServiceUnavailable)
    assert isinstance(refusal(Needs("webkit"), host("a")), BrowserLaunchFailed)
    assert isinstance(refusal(CHROMIUM, host("a", draining=True)), ResourceExhausted)


def test_the_needs_of_a_session_are_its_own_options_or_else_the_services() -> None:
    assert needs_of(SessionOptions(), "firefox", windows=True) == Needs("firefox", windows=True)
    chosen = SessionOptions(browser_type="webkit", headless=True, own_browser=True)
    assert needs_of(chosen, "firefox", windows=True) == Needs("webkit", windows=False, own_browser=True)


def test_the_last_fitting_host_cannot_be_drained() -> None:
    a, b = host("a"), host("b", display=True)
    assert hinders_draining(a, [CHROMIUM], [a, b]) == ""
    assert hinders_draining(b, [Needs("chromium", windows=True)], [a, b]) == (
        "no other host can have its sessions (a: without a display)"
    )
    full = host("full", free_mb=10)
    assert "full: 10 MB free, and 100 are needed" in hinders_draining(a, [CHROMIUM], [a, full])
    assert hinders_draining(a, [], [a, full]) == ""
    assert hinders_draining(a, [], [a, host("b", draining=True)]) == "there is no other host"

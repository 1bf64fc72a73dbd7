"""Tests what becomes of Playwright's errors where the page itself was too busy to be asked about them."""

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from shared.actions.interaction import Click
from shared.errors import AmbiguousSelector


def test_a_selector_that_matches_several_is_ambiguous_though_none_of_them_can_be_named() -> None:
    words = 'Locator.click: Error: strict mode violation: locator("button") resolved to 3 elements:\n  1) <button>Send'
    error = errors.translate(PlaywrightError(words), Click(selector="button"), url="http://a.example/")
    assert isinstance(error, AmbiguousSelector)
    assert error.message == "Selector 'button' matches 3 elements."
    assert "strict" in (error.hint or "")

"""Tests what becomes of Playwright's errors that the browser of the tests does not always make."""

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from shared.actions.interaction import Click
from shared.actions.sessions import GrantPermissions
from shared.errors import AmbiguousSelector, ValidationFailed


def test_a_selector_that_matches_several_is_ambiguous_though_none_of_them_can_be_named() -> None:
    words = 'Locator.click: Error: strict mode violation: locator("button") resolved to 3 elements:\n  1) <button>Send'
    error = errors.translate(PlaywrightError(words), Click(selector="button"), url="http://a.example/")
    assert isinstance(error, AmbiguousSelector)
    assert error.message == "Selector 'button' matches 3 elements."
    assert "strict" in (error.hint or "")


def test_the_error_for_an_impossible_permission_names_the_argument() -> None:
    """The whole browser refuses it, and the headless shell does not."""
    words = "CDPSession.send: Protocol error (Browser.setPermission): Permission can't be granted in current context."
    action = GrantPermissions(permissions=["camera"], origin="http://shop.example")
    error = errors.translate(PlaywrightError(words), action, url="")
    assert isinstance(error, ValidationFailed)
    assert error.details["context"] == {"field": "origin", "lastError": words}
    assert "https" in str(error.advice)

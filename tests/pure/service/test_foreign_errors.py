"""Tests what becomes of Playwright's errors that the browser of the tests does not always make."""

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browse_together.contract.actions.interaction import Click
from browse_together.contract.actions.sessions import GrantPermissions
from browse_together.contract.actions.tracing import StopTracing
from browse_together.contract.errors import AmbiguousSelector, ResourceExhausted, ValidationFailed
from browser_service.host import errors


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


def test_a_full_disk_of_the_browsers_machine_is_named() -> None:
    words = "Tracing.stop: ENOSPC: no space left on device, write"
    error = errors.translate(PlaywrightError(words), StopTracing(), url="")
    assert isinstance(error, ResourceExhausted)
    assert error.message == "stop_tracing could not be done: the disk of the browser's machine is full."


def test_of_an_act_that_still_waited_for_its_element_it_is_known_that_nothing_was_done() -> None:
    waiting = "- waiting for locator('button')"
    for log, known in (
        (waiting, True),
        (f"{waiting}\n  - locator resolved to <button>\n  - attempting click action", False),
        (f"{waiting}\n  - performing click action\n  {waiting}", False),
    ):
        words = f"Locator.click: Timeout 1000ms exceeded.\nCall log:\n  {log}\n"
        error = errors.translate(PlaywrightTimeout(words), Click(selector="button"), url="http://a.example/")
        assert ("notBegun" in str(error.details["context"])) == known, log

"""Tests the prompts: their text has what is given, and what is wrong with an argument is said with its name."""

import json

import pytest
from pydantic import JsonValue

from browse_together.contract.errors import ValidationFailed
from browse_together.contract.prompts import PROMPTS, named

FIELDS: list[JsonValue] = [
    {"name": "title", "description": "The <b>title</b>", "selector": "h1"},
    {"name": "price", "description": "What it costs", "selector": ".price"},
]
FORM: list[JsonValue] = [
    {"label": "Email", "value": "ann@example.com", "type": "email", "selector": "#email"},
    {"label": "Agree", "value": True, "type": "checkbox", "selector": "#agree"},
]
URL = "https://example.com/shop"


def text(name: str, **arguments: JsonValue) -> str:
    """Return the prompt's text for arguments as a host sends them: everything is text."""
    given = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    return named(name).text(given)


def test_a_website_is_scraped_page_after_page() -> None:
    pagination: JsonValue = {"nextSelector": "a.next", "maxPages": 3}
    assert text("scrape_website", url=URL, fields=FIELDS, pagination=pagination) == (
        "I need to scrape data from https://example.com/shop.\n\nThe data I need:\n"
        "- title: The <b>title</b> (selector: h1)\n- price: What it costs (selector: .price)\n\n"
        "Please:\n1. Navigate to https://example.com/shop\n2. Wait for the page to load completely\n"
        "3. Extract each field using the provided selectors\n4. Format the results as JSON\n"
        "5. Handle any errors gracefully\n\nAlso handle pagination:\n- Next page selector: a.next\n- Max pages: 3\n"
    )


def test_omitted_arguments_are_left_out() -> None:
    assert text("scrape_website", url=URL, fields=FIELDS[:1]) == (
        "I need to scrape data from https://example.com/shop.\n\nThe data I need:\n"
        "- title: The <b>title</b> (selector: h1)\n\n"
        "Please:\n1. Navigate to https://example.com/shop\n2. Wait for the page to load completely\n"
        "3. Extract each field using the provided selectors\n4. Format the results as JSON\n"
        "5. Handle any errors gracefully\n\n"
    )


@pytest.mark.parametrize("waits", [True, False])
def test_a_form_is_filled_and_sent(waits: bool) -> None:  # noqa: FBT001 - a parameter of the test
    submit: JsonValue = {"selector": "#send", "waitForNavigation": waits}
    assert text("fill_form", url=URL, fields=FORM, submit=submit) == (
        "I need to fill out a form at https://example.com/shop.\n\nForm fields:\n"
        "- Email: ann@example.com (type: email, selector: #email)\n"
        "- Agree: true (type: checkbox, selector: #agree)\n\n"
        "After filling, click the submit button: #send\n"
        + ("Wait for navigation after submit.\n" if waits else "")
        + "\nPlease:\n1. Navigate to the form page\n2. Wait for all form fields to be visible\n"
        "3. Fill each field carefully\n4. Verify the values were set correctly\n5. Submit the form\n"
        "6. Capture the result page\n"
    )


def test_a_form_that_is_not_sent_says_nothing_of_sending() -> None:
    assert text("fill_form", url=URL, fields=FORM[:1]).endswith(
        "selector: #email)\n\n\nPlease:\n1. Navigate to the form page\n2. Wait for all form fields to be visible\n"
        "3. Fill each field carefully\n4. Verify the values were set correctly\n"
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({}, "- Viewport screenshot"),
        ({"selector": "#chart"}, "- Element screenshot: #chart"),
        ({"fullPage": True, "selector": "#chart"}, "- Full page screenshot (scrolling)"),
        ({"fullPage": False}, "- Viewport screenshot"),
    ],
)
def test_a_prompt_asks_for_one_kind_of_picture(arguments: dict[str, JsonValue], what: str) -> None:
    assert text("capture_screenshots", url=URL, **arguments) == (
        f"I need screenshots from https://example.com/shop.\n\nCapture requirements:\n{what}\n\n\n\n"
        "Image format: png (quality: 80)"
    )


def test_a_picture_may_want_a_size_and_a_wait() -> None:
    more: dict[str, JsonValue] = {
        "viewport": {"width": 800, "height": 600},
        "waitFor": {"selector": "#chart", "timeout": 2000},
        "format": "jpeg",
        "quality": 60,
    }
    assert text("capture_screenshots", url=URL, **more).endswith(
        "- Viewport screenshot\n\nViewport: 800x600\n\nWait for: #chart (timeout: 2000ms)\n\n"
        "Image format: jpeg (quality: 60)"
    )


WAITS = "\nWait for navigation after submit.\n"


@pytest.mark.parametrize("value", [0, 0.0, "", [], None, False])
def test_values_that_are_falsy_in_javascript_are_false(value: JsonValue) -> None:
    assert WAITS not in text("fill_form", url=URL, fields=FORM, submit={"waitForNavigation": value})


@pytest.mark.parametrize("value", [1, "0", [0], {}, True])
def test_all_other_values_are_true(value: JsonValue) -> None:
    assert WAITS in text("fill_form", url=URL, fields=FORM, submit={"waitForNavigation": value})
    assert "click the submit button: \n" in text("fill_form", url=URL, fields=FORM, submit={})


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("scrape_website", {"fields": "[]"}, "url"),
        ("scrape_website", {"url": URL}, "fields"),
        ("scrape_website", {"url": URL, "fields": "[{"}, "fields"),
        ("scrape_website", {"url": URL, "fields": '{"name": "title"}'}, "fields"),
        ("scrape_website", {"url": URL, "fields": '["title"]'}, "fields"),
        ("scrape_website", {"url": URL, "fields": "[]", "pagination": "[]"}, "pagination"),
        ("fill_form", {"url": URL, "fields": "[]", "submit": "NaN"}, "submit"),
        ("capture_screenshots", {"url": URL, "fullPage": "yes"}, "fullPage"),
        ("capture_screenshots", {"url": URL, "quality": "high"}, "quality"),
        ("capture_screenshots", {"url": URL, "quality": "true"}, "quality"),
        ("capture_screenshots", {"url": URL, "format": "gif"}, "format"),
        ("capture_screenshots", {"url": URL, "size": "1"}, "size"),
    ],
)
def test_a_wrong_argument_is_named(name: str, arguments: dict[str, str], argument: str) -> None:
    with pytest.raises(ValidationFailed, match=f"{argument} of {name}") as refused:
        named(name).text(arguments)
    assert refused.value.details == {"prompt": name, "argument": argument}


def test_an_unknown_prompt_name_lists_the_known_ones() -> None:
    with pytest.raises(ValidationFailed, match=r"Prompt not found: fill_forms\. Did you mean fill_form\?") as refused:
        named("fill_forms")
    assert refused.value.details == {"availablePrompts": [*PROMPTS]}

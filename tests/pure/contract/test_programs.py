"""Tests that an argument which could be a program is declared as one: selectors, style sheets, addresses."""

import re
from collections.abc import Iterator
from typing import Final, get_args

import pytest
from pydantic import BaseModel, JsonValue

from browse_together.contract.actions.arguments import Means
from browse_together.contract.actions.selectors import OUR_ENGINES, check_selector
from browse_together.contract.actions.seven import BrowserClick
from browse_together.contract.catalogue import ACTIONS, parse
from browse_together.contract.errors import ValidationFailed
from tests.support.each import each

NAMES: Final = {
    "selector": re.compile(r"selector|frame|submit|target|mask|element|locator"),
    Means.PROGRAM: re.compile(r"style|template|css"),
    Means.ADDRESS: re.compile(r"url|refer+er"),
}
"""The names that each kind of argument has."""
OTHERS: Final = {
    *("expect_url", "url_filter", "referrer_policy", "mask_color"),
    *("cookies.url", "urls"),  # the action names them itself
}
SLOW: Final = r"/^((\w+\s?)+)+$/"
PATTERNS: Final = {
    "text": f"text={SLOW}",
    "without groups": r"text=/\w+\w+\w+!/",
    "in a chain": f"#form >> text={SLOW}",
    "captured": f"*text={SLOW}",
    "after odd space": f"p >>\ufeff text={SLOW}",
    "in the light": f"text:light={SLOW}",
    "role": f"role=link[name={SLOW}]",
    "description": f"role=link[description = {SLOW}]",
    "placeholder, alt and title": f"internal:attr=[placeholder={SLOW}]",
    "test id": f"internal:testid=[data-testid={SLOW}]",
    "label": f"internal:label={SLOW}",
    "has-text": f"p >> internal:has-text={SLOW}",
    "has-not-text": f"p >> internal:has-not-text={SLOW}",
    "has": r'p >> internal:has="text=/(\\w+)+!/"',
    "has, in other letters": r'p >> internal:has="text=\u002f(\\w+)+!/"',
    "within within": r'p >> internal:or="b >> internal:and=\"text=/(\\\\w+)+!/\""',
    "beside": r'p >> left-of="text=/(\\w+)+!/"',
    "text-matches": r"p:text-matches('(\\w+)+!')",
    "text-matches in other letters": r"p:TEXT\-M\61 tches('(\\w+)+!')",
    "components": f"_react=Item[name={SLOW}]",
    "XPath through all": "//*[count(//*) > 3]",
    "XPath after a word": "//a[b and//c]",
    "XPath twice": "//*[preceding::b[following::b]]",
    "XPath on and on": "//b/preceding::*/following ::*",
    "XPath without a slash": "xpath=descendant::*[preceding::*[preceding::*]]",
    "XPath back and back": "xpath=//p[../p[../p]]",
    "XPath in brackets": "p >> (//p[preceding-sibling::p[preceding-sibling::p]])[1]",
    "long": f"text=/{'a|' * 101}/",
    "optional": "text=/a?a?a?a?aaaa/",
    "a tree": 'aria-template={"kind": "role", "role": "link", "name": {"pattern": "(a+)+b"}}',
    **{engine: f"#delete >> {engine}=%7B%22event%22%3A%22click%22%7D" for engine in OUR_ENGINES},
}


def leaves(
    annotation: object, marks: tuple[object, ...] = (), inside: tuple[object, ...] = ()
) -> Iterator[tuple[str, str, object]]:
    """Yield the path and the name of each text in an argument, with what it is declared to be."""
    if given := getattr(annotation, "__metadata__", ()):
        yield from leaves(get_args(annotation)[0], (*marks, *given), inside)
    elif annotation is str:
        is_selector = any(getattr(each, "func", None) is check_selector for each in marks)
        yield "", "", "selector" if is_selector else next((each for each in marks if isinstance(each, Means)), None)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in inside:
        for name, field in annotation.model_fields.items():
            for path, last, kind in leaves(field.annotation, tuple(field.metadata), (*inside, annotation)):
                yield f".{name}{path}", last or name, kind
    else:
        for each in get_args(annotation):
            yield from leaves(each, marks, inside)


@each({name: name for name in ACTIONS})
def test_every_argument_that_may_be_a_selector_a_style_or_an_address_is_declared_so(name: str) -> None:
    for path, last, kind in leaves(ACTIONS[name]):
        if path.removeprefix(".") not in OTHERS:
            expected = next((each for each, names in NAMES.items() if names.search(last)), None)
            assert kind == expected, f"{name}{path}"


@pytest.mark.parametrize("selector", PATTERNS.values(), ids=PATTERNS)
def test_a_selector_that_could_keep_a_page_busy_or_act_on_it_is_refused_by_the_argument(selector: str) -> None:
    bodies: dict[str, dict[str, JsonValue]] = {
        "selector": {"action": "wait_for_selector", "selector": selector},
        "frame": {"action": "find", "text": "a", "frame": selector},
        "mask.1": {"action": "screenshot", "mask": ["#a", selector]},
        "fields.0.selector": {"action": "fill_form", "fields": [{"selector": selector, "value": "a"}]},
        "schema.a": {"action": "extract_data", "schema": {"a": selector}},
    }
    for field, body in bodies.items():
        with pytest.raises(ValidationFailed) as refused:
            parse(body)
        assert str(refused.value).startswith(f"{field} of ")
        assert "minutes" in str(refused.value) or "no selector" in str(refused.value)
        with pytest.raises(ValidationFailed):
            parse({"action": "batch", "steps": [body]})


@pytest.mark.parametrize(
    "selector",
    [
        *("a[href='/x(1)+']", "//a[contains(@href, '/x') and (1 + 1)]", "text=a/b(c)+", r".a\:b", "e12 >> text=Save"),
        *('//tr[.//td[contains(., "//a[")]]//a[div/b]/@href', "(//label)[2]/following::input[1]", "//a[../b] | //i"),
        *(
            "//tr[td[2]='x']/ancestor::table[1]/preceding-sibling::h2[@id]",
            "..",
            "//li[count(preceding-sibling::li)=2]",
        ),
        *("text=/save|send/i", r"text=/^Order \d\d$/", r"text=/Order \d+/", "text=/.*/", r"text=/\(2\) \+ 1/"),
        *("role=link[name=/next|more/i]", 'role=link[name="a (b)+"]', 'p >> internal:has="text=/ab?c/"'),
        *('internal:text="/(a+)+/"i', 'iframe[src="/f"] >> internal:control=enter-frame >> a'),
    ],
)
def test_other_selectors_are_left_as_they_are(selector: str) -> None:
    assert check_selector(selector) == selector


def test_a_role_with_a_pattern_is_no_role() -> None:
    body: dict[str, JsonValue] = {"selector": f"button[name={SLOW}]", "selectorType": "role"}
    action = parse({"action": "browser_click", **body})
    assert isinstance(action, BrowserClick)
    with pytest.raises(ValidationFailed, match="pattern"):
        action.canonical()

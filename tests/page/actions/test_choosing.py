"""Tests choosing among the options of a list, and what is said of those that it does not have."""

import time

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

TEAS = """<select id=s onchange="window.changes = (window.changes || 0) + 1">
<option value=g>Green tea<option value=b>Black tea<option value=w>White tea</select>
<select id=m multiple><option value=1>One<option value=2>Two<option value=3>Three</select>"""


async def test_select_option_chooses_by_value_label_or_position(tab: Tab) -> None:
    await tab.show(TEAS)
    for choice in ({"value": "b"}, {"label": "Black tea"}, {"index": 1}, {"value": "Black tea"}):
        chosen = await tab.call("select_option", selector="#s", **choice)
        assert chosen == {"selected": ["b"], "observed": "selected 'b'"}
        assert await tab.sees("[s.value, changes, s.value = 'g', changes = 0].slice(0, 2)") == ["b", 1], choice


async def test_select_option_chooses_several_and_replaces_those_chosen_before(tab: Tab) -> None:
    await tab.show(TEAS)
    assert (await tab.call("select_option", selector="#m", value=["1", "3"]))["selected"] == ["1", "3"]
    assert await tab.sees("[...m.selectedOptions].map(o => o.value)") == ["1", "3"]
    await tab.call("select_option", selector="#m", index=[1])
    assert await tab.sees("[...m.selectedOptions].map(o => o.value)") == ["2"]


async def test_among_options_with_the_same_label_the_reply_names_the_chosen_one(tab: Tab) -> None:
    await tab.show(
        "<select id=s><optgroup label=Regions><option value=r>Other</optgroup><optgroup label=Suppliers>"
        "<option value=a>Acme<option value=o>Other</optgroup></select>"
    )
    which = '\'Other\' is value "r" of "Regions", and not value "o" of "Suppliers"'
    assert (await tab.call("select_option", selector="#s", label="Other"))["observed"] == f"selected 'r'; {which}"
    result = await tab.call("fill_form", fields=[{"selector": "#s", "value": "Other"}])
    assert result["observed"] == f"1 field as given; #s: {which}"
    assert (await tab.call("select_option", selector="#s", value="o"))["observed"] == "selected 'o'"


async def test_select_option_of_an_unknown_option_lists_the_known_ones(tab: Tab) -> None:
    await tab.show(TEAS)
    began = time.monotonic()
    error = await tab.error("select_option", selector="#s", label="Oolong", timeout=30_000)
    assert (error["code"], error["status"]) == ("ELEMENT_NOT_INTERACTABLE", 409)
    assert "#s has no option 'Oolong'" in error["message"]
    assert error["hint"].startswith("It offers ")
    fields = [{"selector": "#s", "value": "Oolong"}]
    assert "#s has no option 'Oolong'" in (await tab.error("fill_form", fields=fields, timeout=30_000))["message"]
    assert time.monotonic() - began < 30, "as long Playwright would wait for each"
    assert await tab.sees("s.value") == "g"


async def test_an_option_that_comes_a_moment_later_is_chosen(tab: Tab) -> None:
    await tab.show("<select id=s></select><script>setTimeout(() => s.add(new Option('Tea')), 600)</script>")
    assert (await tab.call("select_option", selector="#s", label="Tea"))["selected"] == ["Tea"]


async def test_select_option_on_something_else_says_that_it_is_no_select(tab: Tab) -> None:
    await tab.show("<input id=i>")
    error = await tab.error("select_option", selector="#i", value="a", timeout=1_500)
    assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert "select" in error["message"]


async def test_select_option_needs_something_to_choose(tab: Tab) -> None:
    await tab.show(TEAS)
    error = await tab.error("select_option", selector="#s")
    assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
    assert await tab.sees("s.value") == "g"

"""Tests `expect`: what comes true, and what an error says is there instead."""

import pytest

from tests.support.json import AnyJson
from tests.support.site import Answer, Site
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

FORM = (
    "<p id=p>Order  17\n sent</p><p class=gone hidden>x</p><ul><li>1<li>2</ul>"
    "<label>Name <input id=name value=Ana></label><input type=checkbox id=tick><button disabled>Go</button>"
    "<input type=password id=word value=hunter22><select id=s><option value=de>Germany</select>"
)
TRUE: list[tuple[dict[str, AnyJson], str]] = [
    ({"selector": "#p"}, "#p: it is visible"),
    ({"selector": ".gone", "to": "hidden"}, ".gone: it is not visible"),
    ({"selector": ".gone", "to": "attached"}, ".gone: it is attached"),
    ({"selector": ".none", "to": "detached"}, ".none: no element matches"),
    ({"selector": "#p", "to": "text", "value": "17 sent"}, "#p: its text is 'Order 17 sent'"),
    ({"selector": "#name", "to": "value", "value": "Ana"}, "#name: its value is 'Ana'"),
    ({"selector": "text=Name", "to": "value", "value": "Ana"}, "text=Name: its value is 'Ana'"),
    ({"selector": "#s", "to": "value", "value": "de"}, "#s: its value is 'de'"),
    ({"selector": "li", "to": "count", "value": 2}, "li: 2 elements match"),
    ({"selector": "#tick", "to": "unchecked"}, "#tick: it is unchecked"),
    ({"selector": "button", "to": "disabled"}, "button: it is disabled"),
    ({"selector": "#name", "to": "enabled"}, "#name: it is enabled"),
]
FALSE: list[tuple[dict[str, AnyJson], str]] = [
    ({"selector": ".gone"}, "Expected .gone to be visible; it is not visible."),
    ({"selector": "#p", "to": "text", "value": "18"}, "Expected #p to have text '18'; its text is 'Order 17 sent'."),
    ({"selector": "#name", "to": "value", "value": "An"}, "Expected #name to have value 'An'; its value is 'Ana'."),
    ({"selector": "li", "to": "count", "value": 3}, "Expected li to have count '3'; 2 elements match."),
    ({"selector": "#tick", "to": "checked"}, "Expected #tick to be checked; it is unchecked."),
    ({"selector": "#p", "to": "unchecked"},
     "Expected #p to be unchecked; it is no checkbox, radio button or switch."),
    ({"selector": "#word", "to": "value", "value": "hunter22"},
     "Expected #word to have value 'hunter22'; it is a field for a secret, whose value is not read."),
]  # fmt: skip
REFUSED: list[dict[str, AnyJson]] = [
    {},
    {"selector": "p", "url": "/x"},
    {"url": "/x", "to": "hidden"},
    {"selector": "p", "status": "200"},
    {"selector": "p", "to": "text"},
    {"selector": "p", "value": "x"},
    {"selector": "p", "to": "count", "value": "two"},
    {"request": "POST /a b"},
]  # fmt: skip


async def test_what_is_as_expected_is_said(tab: Tab) -> None:
    await tab.show(FORM)
    for arguments, observed in TRUE:
        assert (await tab.call("expect", **arguments))["observed"] == observed


async def test_an_error_says_what_is_there_instead(tab: Tab) -> None:
    await tab.show(FORM)
    for arguments, message in FALSE:
        error = await tab.error("expect", **arguments, timeout=1)
        assert (error["code"], error["message"]) == ("NOT_AS_EXPECTED", message)
    error = await tab.error("expect", selector="role=button[name=Gone]", timeout=1)
    assert error["code"] == "ELEMENT_NOT_FOUND"


async def test_it_waits_until_a_change_makes_it_true(tab: Tab) -> None:
    await tab.show("<button onclick=\"setTimeout(() => p.textContent = 'sent', 300)\">b</button><p id=p>")
    await tab.call("click", selector="button")
    assert (await tab.call("expect", selector="p", to="text", value="sent"))["observed"] == "p: its text is 'sent'"


async def test_a_ref_is_checked_as_a_selector_is(tab: Tab) -> None:
    await tab.show("<button>Buy</button>")
    ref = (await tab.call("find", role="button"))["matches"][0]["ref"]
    assert (await tab.call("expect", selector=ref, to="enabled"))["observed"] == f"{ref}: it is enabled"


async def test_the_url_is_checked(tab: Tab) -> None:
    url = await tab.show("x")
    assert (await tab.call("expect", url="/page-*"))["observed"] == f"the page is at {url}"
    error = await tab.error("expect", url="/done", timeout=1)
    assert error["message"] == f"Expected a URL like /done; the page is at {url}."


async def test_a_request_since_ones_own_last_act_counts(tab: Tab, site: Site) -> None:
    site.page("/orders", Answer(status=201))
    await tab.show("<button onclick=\"fetch('/orders', {method: 'POST'})\">b</button><p>x")
    await tab.call("click", selector="button")
    seen = await tab.call("expect", request="POST /orders", status="2xx")
    assert seen["observed"].endswith("/orders -> 201")
    error = await tab.error("expect", request="POST /orders", status="4xx", timeout=1)
    assert error["message"].startswith("Expected a request POST /orders with 4xx; sent since your last act: POST http")
    await tab.call("click", selector="p")
    error = await tab.error("expect", request="POST /orders", timeout=1)
    assert error["message"] == "Expected a request POST /orders; sent since your last act: nothing."


async def test_what_is_no_single_check_is_refused(tab: Tab) -> None:
    for arguments in REFUSED:
        assert (await tab.error("expect", **arguments))["code"] == "VALIDATION_ERROR", arguments

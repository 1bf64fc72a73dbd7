"""Tests that a reply says what an answer means, where its status does not."""

import threading

import pytest

from tests.support.site import Answer, Received
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

POST = "fetch('/sent', {method: 'POST'}).then(answer => answer.text()).catch(String)"
BUTTON = f'<button id=b onclick="{POST}">Send</button>'


def json_answer(body: str) -> Answer:
    return Answer(body, content_type="application/json")


async def test_json_that_says_no_is_told_beside_a_status_that_says_yes(tab: Tab) -> None:
    await tab.show(BUTTON)
    for body, says in (
        ('{"ok": false, "error": "The card was declined"}', ", which says no: 'The card was declined'"),
        ('{"data": null, "errors": [{"message": "Not allowed"}]}', ", which says no: 'Not allowed'"),
        ('{"success": false}', ", which says no"),
        ('{"ok": true, "errors": [], "error": null}', ""),
    ):
        tab.site.page("/sent", json_answer(body))
        assert (await tab.call("click", selector="#b"))["observed"] == f"POST /sent → 200{says}"


async def test_an_answer_whose_body_was_cut_off_is_no_success(tab: Tab) -> None:
    tab.site.page("/sent", Answer('{"id":', content_type="application/json", headers={"content-length": "1000"}))
    await tab.show(BUTTON)
    cut = "POST /sent → 200, but its body was cut off (net::ERR_CONTENT_LENGTH_MISMATCH)"
    assert (await tab.call("click", selector="#b"))["observed"] == cut


async def test_an_answer_that_goes_on_is_told_as_such(tab: Tab) -> None:
    end = threading.Event()
    tab.site.page("/sent", Answer("first, and last", pause=end))
    await tab.show(BUTTON)
    told = await tab.call("click", selector="#b")
    end.set()
    assert told["observed"] == "POST /sent → 200, more of it is still to come"


async def test_the_answer_of_a_pages_own_worker_is_told_as_such(tab: Tab) -> None:
    worker = (
        "self.oninstall = () => skipWaiting(); self.onactivate = event => event.waitUntil(clients.claim());"
        "self.onfetch = event => event.request.method === 'POST' && event.respondWith(new Response('kept'))"
    )
    tab.site.page("/worker.js", Answer(worker, content_type="text/javascript"))
    await tab.show(BUTTON)
    ready = (
        "new Promise(then => { const {serviceWorker} = navigator; serviceWorker.oncontrollerchange = then;"
        " serviceWorker.register('/worker.js') }).then(() => 1)"
    )
    assert await tab.sees(ready) == 1
    told = await tab.call("click", selector="#b")
    await tab.sees("navigator.serviceWorker.getRegistration().then(each => each.unregister())")
    assert told["observed"] == "POST /sent → 200, answered by the page's own worker, which may have sent nothing"
    assert tab.site.counts["/sent"] == 0


async def test_a_refusal_after_which_the_page_tries_again_is_told_with_the_second_answer(tab: Tab) -> None:
    def busy_once(_: Received) -> Answer:
        return Answer("no", 429) if tab.site.counts["/sent"] == 1 else Answer("yes")

    tab.site.page("/sent", busy_once)
    again = f"{POST}.then(said => said === 'no' && setTimeout(() => {POST}, 100))"
    await tab.show(f'<button id=b onclick="{again}">Send</button>')
    told = await tab.call("click", selector="#b")
    assert told["observed"] == "POST /sent → 429: too many requests; POST /sent → 200"


async def test_a_beacon_that_a_page_sends_as_it_is_left_has_not_failed(tab: Tab) -> None:
    answer = threading.Event()
    tab.site.page("/beacon", Answer(status=204, hold=answer))
    tab.site.page("/next", "Next")
    await tab.show("<a id=b href=/next onclick=\"navigator.sendBeacon('/beacon', 'x')\">Next</a>")
    told = await tab.call("click", selector="#b")
    answer.set()
    assert told["observed"].endswith("POST /beacon → a beacon, not waited for")

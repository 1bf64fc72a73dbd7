"""Tests the record of a page: what is known of it without a browser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browse_together.contract.calls import Call
from browse_together.contract.errors import PageNotFound, SessionNotFound
from browse_together.contract.pages import PageState, Parked
from browser_service.host.record.life import Life, LifeEvent
from browser_service.host.record.record import PageRecord
from browser_service.rules.leases import Ownership

ENDS = {LifeEvent.TAB_CLOSED: Life.VANISHED, LifeEvent.BROWSER_ENDED: Life.LOST}


def record(**known: object) -> PageRecord:
    state = PageState.model_validate({"page_id": "p", "session_id": "s", **known})
    ownership = Ownership(state, 1_000, lambda _: False, lambda *_: None, lambda _: None)
    return PageRecord.from_state(state, ownership, guarded=True)


def call(client_id: str) -> Call:
    return Call(call_id=f"{client_id}/1", client_id=client_id, client_label=client_id, seq=1, body={})


@given(st.lists(st.sampled_from([*ENDS]), min_size=1, max_size=20))
def test_the_last_end_of_a_tab_that_is_told_counts(ends: list[LifeEvent]) -> None:
    page = record()
    page.move(LifeEvent.OPENED)
    for end in ends:
        page.move(end)
    assert page.life is ENDS[ends[-1]]


@pytest.mark.parametrize("event", [LifeEvent.CRASHED, LifeEvent.PARKED, LifeEvent.LEFT, LifeEvent.CLOSED])
def test_a_page_without_a_tab_that_works_does_not_change_by_what_became_of_it(event: LifeEvent) -> None:
    page = record()
    page.move(LifeEvent.OPENED)
    page.move(event)
    before = page.life
    for end in ENDS:
        page.move(end)
    assert page.life is before


def test_a_page_is_described_as_it_was_and_one_that_was_parked_still_is() -> None:
    place = Parked(x=1, y=2)
    assert record(parked=place.model_dump(), url="https://a.test/", title="A").life is Life.PARKED
    page = record(parked=place.model_dump(), url="https://a.test/", title="A", revision=3, holder_id="one")
    ages = {"idle_ms": 0, "acted_ago_ms": 0}  # they grow between two looks
    again = PageRecord.from_state(page.state(), page.ownership, guarded=True).state().model_copy(update=ages)
    assert again == page.state().model_copy(update=ages)
    assert (again.parked, again.url, again.revision, again.holder_id) == (place, "https://a.test/", 3, "one")


def test_a_private_page_is_hidden_from_all_but_its_holder() -> None:
    page = record()
    page.ownership.take(call("one"), "")
    assert not page.hidden_from("two")
    page.ownership.share("private")
    assert page.hidden_from("two")
    assert not page.hidden_from("one")


def test_a_page_that_was_closed_says_whether_its_session_was() -> None:
    page, of_session = record(opener_id="o"), record()
    page.move(LifeEvent.CLOSED)
    of_session.move(LifeEvent.SESSION_CLOSED)
    assert isinstance(page.closed_error(), PageNotFound)
    assert '"pageId": "o"' in str(page.closed_error().body().hint)
    assert isinstance(of_session.closed_error(), SessionNotFound)


def test_no_place_is_noted_of_a_window_that_shows_none() -> None:
    page = record(url="https://a.test/")
    for nowhere in ("about:blank#0af3", "chrome-error://chromewebdata/"):
        page.set_url(nowhere, "the navigation failed")
        assert page.url == "https://a.test/"
    assert (page.state().shown_url, page.state().error_page) == (nowhere, "the navigation failed")
    page.set_url("https://ana:secret@b.test/", "")
    assert page.url == page.state().shown_url == "https://b.test/"

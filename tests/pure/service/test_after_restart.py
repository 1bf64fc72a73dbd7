"""Tests what a page and a question keep when the service or their host starts anew."""

from unittest.mock import Mock

import pytest

from browse_together.contract.calls import Call
from browse_together.contract.pages import HumanRequestState, PageState
from browser_service.rules.human import HeldPage
from browser_service.rules.human_requests import HumanRequests
from browser_service.rules.leases import Ownership
from browser_service.sessions.directory import after_restart
from tests.support.clock import Clock

PAGE = PageState(page_id="p", session_id="s", holder_id="ana", asker_id="ana", acted_ago_ms=1_200_000)


def question(*, of_rule: bool) -> HumanRequestState:
    return HumanRequestState(request_id="ask-1", kind="decision", page_id="p", session_id="s", of_rule=of_rule)


def test_an_agents_question_outlives_the_service_and_a_rules_does_not() -> None:
    kept, ended = (after_restart(PAGE.model_copy(update={"person": question(of_rule=each)})) for each in (False, True))
    assert kept.person is not None
    assert (kept.asker_id, ended.person, ended.asker_id) == ("ana", None, None)


@pytest.mark.parametrize("of_rule", [True, False])
def test_a_rules_question_ends_when_no_call_comes_for_its_answer(*, of_rule: bool) -> None:
    later = Mock()
    page = Mock(spec=HeldPage, url="http://127.0.0.1/", person=None, page_id="p", lease=None)
    people = HumanRequests(Mock(), list, Mock(), later, Clock())
    people.restore(page, question(of_rule=of_rule), "ana")
    request = people.requests["ask-1"]
    with people.waiting(request, Call(call_id="c", seq=1, client_id="ana", body={}), Mock()):
        for each in [*later.call_args_list]:
            each.args[1]()
        assert not request.over
    later.call_args.args[1]()
    assert (request.state, page.return_from_person.called) == ("withdrawn" if of_rule else "pending", of_rule)


def test_a_lease_begins_anew_but_its_age_is_the_true_one() -> None:
    clock = Clock()
    ownership = Ownership(PAGE, 120_000, lambda _: False, Mock(), Mock(), clock=clock)
    clock.pass_s(44)
    lease = ownership.holder()
    assert lease is not None
    assert (lease.idle_ms, ownership.free_in()) == (1_244_000, 76.0)
    ownership.used_by(Call(call_id="c", seq=1, client_id="ana", body={}))
    assert lease.idle_ms == 0

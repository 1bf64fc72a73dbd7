"""Tests which calls may become tasks."""

from browse_together.contract.catalogue import ACTIONS


def test_what_waits_for_a_page_or_a_person_and_flows_may_last() -> None:
    waits = {name for name in ACTIONS if name.startswith("wait")}
    lasting = {name for name, action in ACTIONS.items() if action.lasts}
    assert lasting == waits | {"claim_page", "expect", "list_downloads", "login", "request_human", "run_flow"}

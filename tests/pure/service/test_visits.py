"""Tests when a browser ends to which nobody came."""

from browser_service.host.pages.visits import Visits
from browser_service.host.seam import Idle

KEPT, ENDS = Idle(), Idle(browser_s=0, browsers_kept=0)


def test_a_browser_ends_once_nobody_is_there_and_no_page_was_opened() -> None:
    here = [True]
    visits = Visits(KEPT)
    visits.expect(0, lambda: bool(here))
    assert visits.look([]) == KEPT
    here.clear()
    assert (visits.look([]), visits.idle) == (ENDS, ENDS)
    assert (visits.look(["a page"]), visits.look([])) == (KEPT, KEPT)  # from then on it is needed


def test_a_browser_that_a_person_started_stays() -> None:
    visits = Visits(KEPT)
    assert visits.look([]) == KEPT

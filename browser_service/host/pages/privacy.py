"""Guards what is private to one client from all others: pages, and acts that would show all pages of a session."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Claim, Effect
from browse_together.contract.calls import Call
from browse_together.contract.errors import BrowseError, Cancelled, Forbidden, UnknownOutcome
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import ASK_FOR_TAB
from browser_service.host.calls import CallRun
from browser_service.host.record.record import PageRecord
from browser_service.rules.leases import private_error


def check_private(page: PageRecord, call: Call, action: Action) -> None:
    """Raise PageOwned for a page that is private to another client. This check comes before all others. Only the holder
    can give the page up, and only a person can pass without that."""
    if page.private_from(call.client_id) and not call.by_person:
        raise private_error(page.page_id, action.requested_url if action.navigates else None)


def check_shown(action: Action, call: Call, pages: Iterable[PageRecord]) -> None:
    """Raise Forbidden if an action would show all pages of a session and the caller may not see one of them. The error
    does not say which."""
    if not action.shows_all_pages or call.by_person:
        return
    if any(page.hidden_from(call.client_id) or (page.of_person and action.as_wide_act()) for page in pages):
        raise Forbidden(
            f"{action.name()} would show a page of this session that is private to somebody else. Nothing was done.",
            hint=f"{next_call('create_session')} makes a session of your own.",
            details={"sessionId": action.addressed.session},
        )


def check_reach(action: Action, urls: Iterable[str]) -> None:
    """Raise Forbidden if an act on a session would reach more of a person's own browser than the sites at which the
    caller has pages, with these URLs."""
    hosts, mine = action.only_hosts, {host: url for url in urls if (host := urlsplit(url).hostname)}
    if hosts and all(host.lower().lstrip(".") in mine for host in hosts):  # what is below one may be another's: co.uk
        return
    raise Forbidden(
        f"{action.name()} would reach sites of a person's own browser at which you have no page. Nothing was done.",
        hint=_narrower(action, mine),
        details={"sessionId": action.addressed.session},
    )


def _narrower(action: Action, mine: dict[str, str]) -> str:
    """Return what to do in place of an act that would reach too much of a person's own browser, of which the caller has
    these hosts open, at these URLs."""
    if action.asks_person:
        asked = next_call("request_human", page_id="...", kind="login", message="...")
        return f"Its person signs in there, at a page of yours: {asked}."
    if wide := action.as_wide_act():
        return wide.narrower_calls()
    own = f"{next_call('create_session')} makes a session of your own."
    if not mine:
        return own
    host, url = min(mine.items())
    there = next_call("list_logins", urls=[url]) if action.lists_logins else next_call("get_cookies", domain=host)
    return f"Of a site that you have open: {there}. {own}"


def is_shut_out(page: PageRecord, run: CallRun) -> bool:
    """Say whether the page of a call is private to another client, maybe only since the call began. A call that itself
    hands the page over is not shut out: its reply says that it did."""
    return page.private_from(run.call.client_id) and not (run.call.by_person or run.action.claim)


def calls_ended_by(by: CallRun, page: PageRecord, on_page: Iterable[CallRun]) -> list[CallRun]:
    """Return the calls that must end because `by` made the page private to another client, or because a person stops
    all acts there that do not wait for people. Stopped calls get the person's name for their replies."""
    if by.action.claim and page.private:
        return [run for run in on_page if is_shut_out(page, run)]
    if by.action.claim is not Claim.STOPS_OTHERS:
        return []
    others = [run for run in on_page if not run.call.by_person and not run.action.asks_person]
    acting = [run for run in others if run.action.effect is not Effect.READS]
    for run in acting:
        run.stopped_by = by.call.client_label or "a person"
    return acting


def told_of_stop(page: PageRecord, run: CallRun, failure: BrowseError) -> BrowseError:
    """Add to a stopped call's failure which person stopped it, and what to do now."""
    if page.taken_back:
        failure.message += " The person took the tab back."
        failure.advice = ASK_FOR_TAB
    elif page.person is not None and isinstance(failure, Cancelled | UnknownOutcome):
        failure.message += f' A person, "{run.stopped_by}", stopped what was done on {page.page_id}.'
        failure.advice = page.person.next_for(page, run.call.client_id)
    return failure


def shut_out_error(page: PageRecord, run: CallRun) -> BrowseError:
    if run.admitted and run.action.effect is not Effect.READS:
        return UnknownOutcome(f'"{page.page_id}" became private to another client while {run.action.name()} ran.')
    return private_error(page.page_id)

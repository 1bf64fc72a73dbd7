"""Confines a client whose token is for some origins to pages there: before an act, in its reply, and in what its pages
load."""

from collections.abc import Awaitable

from playwright.async_api import Request

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.calls import Call
from browse_together.contract.cuts import cut
from browse_together.contract.errors import BrowseError, Forbidden, UnknownOutcome
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.network.guard import refuse_requests
from browser_service.host.record.record import PageRecord
from browser_service.security.origins import first_outside, within
from browser_service.security.urls import abridged, origin_of


def check_origins(page: PageRecord, call: Call, action: Action) -> None:
    """Raise Forbidden if the page, or a frame in it, is at an origin that the caller's token does not allow. The caller
    may still lead a page of its own elsewhere, close it or give it up."""
    first = next(iter(action.parts()), action)
    may_leave = page.state().belongs_to(call.client_id) and (bool(first.navigates) or _gives_up(first))
    if not may_leave and (url := _outside(page, call) or _outside_soon(page, call)) is not None:
        raise _refused(page, call, action, url)


async def confine(page: PageRecord) -> None:
    """Make the page's frames, also those in processes of their own, load no documents from other origins. The page's
    own guard sees redirects, but not these frames."""
    if page.open_tab.confined:
        return
    page.open_tab.confined = True
    record = page

    def refuses(request: Request) -> bool:
        return request.is_navigation_request() and not record.may_go(request.url)

    await refuse_requests(page.open_tab.page, refuses)


async def confined(page: PageRecord, call: Call, action: Action, work: Awaitable[Json]) -> Json:
    """Return the result of `work`. If it led the page to another origin, return only that it did, and raise Forbidden
    instead of a result that was read there: even an error could reveal what is there."""
    try:
        result = await work
    except BrowseError as error:
        url = _outside(page, call)
        if url is None or _gives_up(action):
            raise
        if error.nothing_happened or action.effect is Effect.READS:
            raise _refused(page, call, action, url) from None
        raise UnknownOutcome(f"{action.name()} was under way when the page came to {_place(url)}.") from None
    if action.batching or _gives_up(action):  # each part was checked by itself
        return result
    if (url := _redirected(call, result) or _outside(page, call)) is None:
        return result
    if action.effect is Effect.READS:
        raise _refused(page, call, action, url)
    observed = (
        f"{action.name()} is done; {_place(url)} is not an origin of this token, which neither reads nor acts there"
    )
    return {"observed": observed if action.request_method else f"{observed}. Lead it back: {_way_back(page, call)}"}


def _gives_up(action: Action) -> bool:
    return action.closes is not None or (bool(action.claim) and action.serves_reading)


def _outside(page: PageRecord, call: Call) -> str | None:
    """Return the URL of the page, or of a frame in it, that the token does not allow; None if there is none."""
    if not page.live:
        return first_outside(call.origins, [page.url])
    return first_outside(call.origins, (frame.url for frame in page.open_tab.page.frames))


def _outside_soon(page: PageRecord, call: Call) -> str | None:
    """Return where another client's page is navigating, if the token does not allow that: what waits for an element
    here would find it there. A page of the caller's own never arrives there."""
    is_own = page.state().belongs_to(call.client_id)
    return None if is_own else first_outside(call.origins, [page.observer.navigating_to])


def _redirected(call: Call, result: Json) -> str | None:
    """Return where a request of the page was redirected, if the token does not allow that."""
    url = result.get("redirectedTo")
    return url if isinstance(url, str) and not within(call.origins, url) else None


def _place(url: str) -> str:
    return origin_of(url) or cut(abridged(url), 100)


def _way_back(page: PageRecord, call: Call) -> str:
    return next_call("goto", page_id=page.page_id, url=f"{call.origins[0]}/")


def _refused(page: PageRecord, call: Call, action: Action, url: str) -> Forbidden:
    place = _place(url) if page.state().belongs_to(call.client_id) else "another origin"
    return Forbidden(
        f'{action.name()}: "{page.page_id}" is at {place}, or has a frame from there, and the token is for '
        f"{', '.join(call.origins)} (--origin). Nothing was told.",
        hint=f"A page of your own: {next_call('open_page', url=f'{call.origins[0]}/')}. The account's owner gives more "
        "by another token: browse-together token create --name NAME, with another --origin.",
        details={"context": {"rule": "--origin"}},
    )

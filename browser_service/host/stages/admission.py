"""Decides whether a call may do what it asks of a page: when it comes in, and again at the head of the queue."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Claim, Effect, Scope
from browse_together.contract.calls import Call
from browse_together.contract.cuts import shown_of
from browse_together.contract.errors import AffectsOthers, BrowseError, PageOwned, StaleRevision, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import ASK_FOR_TAB
from browse_together.contract.wire import DEFAULT_SESSION
from browse_together.contract.words import own_words
from browser_service.host.calls import CallRun
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.pages.privacy import check_private, check_reach, check_shown
from browser_service.host.record.record import PageRecord
from browser_service.host.sessions.profile import Profile
from browser_service.host.stages.confinement import check_origins
from browser_service.rules.leases import Lease
from browser_service.security.globs import matches_glob
from browser_service.security.urls import UrlPolicy, origin_of

_NAMED = 5


@dataclass(frozen=True)
class Admission:
    """The checks that a call passes: when it comes in, and again when it had to wait for its turn."""

    records: Callable[[], Iterable[PageRecord]]
    policy: UrlPolicy
    dialogs: Dialogs
    profile: Profile
    """The shared login, which no call may use while a person has it."""

    def check_read(self, page: PageRecord, call: Call, action: Action) -> None:
        """Raise what keeps a caller from seeing a page as it is now, by whichever way it looks."""
        check_private(page, call, action)
        if call.origins:
            check_origins(page, call, action)
        if page.person is not None and not call.by_person:
            page.person.check(page, call, action)

    def admit(self, page: PageRecord, run: CallRun) -> None:
        """Let a call or a part of one pass, or raise. If it takes the page from another client, tell both."""
        record, call, action = page, run.call, run.action
        if record.private_from(call.client_id):
            check_private(record, call, action)
        self.profile.check_free()
        if call.origins:
            check_origins(page, call, action)
        if not record.guarded and page.live:
            self.policy.check(record.url)
        for each in (action, *action.parts()):
            self.check_url(each, record.url)
        taken_from = admit(record, call, action)
        note_holder(record, call, action)
        if taken_from is not None:
            who = call.client_label or "another client"
            record.tell(taken_from.client_id, f'"{who}" took {record.page_id}, which you had left idle.')
            record.tell(call.client_id, f'{record.page_id} was taken from "{taken_from.label}", idle until now.')
        check_origin(record, call, action, self.records())
        self.dialogs.check(record, call, action)

    def admit_to_session(self, run: CallRun, *, keeps_tabs_private: bool) -> None:
        """Let a call on a session pass, or raise."""
        self.profile.check_free()
        if url := run.action.requested_url:
            self.policy.check(url)
        pages = [page for page in self.records() if page.session_id == run.call.session_id]
        if keeps_tabs_private and not run.call.by_person:
            check_reach(run.action, [page.url for page in pages if page.holder_id == run.call.client_id])
        check_shown(run.action, run.call, pages)
        check_others(run.action, run.call.client_id, pages)

    def check_url(self, action: Action, page_url: str = "") -> None:
        """Raise Forbidden for an address that the policy forbids. Only a caller's own navigation may lead to a page
        that the caller wrote."""
        url = action.requested_url
        if url and action.navigates:
            self.policy.check_own(url)
        elif url:
            self.policy.check_from(page_url if action.request_method else "", url)


def admit(page: PageRecord, call: Call, action: Action) -> Lease | None:
    """Let `call` pass or raise; an act takes the lease, or renews it. Returns the lease that it replaced, if any."""
    if page.life.over:
        raise page.closed_error()
    if page.lent and not call.by_person:
        _check_lent(page, action)
    if _is_let_in_by_person(page, call, action) or action.claim >= Claim.CLAIMS:
        check_preconditions(action, page)
        return None  # leases do not refuse these beforehand
    ownership = page.ownership
    holder = ownership.holder()
    _check_lease(page, holder, call, action)
    check_preconditions(action, page)  # these tell about the page, so all that hides it comes first
    if action.effect is Effect.READS:
        return None
    if holder is None:
        return ownership.take(call, action.addressed.agent)
    if holder.client_id != call.client_id:
        ownership.tell_of_visit(call, holder)
        return None
    if _is_siblings(holder, action) and action.effect is Effect.ACTS and action.needs_open_page:
        ownership.tell_of_sibling(holder.client_id, holder.agent, action.addressed.agent)
    holder.renew(call.seq)
    return None


def _check_lease(page: PageRecord, holder: Lease | None, call: Call, action: Action) -> None:
    """Raise PageOwned if the page's holder, a sibling or a person keeps the call out."""
    if action.effect is not Effect.READS:
        _check_person(page, action)
    if holder is not None and holder.client_id == call.client_id:
        if _is_siblings(holder, action):
            _check_sibling(page, holder, action)
        return
    if action.effect is Effect.READS:
        return
    is_visit = page.ownership.access == "act" and action.effect is Effect.ACTS and action.needs_open_page
    if holder is not None and not is_visit:
        raise owned_error(page, holder, action)


def _is_siblings(holder: Lease, action: Action) -> bool:
    """Say whether another agent of the same client holds the page."""
    return bool(action.addressed.agent and holder.agent and action.addressed.agent != holder.agent)


def _is_let_in_by_person(page: PageRecord, call: Call, action: Action) -> bool:
    """Say whether a person's hold, which is above all leases, lets the call in: the person's own, or one that asks for
    a person. Raises HumanInControl for others. A person may answer dialogs on any page."""
    if page.person is not None and call.by_person:
        page.person.note_presence()
        return True
    if call.by_person and action.answers_dialog:
        return True
    if page.person is not None:
        page.person.check(page, call, action)
    if action.asks_person and (action.asks_person.request_id or page.person is not None):
        page.ownership.used_by(call)
        return True
    return False


def note_holder(page: PageRecord, call: Call, action: Action) -> None:
    """Bind a page to the limits of the client that acts on it and holds it; a client without limits lifts them."""
    holder = page.ownership.holder()
    if action.effect is not Effect.READS and holder is not None and holder.client_id == call.client_id:
        page.origins, page.page_limit = tuple(call.origins), call.page_limit


def owned_error(page: PageRecord, lease: Lease, action: Action) -> PageOwned:
    """Make the refusal, with the calls that lead on. It names the holder's label, never its id."""
    page_id, free_at = page.page_id, page.ownership.free_at()
    target_url = (action.requested_url if action.navigates else None) or page.url
    where = {} if page.session_id == DEFAULT_SESSION else {"session_id": page.session_id}
    own_copy = (
        next_call("open_page", **where)
        if target_url in {"", "about:blank"} or target_url.startswith("data:")
        else next_call("open_page", **where, url=target_url)
    )
    reason = f"The user asked for this very page: {next_call('claim_page', page_id=page_id, reason='...')}."
    wait = f"Wait: {next_call('claim_page', page_id=page_id, wait_seconds=30)}. " if free_at else ""
    return PageOwned(
        f'"{page_id}" is in use by "{lease.holder_name}" ({_holding(page, lease, free_at)}).',
        hint=f"Own copy, same login: {own_copy}. {wait}{reason}",
        details={"url": page.url, "context": {"pageId": page_id, "owner": lease.holder_name, "freeAt": free_at}},
    )


def _holding(page: PageRecord, lease: Lease, free_at: str | None) -> str:
    if page.private:
        return "it is private"
    if lease.kept_s > 0:
        return f"held until {free_at}, {own_words(lease.reason)}"
    return f"acted {lease.idle_ms // 1000} s ago; free at {free_at} if idle"


def _check_sibling(page: PageRecord, lease: Lease, action: Action) -> None:
    """Raise PageOwned if an agent would reuse or close a sibling's page by accident. All agents of a client have the
    same rights."""
    if action.unaddressed.opens:  # each may call its first page `main`
        claim = next_call("claim_page", page_id=page.page_id, as_=action.addressed.agent)
        raise PageOwned(
            f'"{page.page_id}" was opened by "{lease.agent}", a sibling of yours.',
            hint=f"A page of your own: leave pageId out. To go on with this one: {claim}.",
            details={"context": {"pageId": page.page_id, "owner": lease.holder_name}},
        )
    if any(each.closes and not each.closes.confirmed for each in (action, *action.parts())):
        raise PageOwned(
            f'"{page.page_id}" was opened by "{lease.agent}", a sibling of yours.',
            hint=f"Close it all the same: {next_call('close_page', page_id=page.page_id, confirm=True)}.",
            details={"context": {"pageId": page.page_id, "owner": lease.holder_name}},
        )


def _check_person(page: PageRecord, action: Action) -> None:
    """Raise PageOwned if a call would close a person's tab without a reason. It may act there."""
    if page.of_person and any(each.closes and not each.closes.reason for each in (action, *action.parts())):
        raise PageOwned(
            f'"{page.page_id}" was opened by a person.',
            hint=f"Close it only if they want it: {next_call('close_page', page_id=page.page_id, reason='...')}.",
            details={"context": {"pageId": page.page_id, "field": "reason"}},
        )


def _check_lent(page: PageRecord, action: Action) -> None:
    """Raise PageOwned for what a person did not share with their tab: to close it, to act where agents only read, or to
    give to others what one client got."""
    if action.asks_person and action.asks_person.request_id:  # it hears the answer to what it asked
        return
    acts = (action, *action.parts())
    refused, hint = "", ASK_FOR_TAB
    if any(each.closes for each in acts):
        refused, hint = "only they close it", "Leave it as it is; it is theirs."
    elif page.lent == "read" and any(each.effect is not Effect.READS and not each.asks_person for each in acts):
        refused = "agents only read it"
    elif page.lent_to and any(each.claim is Claim.CONCERNS for each in acts):
        refused, hint = "it is shared with you alone", "It stays yours until they take it back."
    if refused:
        raise PageOwned(
            f'"{page.page_id}" is a tab of a person\'s own browser, and {refused}. Nothing was done.',
            hint=hint,
            details={"context": {"pageId": page.page_id}},
        )


def check_origin(page: PageRecord, call: Call, action: Action, pages: Iterable[PageRecord]) -> None:
    """Raise AffectsOthers if a change of local storage or permissions would affect holders of other pages of the same
    origin and session."""
    act = action.as_wide_act()
    if act is None or not act.affects_origin or (origin := origin_of(page.url)) is None:
        return
    affected = (each for each in pages if each is not page and each.session_id == page.session_id)
    same_origin = [each for each in affected if each.hidden_from(call.client_id) or origin_of(each.url) == origin]
    check_others(act, call.client_id, same_origin)


def check_others(action: Action, client_id: str, pages: Iterable[PageRecord]) -> None:
    """Raise AffectsOthers if an act would affect holders of pages that it concerns. A page that is hidden from the
    caller always counts, because a check of its URL would reveal where it is."""
    act = action.as_wide_act()
    if act is None or act.affect_others:
        return
    affected = [
        (page, who)
        for page in pages
        if (who := _other_user(page, client_id)) and (page.hidden_from(client_id) or act.concerns(page.url))
    ]
    if not affected:
        return
    session: Json = {"sessionId": action.addressed.session} if action.scope is Scope.SESSION else {}
    named = [(page.page_id, who) for page, who in affected if not page.private_from(client_id)]
    shown = shown_of(len(named), _NAMED)
    words = [f'"{page_id}" of "{who}"' for page_id, who in named[:shown]]
    words += [f"{len(named) - shown} more"] if len(named) > shown else []
    words += [_private_pages(count)] if (count := len(affected) - len(named)) else []
    raise AffectsOthers(
        f"{action.name()} would affect {', '.join(words[:-1])}{' and ' if words[1:] else ''}{words[-1]}. "
        "Nothing was done.",
        hint=f'{act.narrower_calls()} To affect all of them, repeat it with "affectOthers": true.',
        details={"context": {"pages": [page_id for page_id, _ in named]}, **session},
    )


def _private_pages(count: int) -> str:
    return "a page that is private to another client" if count == 1 else f"{count} pages that are private to others"


def _other_user(page: PageRecord, client_id: str) -> str:
    """Name the other user of a page: a person who has it, or its holder; "" for none."""
    if page.person is not None:
        return "a person"
    holder = page.ownership.holder()
    return holder.holder_name if holder is not None and holder.client_id != client_id else ""


def check_preconditions(action: Action, page: PageRecord) -> None:
    """Raise StaleRevision if `ifRevision` or `expectUrl` does not hold, before anything happens."""
    revision, url = action.expectation
    if revision is None and url is None:
        return
    state = page.state()
    if revision is not None and revision != state.revision:
        raise _stale(
            f"Page {state.page_id!r} is at revision {state.revision}, not {revision}.", "ifRevision", state.revision
        )
    if url is not None and not matches_glob(url, now_at := state.shown_url):
        raise _stale(f"Page {state.page_id!r} is at {now_at}, which does not match {url!r}.", "expectUrl", now_at)


def _stale(problem: str, field: str, now: str | int) -> BrowseError:
    found: Json = {"revision" if field == "ifRevision" else "url": now}
    return StaleRevision(
        f"{problem} Nothing was done.",
        hint=f"Look again, then act: {next_call('snapshot')}.",
        details=field_details(field, **found),
    )

"""Checks what a caller may ask for: every call and each of its parts passes this step before anything is done.

`check` looks at the call itself, `check_place` at the page that it leads to, and the host, once the call's turn has
come, at where that page is then. What a caller may not see of others' pages is in no view."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Claim, Cookies, Effect, Scope
from browse_together.contract.calls import ClientRef, Outcome
from browse_together.contract.catalogue import ACTIONS, called
from browse_together.contract.cuts import cut
from browse_together.contract.errors import Forbidden, field_details
from browse_together.contract.events import PageMoved
from browse_together.contract.limits import UNLIMITED
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import PageState
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.security.auth import Identity
from browser_service.security.origins import asks_within, pattern_within, within
from browser_service.sessions.directory import Directory
from browser_service.spine.addressing import Address

A = TypeVar("A", bound=Action)
Rule = Callable[[Identity, Action], None]
"""Raises Forbidden for an action that the caller's token does not allow."""

_WHAT: Final = {
    "--read-only": "it only reads: pages, and those of its own that it opens, moves and closes",
    "--no-scripting": "it runs no JavaScript of the caller's in pages",
    "--no-cookies": "it has nothing to do with cookies",
    "--toolset": "its toolsets lack this tool",
}
_PROGRAM: Final = "CSS and HTML load from any address, and may choose it by what the page has"
_WITHOUT: Final = frozenset({"--read-only", "--no-scripting", "--no-cookies"})
_MAY_LOAD: Final = {each for each in ACTIONS.values() if each.part_fields or each.program_fields()}
_KEYS: Final = "browse-together token create --name NAME"


@dataclass(eq=False)
class Policy:
    """The rules about what tokens allow."""

    directory: Directory = field(default_factory=Directory)
    cookie_values: bool = False
    """Whether the owner lets tokens without limits read the shared login's cookie values."""
    check_token: Callable[[Identity], None] = lambda _: None
    """Raises Unauthorized for a caller whose token is no longer valid."""
    with_limits: Callable[[ClientRef], Identity] = lambda client: Identity(client_id=client.client_id)
    """Returns a client with the limits of its named token, if it has one."""
    rules: list[Rule] = field(default_factory=lambda: [_check_person])

    def check(self, caller: Identity, action: Action) -> None:
        """Raise Forbidden if a rule refuses the action, or one that it carries."""
        self.check_token(caller)
        limited = () if caller.limits is UNLIMITED else (_check_kind, self._check_session, _check_origins)
        for each in action.every_part():
            for rule in (*limited, *self.rules):
                rule(caller, each)
            if each.cookie_use is Cookies.EXPORTS:
                self._check_export(caller, action, each)

    def check_place(self, caller: Identity, action: Action, address: Address) -> None:
        """Raise Forbidden if the caller's token does not allow the call on this page or session."""
        limits, page = caller.limits, self.directory.get(address.page_id)
        session_id = page.session_id if page is not None else address.session_id
        if session_id is not None and limits.session not in {None, session_id}:
            raise _wrong_session(caller, session_id)
        if page is None or address.is_new:
            self._check_page_count(caller, action, address.page_id if address.is_new else None)
            return
        if limits.read_only and _acts(action) and not page.belongs_to(caller.client_id):
            raise _refused(
                caller,
                f'{action.name()} of "{page.page_id}", which is not this client\'s: a token that only reads moves and '
                "closes pages of its own",
                "--read-only",
                f"One of your own: {next_call('open_page', url='...')}.",
            )
        parts = action.every_part() if type(action) in _MAY_LOAD else ()
        programs = [name for each in parts for name in each.programs]
        if programs and not (page.belongs_to(caller.client_id) or page.access == "act" or caller.operator):
            raise Forbidden(
                f'{action.name()} with {programs[0]} of "{page.page_id}", which is not this client\'s: {_PROGRAM}.',
                hint=f"Leave {programs[0]} out, or use a page of your own: {next_call('open_page', url='...')}.",
                details=field_details(programs[0]),
            )
        if limits.pages is not None and self.takes_page(caller, action, page):
            self._check_page_count(caller, action, page.page_id)

    def takes_page(self, caller: Identity, action: Action, page: PageState | None) -> bool:
        """Return whether the page would be one more for a caller whose token limits its pages."""
        if page is None or caller.limits.pages is None or page.belongs_to(caller.client_id):
            return False
        return _acts(action) and action.closes is None and page.access != "act"

    def check_recipient(self, caller: Identity, recipient: ClientRef, page_id: str) -> None:
        """Raise Forbidden if a page is handed to a client that may have no more. A person may exceed the number."""
        known = self.with_limits(recipient)
        if not caller.operator and self._too_many(known, page_id) is not None:
            raise Forbidden(
                f'"{recipient.named}" has as many pages as its token allows (--pages). Nothing was done.',
                hint=f"Leave the page to whoever may take it: {next_call('release_page', page_id=page_id)}.",
                details={"context": {"rule": "--pages"}},
            )

    def check_settings(self, caller: Identity) -> None:
        """Raise Forbidden for a limited token: settings reveal folders, sites and rules that are not its business."""
        if caller.limits.narrow:
            raise Forbidden(
                "Settings are told to tokens without limits.",
                hint="The account's owner sees them: browse-together config.",
                details={"context": {"limits": caller.limits.words}},
            )

    def placed(self, caller: Identity, body: Json) -> Json:
        """Return the body with the token's session added, if the call names none and would use another."""
        session_id = caller.limits.session
        if session_id is None or "sessionId" in body:
            return body
        action = called(body)
        if "session_id" not in action.model_fields:
            return body
        page_id = body.get("pageId")
        is_there = isinstance(page_id, str) and self.directory.get(page_id) is not None
        of_page = action.scope is Scope.PAGE and not action.unaddressed.opens
        return body if of_page or is_there else {**body, "sessionId": session_id}

    def narrowed(self, caller: Identity, action: A) -> A:
        """Return a form of the action that reveals no more than the caller may know."""
        return action.about_caller() if caller.limits.session or caller.limits.origins else action

    def hides_cookies(self, caller: Identity, session_id: str | None) -> bool:
        """Return whether the caller gets only the names of cookies, without values."""
        if caller.limits.cookies == "none":
            return True
        granted = caller.operator or caller.limits.cookies == "values" or (self.cookie_values and not caller.token_name)
        return not granted and self.directory.sessions.has_shared_login(session_id)

    def may_list(self, caller: Identity, session_id: str) -> bool:
        return caller.limits.session in {None, session_id}

    def seen_by(self, caller: Identity, page: PageState) -> PageState:
        """Return a page as the caller may see it: outside the token's origins, only that it exists. A person sees every
        page."""
        page = page if caller.operator else self.directory.seen_by(page, caller.client_id)
        if not caller.limits.origins or within(caller.limits.origins, page.url):
            return page
        person = page.person and page.person.model_copy(update={"origin": "", "message": ""})
        return page.model_copy(
            update={"url": "", "title": "", "error_page": "", "dialog": None, "hold_reason": "", "person": person}
        )

    def shown(self, caller: Identity, outcome: Outcome) -> Outcome:
        """Return an outcome as its caller may see it: without a page that is private to another client, and without
        the URLs and requests of a page into which the caller may not look."""
        page = outcome.page
        if page is None or (not caller.limits.origins and self.directory.open_to(page, caller.client_id)):
            return outcome
        seen = None if page.private_from(caller.client_id) and not caller.operator else self.seen_by(caller, page)
        hidden: dict[str, object] = {"page": seen, "url_before": None, "requests": [], "targets": {}, "came": []}
        return outcome if seen is page else outcome.model_copy(update=hidden)

    def may_hear(self, caller: Identity, moved: PageMoved) -> bool:
        page = self.directory.get(moved.page_id)
        return self.may_list(caller, moved.session_id) and (
            page is None or not caller.limits.origins or within(caller.limits.origins, page.url)
        )

    def for_steps(self, caller: Identity) -> Identity:
        """Return the caller for the steps of its calls. Their own tool was allowed, so those of steps need not be."""
        if not caller.limits.toolsets:
            return caller
        return caller.model_copy(update={"limits": caller.limits.model_copy(update={"toolsets": ()})})

    # --- the rules ---------------------------------------------------------------------------------------------------

    def _check_session(self, caller: Identity, action: Action) -> None:
        limits = caller.limits
        if limits.session is None:
            return
        pages, sessions = action.given_names()
        named = {page.session_id for page_id in pages | sessions if (page := self.directory.get(page_id))}
        named |= {name for name in sessions if self.directory.get(name) is None}
        if action.makes_session:
            named.add(action.addressed.session or "a new one")
        if other := sorted(named - {limits.session}):
            raise _wrong_session(caller, other[0])

    def _check_page_count(self, caller: Identity, action: Action, page_id: str | None) -> None:
        """Raise Forbidden if the token's clients have as many pages as it allows. `page_id` would be one more."""
        if page_id is None or (held := self._too_many(caller, page_id)) is None:
            return
        names = ", ".join(sorted(held)[:5])
        raise _refused(
            caller,
            f"{action.name()} would make more than the {caller.limits.pages} pages that this token may have",
            "--pages",
            f"Close one first ({names}): {next_call('close_page', page_id='...')}." if names else "",
        )

    def _too_many(self, client: Identity, page_id: str) -> set[str] | None:
        """Return the pages of a token's clients if they may not have this one too; else None."""
        if (most := client.limits.pages) is None:
            return None
        held = {page.page_id for page in self.directory.pages() if client.is_sibling(page.holder_id or "")}
        opening = {name for name, client_id in self.directory.reservations if client.is_sibling(client_id)}
        return None if len((held | opening) - {page_id}) < most else held

    def _check_export(self, caller: Identity, action: Action, part: Action) -> None:
        own = part.addressed.session if "session_id" in part.model_fields_set else None
        if self.hides_cookies(caller, own or action.addressed.session or DEFAULT_SESSION):
            raise _refused(
                caller,
                f"{action.name()} would give the cookie values of the shared login",
                "--cookies",
                f"In a session of your own it needs no such right: {next_call('create_session')}.",
            )


def _check_person(caller: Identity, action: Action) -> None:
    if action.claim >= Claim.BY_PERSON and not caller.operator:
        raise Forbidden(
            f"{action.name()} is for the account's own person. Nothing was done.",
            hint=f"Ask them: {next_call('request_human', message='...')}.",
        )


def _check_kind(caller: Identity, action: Action) -> None:
    rule = caller.limits.rule_against(action)
    is_script = any(url.strip()[:5].lower() == "data:" for url in action.named_urls)
    rule = "--no-scripting" if not rule and is_script and not caller.limits.scripting else rule
    if rule:
        raise _refused(caller, f"{action.name()} is not allowed to this token: {_WHAT[rule]}", rule)
    if action.programs and (rule := caller.limits.rule_against_programs):
        name = action.programs[0]
        problem = f"{action.name()} with {name} is not allowed to this token: {_PROGRAM}"
        raise _refused(caller, problem, rule, f"Without {name} it is allowed.", without=True)


def _check_origins(caller: Identity, action: Action) -> None:
    origins = caller.limits.origins
    if not origins:
        return
    is_asked = asks_within if action.request_method else within
    for url in action.named_urls:
        if not url or not is_asked(origins, url):
            raise _refused(
                caller,
                f"{action.name()} at {cut(url, 200) or 'no one URL'}: the token is for {', '.join(origins)}",
                "--origin",
            )
    if action.scope is Scope.SESSION and not action.named_urls:
        raise _refused(
            caller,
            f"{action.name()} concerns all sites of a session, and the token is for {', '.join(origins)}",
            "--origin",
            "With a URL it concerns one site." if "urls" in type(action).model_fields else "",
        )
    script = action.runs_script
    if script is not None and script.later and not pattern_within(origins, script.pattern):
        raise _refused(
            caller,
            f"{action.name()} would also run wherever the page goes; the token is for {', '.join(origins)}",
            "--origin",
            f'A pattern that begins with one of these is allowed: "{origins[0]}/...".'
            if script.pattern
            else f"For the document that is there: {next_call('evaluate_script', expression='...')}.",
        )


def _acts(action: Action) -> bool:
    return any(each.effect is not Effect.READS for each in action.every_part())


def _wrong_session(caller: Identity, session_id: str) -> Forbidden:
    return _refused(
        caller,
        f'Session "{session_id}" is not the one that this token is for',
        "--session",
        f'Leave sessionId out, or give "{caller.limits.session}".',
    )


def _refused(caller: Identity, problem: str, rule: str, hint: str = "", *, without: bool = False) -> Forbidden:
    """Make the refusal: the rule, what it allows, and how the account's owner can give more."""
    token = f'another token than "{caller.token_name}"' if caller.token_name else "a token"
    how = "with" if rule == "--cookies" else "without" if without or rule in _WITHOUT else "with another"
    by_setting = "" if caller.token_name or rule != "--cookies" else ", or BROWSE_COOKIE_VALUES=true for all chats"
    more = f"{_KEYS}, {how} {rule}{by_setting}"
    return Forbidden(
        f"{problem} ({rule}). Nothing was done.",
        hint=f"{f'{hint} ' if hint else ''}The account's owner gives more by {token}: {more}.",
        details={"context": {"rule": rule, "limits": caller.limits.words}},
    )

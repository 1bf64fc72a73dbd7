"""Describes why a person has a page: an agent's question, or a hold that the person took."""

import secrets

from browse_together.contract.actions.people import RequestHuman
from browse_together.contract.calls import ASKING, Call
from browse_together.contract.errors import HumanInControl, ValidationFailed, field_details
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import HoldKind, HumanRequestState
from browser_service.rules.human import HeldPage, HumanRequest
from browser_service.security.urls import origin_of


def origin_at(page: HeldPage) -> str:
    return origin_of(page.url) or ""


def hold_state(page: HeldPage, by: str, kind: HoldKind) -> HumanRequestState:
    request_id = f"hold-{secrets.token_hex(4)}"
    place = {"page_id": page.page_id, "session_id": page.session_id, "origin": origin_at(page)}
    return HumanRequestState(request_id=request_id, kind=kind, asked_by=by, **place)


def request_state(page: HeldPage, call: Call, action: RequestHuman) -> HumanRequestState:
    return HumanRequestState(
        request_id=f"ask-{secrets.token_hex(4)}",
        kind=action.kind,
        origin=origin_at(page),
        message=action.message,
        choices=action.choices or [],
        page_id=page.page_id,
        session_id=page.session_id,
        asked_by=call.client_label or "a client",
        of_rule=ASKING in call.call_id,
    )


def check_question(page: HeldPage, action: RequestHuman) -> None:
    """Raise ValidationFailed for a question that no person could answer, or that names another site than the page's."""
    field, problem = "", ""
    if action.withdraw:
        field, problem = "requestId", "withdraw needs the requestId of the request."
    elif not action.message:
        field, problem = "message", "A person must be told what to do: message is missing."
    elif (action.kind == "tab") is not page.awaits_tab:
        field, problem = "pageId", f"{page.page_id} is no tab to ask for: leave pageId out, and one is asked for."
        if page.awaits_tab:
            problem = f"{page.page_id} only stands for a tab that you asked for. Wait for that."
    elif action.choices and action.kind != "decision":
        field, problem = "choices", f"choices are for a decision, not for {action.kind!r}."
    elif action.choices is not None and len(action.choices) < 2:  # noqa: PLR2004 - else there is nothing to choose
        field, problem = "choices", "choices are two at least."
    elif action.origin and origin_of(action.origin) != origin_at(page):
        where = origin_at(page) or "no site"
        field, problem = "origin", f"{page.page_id} is at {where}, not at {action.origin}: ask on a page of that site."
    if problem:
        raise ValidationFailed(
            problem,
            hint=f"{next_call('request_human', kind='login', message='...')}; "
            f"{next_call('request_human', request_id='...')} reads on.",
            details=field_details(field),
        )


def check_place(page: HeldPage, first: HumanRequest) -> None:
    """Raise HumanInControl for a second question on a page that only stands for the tab that the first asks for."""
    if page.awaits_tab:
        wait = first.question.next_calls(page.page_id)
        raise HumanInControl(f"You ask for a tab already, which will be {page.page_id}.", hint=wait)

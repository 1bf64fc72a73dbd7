"""Adds to a list of logins what the record knows of each: who used it last, and who signed in."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import urlsplit

from browse_together.contract.calls import ActivityRecord, Outcome
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.timestamps import iso
from browser_service.observability.activity import Activity
from browser_service.rules.login_cookies import DAY_S, is_at, signs_in
from browser_service.spine.call import FrontCall, Go
from browser_service.store.activity import RowFilter

_LOOKED_AT: Final = 2_000
_FORGOTTEN: Final = "the browser forgets it"


@dataclass(eq=False)
class LoginUses:
    """The acts at sites where a session is signed in, as the caller may see them."""

    activity: Activity

    async def told(self, call: FrontCall, go: Go) -> Outcome:
        """Add to each login of the reply when and by whom it was last used, and by whom it was made; and how to keep
        those that end within a day."""
        outcome = await go(call)
        if outcome.result is None:
            return outcome
        found = cast("list[Json]", outcome.result["logins"])  # as the host's handler lists them
        rows, by_person = RowFilter(equal={"session_id": call.address.session_id or ""}), call.caller.operator
        acts, _ = await self.activity.find(rows, call.client_id, _LOOKED_AT, all_rows=by_person)
        outcome.result["logins"] = [_described(each, acts) for each in found]
        ending = [str(each["site"]) for each in found if _ends_soon(each)]
        if ending:
            asks = next_call("request_human", kind="login", message=f"Sign in again at {ending[0]}")
            outcome.result["advice"] = f"{', '.join(ending)}: within a day. On a page there: {asks}"
        return outcome


def _ends_soon(login: Json) -> bool:
    ends_at = login["endsAt"]
    return isinstance(ends_at, int | float) and ends_at - time.time() < DAY_S


def _described(login: Json, acts: Iterable[ActivityRecord]) -> Json:
    site, ends_at = str(login["site"]), login["endsAt"]
    used = _latest(acts, lambda act: _is_at(act, site))
    signed_in = _latest(acts, lambda act: _signed_in(act, site))
    until = iso(ends_at, "seconds") if isinstance(ends_at, int | float) else _FORGOTTEN
    described: Json = {**login, "until": until}
    described.pop("endsAt")
    if used is not None:
        described |= {"lastUsed": used.time, "lastUsedBy": used.client}
    if signed_in is not None:
        described["signedInBy"] = signed_in.client
    return described


def _latest(acts: Iterable[ActivityRecord], fits: Callable[[ActivityRecord], bool]) -> ActivityRecord | None:
    return next((act for act in acts if act.outcome == "ok" and fits(act)), None)


def _signed_in(act: ActivityRecord, site: str) -> bool:
    """Return whether an act was done at a page of the site to sign in at, or brought its login."""
    if act.action in ACTIONS and ACTIONS[act.action].brings_logins:
        return _is_at(act, site)
    page = urlsplit(act.url_before or "")
    return is_at(page.hostname or "", site) and signs_in(f"{page.netloc}{page.path}")


def _is_at(act: ActivityRecord, site: str) -> bool:
    """Return whether an act was done at a site, led there, or names it."""
    named = (act.arguments.get("url"), act.arguments.get("site"), act.url_before, act.url_after)
    return any(is_at(urlsplit(each).hostname or each, site) for each in named if isinstance(each, str))

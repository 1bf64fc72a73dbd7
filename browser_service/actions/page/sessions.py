"""Changes who may use a session, brings logins in, and changes what concerns all of its pages."""

import json
import re
from typing import Final

from pydantic import JsonValue

from browse_together.contract.actions import sessions, signing_in
from browse_together.contract.errors import Forbidden, ResourceExhausted, ValidationFailed, field_details
from browse_together.contract.model import Json, list_at, weight
from browse_together.contract.next_calls import next_call
from browser_service.host.handle.session import BrowserSession
from browser_service.host.sessions import login_file, login_import
from browser_service.host.sessions.cookie_values import hidden_note
from browser_service.host.sessions.logins import cookies_in, cookies_of
from browser_service.rules.login_cookies import site_logins
from browser_service.security.urls import origin_of

_MOST_COPIED: Final = 10_000_000


async def login(session: BrowserSession, action: signing_in.Login) -> Json:
    signed_in = await session.entry.sign_in(action.url)
    return {"sites": [*signed_in.sites], "observed": signed_in.summary}


async def import_login(session: BrowserSession, action: signing_in.ImportLogin) -> Json:
    file = login_file.read(action.content, action.site)
    await login_import.import_into(session.entry, file, session.take_logins)
    session.entry.logins.save_soon()
    words = session.entry.bound_logins.words(file.cookies)
    observed = f"{file.summary}\nlogins {words}" if words else file.summary
    return {"brought": [*file.by_site()], "notBrought": [*file.refused], "observed": observed}


async def list_logins(session: BrowserSession, action: signing_in.ListLogins) -> Json:
    context = await session.context()
    found = site_logins([*await cookies_in(context, action.urls)])
    binds = session.entry.bound_logins.binds
    return {
        "logins": [
            {"site": each.site, "cookies": each.cookies, "endsAt": each.ends_at, "bound": binds(each.site)}
            for each in found
        ]
    }


async def get_cookies(session: BrowserSession, action: sessions.GetCookies) -> Json:
    context = await session.context()
    criteria = {"name": action.cookie, "path": action.path}
    left_out = {"value"} if session.call.hides_cookies else set()
    of_domain = _hosts_of(session, action.domain or "")
    matches = [
        {key: value for key, value in cookie.items() if key not in left_out}
        for cookie in (await context.cookies(action.urls) if action.urls else await context.cookies())
        if all(value is None or cookie.get(key) == value for key, value in criteria.items())
        and (action.domain is None or of_domain.search(cookie.get("domain", "")))
    ]
    cookies_field = await session.files.shown_data("cookies", matches, action.budget)  # type: ignore[arg-type] # Playwright's cookies are JSON
    return {**cookies_field, "count": len(matches), **hidden_note(session.call)}


def _hosts_of(session: BrowserSession, domain: str) -> re.Pattern[str]:
    """Match a domain's cookies by their host. In a person's own browser hosts below it may be other sites': co.uk."""
    below = "" if session.entry.keeps_tabs_private else r"(.*\.)?"
    return re.compile(rf"^\.?{below}{re.escape(domain.lstrip('.'))}$", re.IGNORECASE)


async def grant_permissions(session: BrowserSession, action: sessions.GrantPermissions) -> Json:
    origin = origin_of(action.origin)
    if origin is None or not session.entry.policy.permits(origin):
        raise Forbidden(f"Nothing can be granted to {action.origin}: the URL policy does not allow the host.")
    before = await session.entry.grant(origin, [*action.permissions], session.call.client_id)
    revoked = [name for name in before if name not in action.permissions]
    revocation = f"; taken back: {', '.join(revoked)}" if revoked else ""
    now = ", ".join(action.permissions) or "nothing"
    return {
        "granted": [*action.permissions],
        "observed": f"{origin} is granted {now} in session {action.session_id}{revocation}",
    }


async def set_cookies(session: BrowserSession, action: sessions.SetCookies) -> Json:
    for number, cookie in enumerate(action.cookies):
        if problem := cookie.problem():
            field = f"cookies.{number}"
            raise ValidationFailed(f"{field} of set_cookies: {problem}.", details=field_details(field))
        if not session.entry.policy.permits(f"https://{cookie.host.lstrip('.')}/"):
            raise Forbidden(f"Cookies for {cookie.host} may not be set here: the URL policy does not allow the host.")
    context = await session.context()
    await context.add_cookies([cookie.given() for cookie in action.cookies])  # type: ignore[misc] # by Playwright's names
    session.entry.logins.save_soon()
    after = await context.cookies()
    kept = {(c.get("name"), c.get("value"), c.get("domain", "").lstrip(".")) for c in after}
    lost = [c.cookie for c in action.cookies if (c.cookie, c.value, c.host.lstrip(".")) not in kept]
    observed = f"{len(action.cookies) - len(lost)} cookies are set"
    if not lost:
        return {"set": len(action.cookies), "observed": observed}
    observed += f"; the browser did not keep (expired, or against its rules): {', '.join(lost)}"
    return {"set": len(action.cookies) - len(lost), "notKept": [*lost], "observed": observed}


async def clear_cookies(session: BrowserSession, action: sessions.ClearCookies) -> Json:
    context = await session.context()
    before = await cookies_in(context)
    domain = _hosts_of(session, action.domain) if action.domain else None
    criteria = {"name": action.cookie, "domain": domain, "path": action.path}
    await context.clear_cookies(**{name: value for name, value in criteria.items() if value is not None})
    session.entry.logins.save_soon()
    after = await cookies_in(context)
    removed = await session.entry.sign_ins.remove(action.concerns) if not (action.cookie or action.path) else {}
    taken = [cookie for cookie in before if cookie not in after]
    if taken or removed:
        signed_in: list[JsonValue] = [[origin, *each] for origin, each in removed.items()]
        session.take_logins(login_import.part_of_state(cookies=[*taken], httpLogins=signed_in))
    cleared = len(before) - len(after)
    told = f"; the logins by HTTP at {', '.join(removed)} are removed" if removed else ""
    return {"cleared": cleared, "observed": f"{cleared} cookies are deleted{told}"}


async def save_session_state(session: BrowserSession, action: sessions.SaveSessionState) -> Json:
    state = await session.entry.keep(action.called, session.call.client_id)
    return {"name": action.called, **_counts(state), "observed": f"saved as {action.called}: {_summary(state)}"}


async def restore_session_state(session: BrowserSession, action: sessions.RestoreSessionState) -> Json:
    state, entry = session.call.state or {}, session.entry
    if login_import.is_part(state):
        told = await login_import.put_back(entry, state, session.take_logins)
        entry.logins.save_soon()
        return {"name": action.called, **_counts(state), "observed": f"restored {action.called}: {told}"}
    before = await entry.storage()
    if before != state and any(before.values()):
        session.take_logins(before)
    await entry.restore(state)
    return {"name": action.called, **_counts(state), "observed": f"restored {action.called}: {_summary(state)}"}


async def export_session(session: BrowserSession, action: sessions.ExportSession) -> Json:  # noqa: ARG001 - it says no more
    if session.call.copied_sites is not None:
        return await _for_copy(session, session.call.copied_sites)
    state = await session.entry.storage()
    file = await session.files.keep(json.dumps(state, indent=1).encode(), "application/json", "logins", inline=False)
    observed = (
        f"exported: {_summary(state)}; not in it: sessionStorage, caches, passkeys. Elsewhere: import_login, content"
    )
    words = session.entry.bound_logins.words(cookies_of(state))
    observed = f"{observed} of the file{f'; logins {words}' if words else ''}"
    return {"artifact": {**file, "secret": True}, **_counts(state), "observed": observed}


async def _for_copy(session: BrowserSession, sites: list[str]) -> Json:
    """Hand the logins over to the front, in what no reply shows."""
    if session.attached:
        raise Forbidden("They are those of a person's own browser.", hint=f"Work there: {next_call('list_pages')}.")
    state = await login_import.read_some(session.entry, sites)
    if weight(state) > _MOST_COPIED:
        raise ResourceExhausted(
            f"They have {weight(state):,} bytes, and {_MOST_COPIED:,} are copied at most.",
            hint="Name fewer sites." if sites else "Clear cookies that nobody needs.",
            details=field_details("sites"),
        )
    session.take_logins({**state, **session.entry.bound_logins.state()})
    return _counts(state)


def _counts(state: Json) -> Json:
    return {"cookies": len(list_at(state, "cookies")), "origins": len(list_at(state, "origins"))}


def _summary(state: Json) -> str:
    return f"{len(list_at(state, 'cookies'))} cookies, storage of {len(list_at(state, 'origins'))} origins"

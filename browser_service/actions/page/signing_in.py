"""Brings logins into a session: a person signs in with a window, or a file comes from another browser."""

from browser_service.host.sessions import login_file, login_import
from browser_service.host.stages import reversal
from browser_service.host.stages.session_handle import BrowserSession
from shared.actions import signing_in
from shared.model import Json


async def login(session: BrowserSession, action: signing_in.Login) -> Json:
    signed_in = await session.entry.sign_in(action.url)
    return {"sites": [*signed_in.sites], "observed": signed_in.summary}


async def import_login(session: BrowserSession, action: signing_in.ImportLogin) -> Json:
    file = login_file.read(action.content, action.site)
    context = await session.context()
    before = await context.cookies()
    await login_import.import_into(session.entry, file)
    session.entry.logins.save_soon()
    changed = reversal.cookie_changes(before, await context.cookies())
    if changed["was"] or changed["made"]:
        what = f"cookies brought into session {session.entry.session_id}; local storage stays"
        session.undoable(what, changed, lost=bool(changed["was"]))
    return {"brought": [*file.by_site()], "notBrought": [*file.refused], "observed": file.summary}

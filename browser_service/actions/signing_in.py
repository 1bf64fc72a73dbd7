"""How logins come into a session: by a person in a window of their own, or from another browser."""

from browser_service.browser.launching import importing
from browser_service.browser.recovery import undoing
from browser_service.browser.session import BrowserSession
from shared.actions import signing_in
from shared.calls import Json


async def login(session: BrowserSession, action: signing_in.Login) -> Json:
    signed_in = await session.entry.sign_in(action.url)
    return {"sites": [*signed_in.sites], "observed": signed_in.told}


async def import_login(session: BrowserSession, action: signing_in.ImportLogin) -> Json:
    found = importing.read(action.content, action.site)
    context = await session.context()
    before = await context.cookies()
    await importing.bring(session.entry, found)
    session.entry.logins.save_soon()
    changed = undoing.of_cookies(before, await context.cookies())
    if changed["was"] or changed["made"]:
        what = f"cookies brought into session {session.entry.session_id}; local storage stays"
        session.undoable(what, changed, lost=bool(changed["was"]))
    return {"brought": [*found.by_site()], "notBrought": [*found.refused], "observed": found.told}

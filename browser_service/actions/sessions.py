"""Sessions: who may use them, and what concerns all pages of one."""

from browser_service.browser.session import BrowserSession
from browser_service.service import Service
from shared.actions import sessions
from shared.calls import Json


async def create_session(service: Service, action: sessions.CreateSession) -> Json:
    return await service.create_session(action.session_id)


async def list_sessions(service: Service, action: sessions.ListSessions) -> Json:  # noqa: ARG001 - it asks for nothing
    return service.list_sessions()


async def share_session(service: Service, action: sessions.ShareSession) -> Json:
    return service.share_session(action.session_id, shared=action.access == "act")


async def close_session(service: Service, action: sessions.CloseSession) -> Json:
    return await service.close_session(action.session_id)


async def get_cookies(session: BrowserSession, action: sessions.GetCookies) -> Json:
    context = await session.context()
    cookies = await context.cookies(action.urls) if action.urls else await context.cookies()
    return {"cookies": [{**cookie} for cookie in cookies], "count": len(cookies)}  # type: ignore[dict-item] # JSON


async def clear_cookies(session: BrowserSession, action: sessions.ClearCookies) -> Json:
    context = await session.context()
    before = len(await context.cookies())
    wanted = {"name": action.cookie, "domain": action.domain, "path": action.path}
    await context.clear_cookies(**{name: value for name, value in wanted.items() if value is not None})
    session.save_soon()
    cleared = before - len(await context.cookies())
    return {"cleared": cleared, "observed": f"{cleared} cookies are deleted"}

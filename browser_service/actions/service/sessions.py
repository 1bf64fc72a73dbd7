"""Makes, describes, shares, extends and closes sessions."""

from browser_service.spine.ports import ServiceContext
from shared.actions import sessions
from shared.model import Json


async def create_session(service: ServiceContext, action: sessions.CreateSession) -> Json:
    return await service.sessions.create(service.client, action)


async def get_session(service: ServiceContext, action: sessions.GetSession) -> Json:
    return await service.sessions.describe(service.session_of(action.session_id), service.client.client_id)


async def list_sessions(service: ServiceContext, action: sessions.ListSessions) -> Json:
    return service.list_sessions(action.user_id, persistent=action.persistent)


async def share_session(service: ServiceContext, action: sessions.ShareSession) -> Json:
    shared = action.access == "act"
    return await service.sessions.share(action.session_id, service.client.client_id, shared=shared)


async def extend_session(service: ServiceContext, action: sessions.ExtendSession) -> Json:
    return await service.sessions.extend(action.session_id, service.client.client_id, action.ttl)


async def close_session(service: ServiceContext, action: sessions.CloseSession) -> Json:
    closed = await service.sessions.close(action.session_id, service.client.client_id)
    if closed is not None:
        state: Json = closed.model_dump(mode="json")
        service.undoable(action, f"session {action.session_id} closed", state)
    return {"closed": action.session_id}

"""Starts and stops the trace of a session."""

from browser_service.host.stages.session_handle import BrowserSession
from shared.actions import tracing
from shared.model import Json


async def start_tracing(session: BrowserSession, action: tracing.StartTracing) -> Json:
    await session.entry.tracing.start(session, action)
    return {"observed": f'session "{action.session_id}" is being traced, for {action.max_seconds} s at most'}


async def stop_tracing(session: BrowserSession, action: tracing.StopTracing) -> Json:  # noqa: ARG001 - it says nothing more
    return await session.entry.tracing.stop(session)

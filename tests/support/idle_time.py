"""Lets time pass in a service in which nobody does anything."""

from browser_service.host.host import LocalHost
from tests.support.service import RunningService

HOUR_S = 3_600.0


def host_of(service: RunningService) -> LocalHost:
    """Return the host of a service, if it is in this process."""
    host = service.host
    assert isinstance(host, LocalHost)
    return host


def unused(service: RunningService, page_id: str, seconds: float) -> None:
    """Let a page be unused for so much longer, as its host and the front know it."""
    service.host.pages[page_id].record.used_at -= seconds
    if (known := service.known_page(page_id)) is not None:
        idle_ms = known.idle_ms + round(seconds * 1000)
        service.parts.directory.note(known.model_copy(update={"idle_ms": idle_ms}))


async def rests(service: RunningService, seconds: float = HOUR_S) -> None:
    """Let this time pass without a call, then make the service look for idle pages."""
    host = host_of(service)
    for page_id in host.pages:
        unused(service, page_id, seconds)
    for session in host.sessions.values():
        session.used_at -= seconds
    await host.room.sweep()


def parked(service: RunningService) -> set[str]:
    return {entry.page_id for entry in service.host.pages.values() if entry.record.place.parked is not None}

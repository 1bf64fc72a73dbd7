"""Time goes by in a service where nobody does anything."""

from browser_service.host.host import LocalHost
from tests.support.service import RunningService

HOUR_S = 3_600.0


def host_of(service: RunningService) -> LocalHost:
    """Of a service whose host is in this process."""
    host = service.host
    assert isinstance(host, LocalHost)
    return host


async def rests(service: RunningService, seconds: float = HOUR_S) -> None:
    """So long nothing happens; then the service looks for what is idle."""
    host = host_of(service)
    for entry in host.pages.values():
        entry.record.used_at -= seconds
    for session in host.sessions.values():
        session.used_at -= seconds
    await host.idling.look()


def parked(service: RunningService) -> set[str]:
    return {entry.page_id for entry in service.host.pages.values() if entry.record.place.parked is not None}

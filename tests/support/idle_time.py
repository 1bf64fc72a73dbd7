"""Lets time pass in a service in which nobody does anything."""

from browser_service.host.host import LocalHost
from tests.support.service import RunningService

HOUR_S = 3_600.0


def host_of(service: RunningService) -> LocalHost:
    """Return the host of a service, if it is in this process."""
    host = service.host
    assert isinstance(host, LocalHost)
    return host


async def rests(service: RunningService, seconds: float = HOUR_S) -> None:
    """Let this time pass without a call, then make the service look for idle pages."""
    host = host_of(service)
    for entry in host.pages.values():
        entry.record.used_at -= seconds
    for session in host.sessions.values():
        session.used_at -= seconds
    await host.room.sweep()


def parked(service: RunningService) -> set[str]:
    return {entry.page_id for entry in service.host.pages.values() if entry.record.place.parked is not None}

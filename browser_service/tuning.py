"""Constants that suit every installation, and so are no settings."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Times and limits of the service, which tests change. 0 means no limit, unless stated otherwise."""

    idle_lease_ms: int = 120_000
    """After this long without an act, others may take the page of a client."""
    queue_wait_ms: int = 10_000
    """Longest wait of a call for its turn."""
    presence_grace_ms: int = 5_000
    """How long a client may be gone before its calls end and its pages are free."""
    client_pages: int = 30
    """Pages that one client may have open, popups included."""
    calls_in_flight: int = 32
    session_pages: int = 120
    page_popups: int = 10
    """Popups that a page may have open, including those of its popups; more are closed as they come."""
    client_artifacts_mb: int = 1_000
    """Megabytes of one client's files; the oldest files beyond this are removed."""
    artifacts_mb: int = 5_000
    """Megabytes of all clients' files together; the oldest files beyond this are removed."""
    artifact_days: int = 7
    download_max_mb: int = 500
    """Megabytes of one download; a larger one is stopped."""
    activity_days: int = 30
    login_within_s: int = 900
    """How long the window of `browse-together login` stays open."""
    dialog_wait_ms: int = 30_000
    """A dialog that nobody answers for this long is dismissed."""
    save_every_ms: int = 30_000
    """Logins that pages changed by themselves are saved at least this often."""
    blank_pages_ms: int = 600_000
    """How long an unused page of an absent client stays."""
    park_after_ms: int = 1_800_000
    """A page that nobody uses for this long is parked: its window closes, and comes back with the next call."""
    unvisited_ms: int = 120_000
    """If a gateway started the service, and for this long no client is there and no page was opened, the browser ends;
    0 keeps it."""
    spare_window_ms: int = 300_000
    """After two pages were opened within this time, a blank window waits for the next; 0 keeps none ready."""

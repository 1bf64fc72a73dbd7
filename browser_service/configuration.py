"""Turns the settings into what each part of the service takes."""

from collections.abc import Callable

from browse_together.contract.pages import SessionOptions, Size
from browser_service.host.seam import HostLimits, Idle
from browser_service.host.sessions.options import LaunchOptions
from browser_service.host_settings import HostSettings
from browser_service.rules.quotas import ClientLimits
from browser_service.security.act_rules import ActRules
from browser_service.security.url_rules import UrlRules, url_rule
from browser_service.security.urls import UrlPolicy
from browser_service.sessions.records import Browser
from browser_service.settings import NEEDS_OWN_BROWSER, Settings
from browser_service.store.journal_file import damage_of


def shared_browser(settings: Settings) -> Browser:
    return Browser(settings.browser_type, settings.headless and settings.cdp_url is None, settings.viewport_size)


def shared_login(settings: Settings) -> SessionOptions:
    width, height = settings.viewport_size
    viewport = Size(width=width, height=height)
    return SessionOptions(browser_type=settings.browser_type, viewport=viewport, locale=None)


def attach_refusal(settings: Settings) -> str:
    """Return why no browser can be attached to while the service runs; empty if one can."""
    if settings.cdp_url:
        return "BROWSE_CDP_URL says which browser this service attaches to, and it attaches to one."
    return f"{NEEDS_OWN_BROWSER}." if settings.needs_gate else ""


def client_limits(settings: Settings) -> ClientLimits:
    tuning = settings.tuning
    return ClientLimits(tuning.client_pages, tuning.calls_in_flight, settings.client_calls_per_minute)


def launch_options(settings: HostSettings, machine: Settings, policy: UrlPolicy) -> LaunchOptions:
    """Say how a host starts browsers, by the service's settings and those of its own machine."""
    return LaunchOptions(
        profile_dir=machine.profile_dir,
        engine=settings.browser_type,
        executable=machine.executable_path,
        headless=settings.headless,
        sandbox=machine.sandbox,
        proxy=settings.proxy,
        viewport=settings.viewport_size,
        login_within_s=settings.login_within_s,
        cdp_url=machine.cdp_url,
        private_tabs=machine.attached_tabs == "private",
        cdp_headers=machine.header_values,
        max_instances=settings.max_instances,
        file_damage=damage_of,
        policy=policy,
    )


def url_policy(
    settings: HostSettings,
    own_hosts: Callable[[], frozenset[str]],
    *,
    elsewhere: bool = False,
    opens_loopback: bool = True,
    refuses: frozenset[str] = frozenset(),
) -> UrlPolicy:
    """Build the URL policy. `own_hosts` returns the service's own names, because its port may be chosen later; for a
    host elsewhere, also the addresses by which that reached the service."""
    return UrlPolicy(
        own_hosts=own_hosts,
        rules=UrlRules(
            tuple(url_rule(text, allows=True) for text in settings.url_whitelist),
            tuple(map(url_rule, settings.url_blacklist)),
            for_requests=settings.url_rules_for == "requests",
        ),
        public_only=settings.private_network == "refuse",
        elsewhere=elsewhere,
        opens_loopback=opens_loopback,
        refuses=refuses,
    )


def host_limits(settings: HostSettings, memory_mb: int | None, *, elsewhere: bool = False) -> HostLimits:
    return HostLimits(
        *(settings.idle_lease_ms, settings.queue_wait_ms, settings.max_pages, settings.dialog_wait_ms),
        act_rules=ActRules(settings.act_rules),
        download_max_mb=settings.download_max_mb,
        session_pages=settings.session_pages,
        client_pages=settings.client_pages,
        page_popups=settings.page_popups,
        memory_mb=memory_mb,
        idle=Idle(
            page_s=settings.park_after_ms / 1000,
            page_in_need_s=settings.idle_lease_ms / 1000,
            browser_s=settings.instance_idle_ms / 1000,
            browsers_kept=settings.min_instances,
            spare_s=settings.spare_window_ms / 1000,
        ),
        save_every_ms=settings.save_every_ms,
        elsewhere=elsewhere,
        timeline=settings.timeline,
    )

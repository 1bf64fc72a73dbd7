"""The settings that concern every host, wherever it runs. They are JSON, so a host elsewhere gets them as they are."""

from typing import Literal, Self

from browse_together.contract.model import Model
from browser_service.security.act_rules import ActRule, read_rules
from browser_service.settings import Settings


class HostSettings(Model):
    """The settings of the service that its hosts need. What a machine alone can tell, such as where its browser is, is
    not among them."""

    browser_type: Literal["chromium", "firefox", "webkit"]
    headless: bool
    proxy: str | None
    viewport_size: tuple[int, int]
    idle_lease_ms: int
    queue_wait_ms: int
    max_pages: int
    client_pages: int
    min_instances: int
    max_instances: int
    instance_idle_ms: int
    download_max_mb: int
    timeline: Literal["thumbnails", "watched", "off"]
    url_whitelist: tuple[str, ...]
    url_blacklist: tuple[str, ...]
    url_rules_for: Literal["documents", "requests"]
    private_network: Literal["allow", "refuse"]
    act_rules: tuple[ActRule, ...]
    login_within_s: int
    dialog_wait_ms: int
    session_pages: int
    page_popups: int
    park_after_ms: int
    save_every_ms: int
    spare_window_ms: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Take them from the service's settings, and the rules for acts from their file. Raises WrongRules."""
        known = {**vars(settings.tuning), **vars(settings), "viewport_size": settings.viewport_size}
        known["act_rules"] = read_rules(settings.rules_file).rules
        return cls(**{name: known[name] for name in cls.model_fields})

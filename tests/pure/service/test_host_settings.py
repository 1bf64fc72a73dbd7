"""Tests that a host elsewhere can be made like the one in the service's process: its settings survive JSON, and none is
forgotten."""

from dataclasses import fields
from pathlib import Path

from browser_service import configuration
from browser_service.host.seam import HostLimits
from browser_service.host_settings import HostSettings
from browser_service.security.act_rules import ActRules
from browser_service.settings import Settings
from tests.support.service import settings_for

RULES = '[[rule]]\nname = "pay"\norigins = ["https://shop.example"]\ntext = ["Pay"]\n'
NUMBERS = (
    *("idle_lease_ms", "queue_wait_ms", "max_pages", "client_pages", "min_instances", "max_instances", "memory_mb"),
    *("instance_idle_ms", "download_max_mb", "login_within_s", "dialog_wait_ms", "session_pages", "page_popups"),
    *("park_after_ms", "save_every_ms", "spare_window_ms"),
)


def unusual(data_dir: Path) -> Settings:
    """Return settings of which none that concerns a host has its default."""
    data_dir.joinpath("policy.toml").write_text(RULES, encoding="utf-8")
    return settings_for(
        data_dir,
        browser_type="firefox",
        headless=False,
        proxy="http://proxy.example:3128",
        viewport="800x600",
        url_whitelist=("https://a.example/c",),
        url_blacklist=("*.d.example",),
        url_rules_for="requests",
        private_network="refuse",
        timeline="off",
        **{name: 200 + place for place, name in enumerate(NUMBERS)},
    )


def test_a_host_elsewhere_gets_the_settings_of_the_one_here(tmp_path: Path) -> None:
    settings, usual = unusual(tmp_path), HostSettings.of(settings_for(tmp_path / "usual"))
    here = HostSettings.of(settings)
    elsewhere = HostSettings.model_validate_json(here.model_dump_json())
    assert elsewhere == here
    same = [name for name in HostSettings.model_fields if getattr(here, name) == getattr(usual, name)]
    assert same == []
    policy = configuration.url_policy(elsewhere, frozenset)
    assert policy == configuration.url_policy(here, frozenset)
    assert configuration.launch_options(elsewhere, settings, policy) == configuration.launch_options(
        here, settings, policy
    )


def test_no_limit_of_a_host_is_left_at_its_default_by_the_settings(tmp_path: Path) -> None:
    limits, usual = configuration.host_limits(HostSettings.of(unusual(tmp_path)), 16, elsewhere=True), HostLimits()
    assert [each.name for each in fields(HostLimits) if getattr(limits, each.name) == getattr(usual, each.name)] == []
    assert isinstance(limits.act_rules, ActRules)
    assert [rule.name for rule in limits.act_rules.rules] == ["pay"]

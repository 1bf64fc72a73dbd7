"""Names every setting, by the process that has it, and those whose variable needs no prefix. `make docs` writes this
from the settings classes.

Each process knows by it whether a key of the file is a setting of the other, or of none."""

from typing import Final

SERVICE: Final = tuple(
    """
    data_dir log_level allow_remote tls_cert tls_key behind_proxy host port allowed_hosts public_url hosts
    host_lease_ms app_env key_store output_dir flows_dir browser_type headless executable_path cdp_url cdp_headers
    attach attached_tabs sandbox proxy viewport session_idle_ms max_pages memory_mb min_instances max_instances
    instance_idle_ms metrics_port timeline client_calls_per_minute cookie_values notify notify_webhook url_whitelist
    url_blacklist url_rules_for private_network guarded upload_roots
    """.split()  # noqa: SIM905 - as a list it would be a page long
)
GATEWAY: Final = tuple(
    """
    data_dir log_level port autostart url plain_http session client_id token token_file shared shared_idle_s name
    toolsets resources structured pages_ttl_ms elements_ttl_ms screenshots_ttl_ms allow_remote tls_cert tls_key
    behind_proxy transport mcp_host mcp_port mcp_path ws_port ws_path auth auth_secret auth_file cors_origins
    allowed_hosts rate_limit_window_ms rate_limit_max max_message_bytes heartbeat_interval_ms heartbeat_timeout_ms
    """.split()  # noqa: SIM905 - as a list it would be a page long
)
BARE: Final = tuple(
    """
    log_level port app_env browser_type headless
    """.split()  # noqa: SIM905 - as a list it would be a page long
)
SWITCHES: Final = tuple(
    """
    autostart plain_http shared structured allow_remote behind_proxy
    """.split()  # noqa: SIM905 - as a list it would be a page long
)

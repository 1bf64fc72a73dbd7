"""Makes the switches of Chromium that keep its own connections within the URL policy, whatever in it makes them."""

from browser_service.security.urls import UrlPolicy

_NO_WAY_ROUND = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # is its name in other builds
    "--disable-quic",
)
"""Where all goes through a gate, Chromium looks up no name by itself, and sends nothing by UDP."""


def network_switches(policy: UrlPolicy) -> tuple[str, ...]:
    """Return the switches. Without a gate Chromium finds no host that is always refused, by whatever it is asked for:
    WebSockets, speculation rules and workers ask nobody else."""
    if policy.needs_gate:
        return _NO_WAY_ROUND
    return ("--host-resolver-rules=" + ", ".join(f"MAP {host} ~NOTFOUND" for host in policy.unreachable_hosts()),)

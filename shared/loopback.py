"""Says which addresses are this machine's own, and what listening elsewhere takes."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return host == "localhost"


def exposure(host: str, *, allowed: bool, encrypted: bool, behind_proxy: bool) -> str:
    """Say what is missing for listening at an address, in one line; empty if nothing is."""
    if is_loopback(host) or (allowed and (encrypted or behind_proxy)):
        return ""
    needed = "" if allowed else "--allow-remote, which says that you mean it, and "
    return (
        f"--host {host} is reached from elsewhere; give {needed}--tls-cert and --tls-key, or --behind-proxy where "
        "something in front encrypts"
    )

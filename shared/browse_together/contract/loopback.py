"""Recognises this machine's own addresses, and checks what listening elsewhere needs."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return host == "localhost"


def reachable(host: str) -> str:
    """Return the address, in the form of URLs, by which this machine reaches a listener on `host`."""
    if host in {"", "0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def exposure(host: str, *, allowed: bool, encrypted: bool, behind_proxy: bool) -> str:
    """Return what is missing for listening at an address, in one line; empty if nothing is."""
    if is_loopback(host) or (allowed and (encrypted or behind_proxy)):
        return ""
    needed = "" if allowed else "--allow-remote, which says that you mean it, and "
    return (
        f"--host {host} is reached from elsewhere; give {needed}--tls-cert and --tls-key, or --behind-proxy where "
        "something in front encrypts"
    )

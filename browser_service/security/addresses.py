"""Addresses of cloud metadata services and private networks, in every notation that reaches them."""

import contextlib
import ipaddress
from collections.abc import Iterator
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_HOSTS: Final = frozenset(
    {
        "metadata.google.internal",
        "metadata.goog",
        "metadata",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
        "metadata.platformequinix.com",
        "rancher-metadata",
    }
)
_METADATA_V4: Final = ("169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32")
_METADATA_V6: Final = ("fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128")
_METADATA: Final = tuple(map(ipaddress.ip_network, (*_METADATA_V4, *_METADATA_V6)))
_LAST_32_BITS: Final = tuple(
    map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"))
)
"""Networks whose addresses end with an IPv4 address: compatible, mapped, SIIT and NAT64."""
_SITE_LOCAL: Final = ipaddress.IPv6Network("fec0::/10")
_ISATAP: Final = 0x5EFE


def spelled_address(host: str) -> Address | None:
    """Return the address that a host, spelled as Chromium does, is; None for a name."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    return None


def is_metadata(address: Address) -> bool:
    """Return whether a connection to this address reaches a cloud's metadata service, which hands out keys."""
    return any(each in network for each in destinations(address) for network in _METADATA)


def is_public(address: Address) -> bool:
    """Return whether an address is on the internet, as opposed to this machine or a private network."""
    return all(each.is_global and not each.is_multicast and each not in _SITE_LOCAL for each in destinations(address))


def is_local(address: Address) -> bool:
    """Return whether an address leads to this machine's loopback."""
    return any(each.is_loopback or each.is_unspecified for each in destinations(address))


def destinations(address: Address) -> Iterator[Address]:
    """Yield the address, and the IPv4 addresses inside it to which a router or translator may forward."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.is_loopback or address.is_unspecified or address.ipv4_mapped is None:
        yield address
    if any(address in network for network in _LAST_32_BITS) and int(last) > 1:
        yield last
    if (int(address) >> 32) & 0xFFFF == _ISATAP:
        yield last
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo


def metadata_patterns() -> list[str]:
    """Return Chromium host patterns (`*` is any text) for all spellings of metadata addresses and names."""
    patterns = [name + dot for name in sorted(METADATA_HOSTS) for dot in ("", ".")]
    for text in _METADATA_V4:
        network = ipaddress.IPv4Network(text)
        high, low = divmod(int(network.network_address), 1 << 16)
        whole = network.num_addresses == 1
        patterns.append(
            str(network.network_address) if whole else str(network.network_address).removesuffix("0.0") + "*"
        )
        ends = f"{high:x}:{low:x}*" if whole else f"{high:x}:*"
        inverted = f"{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}*" if whole else f"{high ^ 0xFFFF:x}:*"
        starts = ("::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1:*:", "*:5efe:", "2002:")
        patterns += [f"{start}{ends}" for start in starts] + [f"2001:*:{inverted}"]
    exact = (text.partition("/")[0] for text in _METADATA_V6 if text.endswith("/128"))
    return [*patterns, *(f"{text}*" for text in exact), *(f"fe{digit}?:*" for digit in "89ab")]

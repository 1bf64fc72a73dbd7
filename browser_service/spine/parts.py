"""Names the parts of the service that calls need in the front half."""

from collections.abc import Callable
from dataclasses import dataclass

from browser_service.clients.downloads import Downloads
from browser_service.clients.presence import Clients
from browser_service.flows.library import FlowLibrary
from browser_service.host.seam import SessionHost
from browser_service.rules.quotas import Quotas
from browser_service.sessions.directory import Directory
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.spine.addressing import Addressing
from browser_service.spine.cross_origin import CrossOriginGuard
from browser_service.spine.feed import Feeds
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.ledger import Ledger
from browser_service.spine.policy import Policy
from browser_service.spine.talk import Talk


@dataclass(frozen=True)
class FrontParts:
    """The parts of the front half, each made once."""

    host: SessionHost
    directory: Directory
    clients: Clients
    addressing: Addressing
    policy: Policy
    quotas: Quotas
    guard: CrossOriginGuard
    feeds: Feeds
    ledger: Ledger
    host_calls: HostCalls
    lifecycle: SessionLifecycle
    downloads: Downloads
    flows: FlowLibrary
    talk: Talk
    count_unshared: Callable[[], int]
    """Returns how many tabs of an attached browser its person keeps to themselves."""
    owner_asks: bool
    """Whether the account's owner has rules about acts."""

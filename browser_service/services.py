"""Wires the parts of the service: each is made when it is first asked for, from those that it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from browser_service import configuration
from browser_service.actions import HANDLERS
from browser_service.clients.downloads import Downloads
from browser_service.clients.inbox import HumanInbox
from browser_service.clients.notifications import Notifier
from browser_service.clients.presence import Clients
from browser_service.clients.work import Work
from browser_service.host.host import LocalHost
from browser_service.host.launching.options import LaunchOptions
from browser_service.host.seam import HostLimits, SessionHost
from browser_service.observability.activity import Activity
from browser_service.observability.metrics import Metrics
from browser_service.rules.clock import Clock
from browser_service.rules.quotas import Quotas
from browser_service.security.auth import Revocations
from browser_service.security.seal import Seal
from browser_service.security.urls import UrlPolicy
from browser_service.sessions.directory import Directory
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.sessions.vault import SessionVault
from browser_service.settings import Settings
from browser_service.spine.abandoned import AbandonedPages
from browser_service.spine.addressing import Addressing
from browser_service.spine.administration import Administration
from browser_service.spine.dispatch import Dispatcher, Intake
from browser_service.spine.feed import Feed
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.ledger import Ledger
from browser_service.spine.policy import Policy
from browser_service.spine.politeness import Origins
from browser_service.spine.ports import ServiceActions, ServicePorts
from browser_service.spine.register import CallRegister
from browser_service.spine.undo import UndoStore
from browser_service.spine.undo_call import UndoPorts
from browser_service.store.activity import ActivityTable
from browser_service.store.artifacts import ArtifactLimits, Artifacts
from browser_service.store.health import Storage
from browser_service.store.journal import JOURNAL_FILE, Journal
from browser_service.store.journal_file import Damage
from browser_service.store.uploads import UploadRoots
from shared.actions.traits import Scope
from shared.calls import Notice
from shared.catalogue import ACTIONS
from shared.model import Json
from shared.secret import ensure_secret

Carrier = Callable[[LocalHost], SessionHost]
Handlers = Mapping[str, Callable[..., Awaitable[Json]]]
MakeHost = Callable[[LaunchOptions, Handlers, Artifacts, UrlPolicy, HostLimits], LocalHost]


@dataclass
class Services:
    settings: Settings
    carrier: Carrier
    """Wraps the host if it runs elsewhere."""
    clock: Clock
    """Times limits and claims."""
    make_host: MakeHost
    port: Callable[[], int]
    """Returns the port, which may be chosen after the parts are made."""
    own_hosts: Callable[[], set[str]]

    # --- what is on disk ---------------------------------------------------------------------------------------------

    @cached_property
    def secret(self) -> str:
        return ensure_secret(self.settings.data_dir)

    @cached_property
    def storage(self) -> Storage:
        return Storage(self.settings.data_dir, self.clients.announce)

    @cached_property
    def journal(self) -> Journal:
        journal, loop = Journal(self.settings.data_dir / JOURNAL_FILE), asyncio.get_running_loop()

        def damaged(damage: Damage) -> None:
            """Report damage from the journal's thread to the event loop."""
            loop.call_soon_threadsafe(self.storage.replaced, str(damage))

        journal.on_damage = damaged
        return journal

    @cached_property
    def seal(self) -> Seal:
        return Seal(self.settings.data_dir, self.settings.key_store, self.storage.report)

    @cached_property
    def artifacts(self) -> Artifacts:
        settings, uploads = self.settings, UploadRoots(self.settings.upload_roots)
        limits = ArtifactLimits(settings.artifact_days, settings.client_artifacts_mb, settings.artifacts_mb)
        return Artifacts(settings.data_dir / "artifacts", settings.output_dir, self.journal, uploads, limits)

    @cached_property
    def activity(self) -> Activity:
        return Activity(ActivityTable(self.journal), self.directory)

    @cached_property
    def downloads(self) -> Downloads:
        return Downloads(self.journal)

    @cached_property
    def revoked(self) -> Revocations:
        return Revocations(self.journal)

    # --- clients, sessions, and the host -----------------------------------------------------------------------------

    @cached_property
    def directory(self) -> Directory:
        directory = Directory()
        directory.sessions.shared_browser = configuration.shared_browser(self.settings)
        return directory

    @cached_property
    def clients(self) -> Clients:
        return Clients(self.settings.presence_grace_ms)

    @cached_property
    def local_host(self) -> LocalHost:
        return self.make_host(
            configuration.launch_options(self.settings),
            _handlers(Scope.PAGE) | _handlers(Scope.SESSION),
            self.artifacts,
            configuration.url_policy(self.settings, self.own_hosts),
            configuration.host_limits(self.settings),
        )

    @cached_property
    def host(self) -> SessionHost:
        return self.carrier(self.local_host)

    @cached_property
    def requests(self) -> HumanInbox:
        return HumanInbox(self.host, self.secret)

    @cached_property
    def notifier(self) -> Notifier:
        def link(request_id: str) -> str:
            return f"http://127.0.0.1:{self.port()}{self.requests.link(request_id)}"

        desktop = self.settings.notify == "desktop"
        return Notifier(desktop=desktop, webhook=self.settings.notify_webhook, link=link)

    @cached_property
    def vault(self) -> SessionVault:
        return SessionVault(self.journal, self.seal, self.storage.report)

    @cached_property
    def lifecycle(self) -> SessionLifecycle:
        return SessionLifecycle(
            *(self.host, self.directory, self.journal, self.vault),
            notify=self.clients.notify,
            report=self.storage.report,
            shared=configuration.shared_login(self.settings),
            idle_ms=self.settings.session_idle_ms,
            drain=self.feed.session_closed,
        )

    @cached_property
    def work(self) -> Work:
        def tell(client_id: str, text: str) -> None:
            self.clients.notify(client_id, Notice(text=text))

        return Work(self.settings.idle_work_ms, tell, self.clients.send, self.clock)

    # --- the spine ---------------------------------------------------------------------------------------------------

    @cached_property
    def addressing(self) -> Addressing:
        return Addressing(self.directory)

    @cached_property
    def policy(self) -> Policy:
        return Policy()

    @cached_property
    def quotas(self) -> Quotas:
        return Quotas(configuration.client_limits(self.settings), self.clock)

    @cached_property
    def origins(self) -> Origins:
        return Origins(configuration.origin_limits(self.settings), self.clients.send, self.clock)

    @cached_property
    def ledger(self) -> Ledger:
        metrics = Metrics(lambda: len(self.clients.present_ids))
        return Ledger(CallRegister(), UndoStore(self.directory.sessions, self.clock), self.activity, metrics)

    @cached_property
    def feed(self) -> Feed:
        return Feed(
            *(self.host, self.directory, self.clients, self.journal, self.seal),
            storage=self.storage,
            downloads=self.downloads,
            origins=self.origins,
            on_person=self.notifier.notify,
            link=self.requests.link,
        )

    @cached_property
    def host_calls(self) -> HostCalls:
        return HostCalls(
            *(self.host, self.directory, self.clients, self.feed),
            register=self.ledger.register,
            vault=self.vault,
            quotas=self.quotas,
            origins=self.origins,
        )

    @cached_property
    def dispatcher(self) -> Dispatcher:
        undo = UndoPorts(self.ledger, self.policy, self.directory, self.addressing, self.host_calls, self.lifecycle)
        ports = ServicePorts(self.host, undo, self.work, self.downloads)
        actions = ServiceActions(ports, _handlers(Scope.SERVICE))
        intake = Intake(self.clients, self.directory, self.addressing, self.policy, self.quotas)
        return Dispatcher(intake, self.host_calls, actions, self.ledger, self.feed)

    @cached_property
    def administration(self) -> Administration:
        return Administration(
            *(self.directory, self.clients),
            work=self.work,
            revoked=self.revoked,
            ledger=self.ledger,
            host_calls=self.host_calls,
            feed=self.feed,
        )

    @cached_property
    def abandoned(self) -> AbandonedPages:
        blank_ms = self.settings.blank_pages_ms
        return AbandonedPages(self.host, self.clients, self.ledger, self.host_calls, blank_ms=blank_ms)

    def connect(self) -> None:
        """Register callbacks between parts that need each other, and so cannot all be made with one another."""
        self.clients.on_gone = self.administration.client_gone
        self.feed.on_call_ended = self.ledger.ended_late
        self.feed.on_retired = self.abandoned.notify_retired
        self.storage.on_replaced += [self.feed.rewrite, self.lifecycle.write_down, self.revoked.write_down]

    def end_calls(self) -> None:
        """Make calls that still run reply now."""
        self.local_host.end_calls()


def _handlers(scope: Scope) -> dict[str, Callable[..., Awaitable[Json]]]:
    """Return the handlers whose first argument is of this scope."""
    return {name: handler for name, handler in HANDLERS.items() if ACTIONS[name].scope is scope}

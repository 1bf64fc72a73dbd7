"""Wires the parts of the service. Each is made once, from the parts that it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from browse_together.contract.actions.traits import Scope
from browse_together.contract.attached import AttachTarget
from browse_together.contract.data_files import ARTIFACTS, JOURNAL_FILE
from browse_together.contract.model import Json
from browse_together.contract.secret import ensure_secret
from browser_service import configuration
from browser_service.actions import handlers_of
from browser_service.clients.colours import Colours
from browser_service.clients.downloads import Downloads
from browser_service.clients.inbox import EndedRequests, HumanInbox
from browser_service.clients.login_news import LoginNews
from browser_service.clients.names import Names
from browser_service.clients.notifications import Notifier
from browser_service.clients.presence import Clients
from browser_service.clients.threads import Threads
from browser_service.clients.tokens import Tokens
from browser_service.flows.files import FlowFiles
from browser_service.flows.library import FlowLibrary
from browser_service.host.host import LocalHost
from browser_service.host.seam import HostLimits, SessionHost
from browser_service.host.sessions.options import LaunchOptions
from browser_service.host_settings import HostSettings
from browser_service.observability.activity import Activity
from browser_service.observability.metrics import Made, Metrics
from browser_service.opening import open_link
from browser_service.rules.halts import Halts
from browser_service.rules.quotas import Quotas
from browser_service.rules.window import Clock
from browser_service.security.auth import Identity, Revocations
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.seal import Seal
from browser_service.security.urls import UrlPolicy
from browser_service.sessions.directory import Directory
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.sessions.vault import SessionVault
from browser_service.settings import Settings
from browser_service.spine.abandoned import AbandonedPages
from browser_service.spine.addressing import Addressing
from browser_service.spine.administration import Administration
from browser_service.spine.attached import Attached
from browser_service.spine.cross_origin import CrossOriginGuard
from browser_service.spine.dispatch import Dispatcher
from browser_service.spine.feed import Feeds
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.host_events import HostEvents
from browser_service.spine.ledger import Ledger
from browser_service.spine.parts import FrontParts
from browser_service.spine.policy import Policy
from browser_service.spine.reads import Reads
from browser_service.spine.register import CallRegister
from browser_service.spine.rendering.readers import Readers
from browser_service.spine.talk import Halted, Talk
from browser_service.store.activity import ActivityTable, Row
from browser_service.store.arriving import ArtifactLimits
from browser_service.store.artifacts import Artifacts, Folders
from browser_service.store.health import Storage
from browser_service.store.journal import Journal
from browser_service.store.journal_file import Damage
from browser_service.store.tables import (
    ColourTable,
    EndedRequestTable,
    HaltTable,
    NameTable,
    ThreadTable,
    TokenTable,
    ToldLoginTable,
)
from browser_service.store.thumbnails import ThumbnailTable
from browser_service.store.uploads import UploadRoots
from browser_service.wall.agents import Agents
from browser_service.wall.pairing import Pairing
from browser_service.wall.past import Past
from browser_service.wall.pictures import Pictures
from browser_service.wall.state import Wall
from browser_service.wall.viewing import Viewing

if TYPE_CHECKING:
    from browse_together.client.tracing import Tracing
    from browser_service.fleet.fleet import Fleet

Carrier = Callable[[LocalHost], SessionHost]
Handlers = Mapping[str, Callable[..., Awaitable[Json]]]
MakeHost = Callable[[LaunchOptions, Handlers, Artifacts, UrlPolicy, HostLimits], LocalHost]


class Services:
    """The parts of the service, each made from earlier ones."""

    def __init__(
        self,
        settings: Settings,
        carrier: Carrier,
        clock: Clock,
        *,
        make_host: MakeHost,
        port: Callable[[], int],
        own_hosts: Callable[[], frozenset[str]],
        tracing: "Tracing | None" = None,
    ) -> None:
        """`make_host` makes the host, and `carrier` wraps it if it runs elsewhere. `clock` times limits and claims.
        `port` and `own_hosts` are functions, because the port may be chosen later."""
        self.settings, self.tracing = settings, tracing
        self.clients = Clients(settings.tuning.presence_grace_ms)
        self.directory = Directory()
        self.directory.sessions.shared_browser = configuration.shared_browser(settings)
        self._open_data_dir()
        host_settings = HostSettings.of(settings)
        policy = configuration.url_policy(host_settings, lambda: own_hosts() | local.launcher.attachments.hosts)
        limits = configuration.host_limits(host_settings, settings.memory_mb)
        local = make_host(
            configuration.launch_options(host_settings, settings, policy),
            handlers_of(Scope.PAGE, Scope.SESSION),
            self.artifacts,
            policy,
            limits,
        )
        if settings.tuning.unvisited_ms:
            local.room.visits.expect(settings.tuning.unvisited_ms / 1000, lambda: bool(self.clients.present_ids))
        self.host = carrier(local)
        self.fleet = self._with_others(local, self.host, clock) if settings.hosts else None
        if self.fleet is not None:
            self.host = self.fleet.router
        self._serve_clients(clock, port)
        self._make_spine(local.persons.count_unshared, owner_asks=bool(limits.act_rules))
        refusal = configuration.attach_refusal(settings)
        self.attached = Attached(
            *(local.persons, self.lifecycle, self.requests, self.clients, self.names, self.activity, refusal)
        )
        self._connect()

    def _with_others(self, local: LocalHost, own: SessionHost, clock: Clock) -> "Fleet":
        """Return what has the hosts that dial in beside the one in this process."""
        from browser_service.fleet import fleet  # noqa: PLC0415 - most installations need none of it

        self.vault.keeps_all = True
        given = fleet.Own(own, lambda: local.memory.free_mb)
        return fleet.Fleet(self.settings, self.directory, self.journal, self.clients, given, clock=clock)

    async def begin(self) -> None:
        """Begin with the sessions of the last start."""
        if self.fleet is not None:
            await self.fleet.begin()
        await self.lifecycle.reopen()
        await self.attached.begin(self.settings.attach_target)
        await self.host.start()
        if self.fleet is None:
            self.feeds.follow(self.host)

    def _open_data_dir(self) -> None:
        settings, data_dir = self.settings, self.settings.data_dir
        self.secret = ensure_secret(data_dir)
        self.storage = Storage(data_dir, self.clients.announce)
        self.journal = Journal(data_dir / JOURNAL_FILE)
        self.seal = Seal(data_dir, settings.key_store, self.storage.report)
        limits = ArtifactLimits(
            settings.tuning.artifact_days, settings.tuning.client_artifacts_mb, settings.tuning.artifacts_mb
        )
        uploads = UploadRoots(settings.upload_roots)
        self.secrets = NamedSecrets(data_dir, self.seal)
        folders = Folders(data_dir / ARTIFACTS, settings.output_dir)
        self.artifacts = Artifacts(folders, self.journal, uploads, limits, self.secrets)
        self.activity = Activity(ActivityTable(self.journal), ThumbnailTable(self.journal), self.directory)
        self.colours = Colours(ColourTable(self.journal), self._there)
        self.names = Names(NameTable(self.journal), lambda: {*self._there(), *self.directory.leavers()})
        self.ended_requests = EndedRequests(EndedRequestTable(self.journal))
        self.downloads = Downloads(self.journal)
        self.past = Past(self.activity, self.ended_requests, self.downloads, self.colours, self.directory)
        self.flows = FlowLibrary(FlowFiles(settings.flows_dir), self.activity)
        self.revoked = Revocations(self.journal)
        self.tokens = Tokens(TokenTable(self.journal), self.secret, self.revoked)
        self.vault = SessionVault(self.journal, self.seal, self.storage.report)

    def _there(self) -> set[str]:
        return {*self.clients.present_ids, *(page.holder_id for page in self.directory.pages() if page.holder_id)}

    def _serve_clients(self, clock: Clock, port: Callable[[], int]) -> None:
        settings, clients = self.settings, self.clients
        self.people_url: Callable[[], str] = lambda: settings.people_url(port())
        address = lambda: self.people_url() or settings.local_url(port())  # noqa: E731 - one expression
        self.requests = HumanInbox(self.host, self.directory, self.secret, address)
        self.readers = Readers()
        self.viewing = Viewing(self.secret, self.revoked, clock)
        self.pairing = Pairing(self.tokens, self.secret, self.revoked, clock)
        self.threads = Threads(ThreadTable(self.journal), self.seal, clock)
        self.halted, self.register = Halted(HaltTable(self.journal), Halts(clock)), CallRegister()
        parts = (clients, self.colours, self.threads, self.halted.halts, self.register)
        agents = Agents(*parts, self.directory.sessions.chosen_for)
        self.wall = Wall(self.directory, self.colours, agents)
        self.notifier = Notifier(
            desktop=settings.notify == "desktop",
            webhook=settings.notify_webhook,
            link=self.requests.link,
            open_link=partial(open_link, settings.data_dir),
        )
        self.login_news = LoginNews(ToldLoginTable(self.journal), self.notifier.tell_login)
        self.policy = Policy(self.directory, settings.cookie_values, self.revoked.check, self.tokens.with_limits)
        self.quotas = Quotas(configuration.client_limits(settings), clock)

    def _make_spine(self, count_unshared: Callable[[], int], *, owner_asks: bool) -> None:
        host, directory, clients = self.host, self.directory, self.clients
        artifacts = self.artifacts
        metrics = Metrics(lambda: len(clients.present_ids), lambda: Made(artifacts.made, artifacts.made_bytes))
        self.ledger = ledger = Ledger(self.register, self.activity, metrics, self.tracing)
        self.events = HostEvents(
            *(directory, clients, self.journal, self.seal, self.vault.latest, self.storage),
            downloads=self.downloads,
            secrets=self.secrets,
            on_person=self.notifier.notify,
            people_url=self.people_url,
        )
        self.feeds = feeds = Feeds(self.events)
        self.host_calls = host_calls = HostCalls(
            *(host, directory, ledger.register, self.vault, self.policy, self.secrets, feeds)
        )
        self.lifecycle = SessionLifecycle(
            *(host, directory, self.journal, self.vault),
            notify=clients.notify,
            report=self.storage.report,
            shared=configuration.shared_login(self.settings),
            idle_ms=self.settings.session_idle_ms,
            drain=feeds.session_closed,
            guarded=self.settings.guarded,
            shared_attached_to=AttachTarget() if self.settings.cdp_url else None,
        )
        if self.fleet is not None:
            self.fleet.connect(self.events, feeds, self.lifecycle)
        self.talk = Talk(clients, directory, host_calls, self.threads, self.halted, lambda: self.viewing.watched)
        self.guard = CrossOriginGuard(directory, self.downloads.urls_of)
        front = FrontParts(
            *(host, directory, clients, Addressing(directory, self.names.alike), self.policy, self.quotas, self.guard),
            *(feeds, ledger, host_calls, self.lifecycle, self.downloads),
            flows=self.flows,
            talk=self.talk,
            count_unshared=count_unshared,
            owner_asks=owner_asks,
        )
        self.dispatcher = Dispatcher(front, handlers_of(Scope.SERVICE))
        self.reads = Reads(front, self.secrets, artifacts)
        self.pictures = Pictures(self.reads.frame)
        self.administration = Administration(
            *(directory, clients, self.colours, self.names, self.revoked, self.tokens, ledger, host_calls, feeds),
            threads=self.threads,
        )
        self.abandoned = AbandonedPages(
            host, directory, clients, ledger, host_calls, self.settings.tuning.blank_pages_ms
        )

    def _connect(self) -> None:
        """Register callbacks between parts that need each other."""
        loop = asyncio.get_running_loop()

        def report_damage(damage: Damage) -> None:
            """Report damage from the journal's thread to the event loop."""
            loop.call_soon_threadsafe(self.storage.replaced, str(damage))

        self.journal.on_damage = report_damage
        self.requests.on_answered = self.feeds.drain
        self.clients.on_gone = self.administration.client_gone
        self.events.on_call_ended = self.ledger.ended_late
        self.events.on_retired = self.abandoned.notify_retired
        self.events.on_page = self.wall.note
        self.events.on_request_over = self.ended_requests.note
        self.events.on_login_over = self.login_news.over
        self.past.logins = self.login_news.listed
        self.events.on_logins = self.login_news.changed
        self.lifecycle.on_reopened = lambda spec: self.login_news.reopened(spec.session_id, spec.state)
        self.clients.on_presence = self.wall.note_change
        self.storage.on_replaced += [self.events.rewrite, self.lifecycle.write_down, self.revoked.write_down]
        self.storage.on_replaced += [
            self.colours.write_down,
            self.names.write_down,
            self.halted.write_down,
            self.threads.write_down,
            self.login_news.write_down,
        ]
        self.activity.colour_of = self.colours.known
        self.activity.on_act = self._note_act
        self.threads.on_change = self.wall.note_change
        self.halted.halts.on_change = self.wall.note_change

    def _note_act(self, identity: Identity, row: Row, whole: Callable[[], Row]) -> None:
        if not (identity.operator or identity.request_id):
            self.names.note_act(identity.client_id)
            self.colours.of(identity.client_id, identity.label)
            self.wall.agents.note_act(row, whole)

"""A page as one call sees it: all that an action's handler gets of the page."""

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

from playwright.async_api import Page

from browse_together.contract.actions.base import Action
from browse_together.contract.calls import Call
from browse_together.contract.model import Json
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.pages import Access
from browser_service.host.elements.filled_fields import Field, FilledFields, Lasting
from browser_service.host.files import Files
from browser_service.host.pages.current_tab import CurrentTab
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.pages.effects import Effects
from browser_service.host.pages.elements import Elements, lasting_selectors
from browser_service.host.pages.looks import Looks
from browser_service.host.pages.recovery import Recovery
from browser_service.host.pages.screencast import Screencast
from browser_service.host.pages.thumbnails import Thumbnails
from browser_service.host.seam import ArtifactPort
from browser_service.host.sessions.logins import TakesLogins
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.tabs.console import Console
from browser_service.host.tabs.observer import Observer
from browser_service.host.tabs.record import PageRecord
from browser_service.host.tabs.recording import Recorder
from browser_service.host.tabs.settings import PageSettings
from browser_service.host.tabs.tab import Tab
from browser_service.rules.human_requests import HumanRequests
from browser_service.rules.turns import PageQueue
from browser_service.security.act_rules import ActRules

PartRunner = Callable[["BrowserPage", Action], Awaitable[Json]]
"""The function that runs one action of a call that carries several."""


@dataclass(eq=False)
class BrowserPage:
    record: PageRecord
    current: CurrentTab
    session: SessionEntry
    queue: PageQueue
    settings: PageSettings
    recovery: Recovery
    _: KW_ONLY
    call: Call
    artifacts: ArtifactPort
    console: Console
    recorder: Recorder
    screencast: Screencast
    thumbnails: Thumbnails
    filled_fields: FilledFields
    human_requests: HumanRequests
    perform_part: PartRunner
    dialogs: Dialogs
    act_rules: ActRules
    take_logins: TakesLogins
    targets: dict[str, list[str]]
    """Where the lasting selectors of the elements go that the call names."""
    secret_fields: list[str]
    """Where the selectors of the fields for secrets go that the call filled."""
    came: list[str]
    """Where goes what appeared by the call."""
    reply_shares: int = 1
    """How many parts of a call share the room for text in its reply."""
    quiet: bool = False
    """Further acts of the same call follow; the last one reports what all did to the page."""
    follows: bool = False
    """Acts of the same call came before; their effects may still arrive."""
    files: Files = field(init=False)
    effects: Effects = field(init=False)
    looks: Looks = field(init=False)

    def __post_init__(self) -> None:
        page_id, client_id = self.record.page_id, self.call.client_id
        self.files = Files(self.artifacts, self.call, page_id, self.reply_shares)
        self.effects = Effects(self.current, self.settings.network.traffic, client_id)
        self.looks = Looks(self.current, self.effects, client_id)

    @cached_property
    def elements(self) -> Elements:
        """Return the way to the page's elements."""
        return Elements(self.page_id, self.current, self.looks, self.effects, self.screencast)

    @property
    def page_id(self) -> str:
        return self.record.page_id

    @property
    def observer(self) -> Observer | None:
        return self.current.observer

    async def do(self, action: Action) -> Json:
        """Do an action that the call carries, and return its result."""
        return await self.perform_part(self, action)

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about the page."""
        self.record.tell(client_id, text)

    def set_access(self, access: Access) -> None:
        """Set what clients other than the holder may do with the page."""
        self.record.ownership.share(access)
        for notice in self.session.tracing.check_page(self.record):
            self.record.emit(notice)

    @property
    def playwright(self) -> Page:
        return self.current.open_tab.page

    @property
    def tab(self) -> Tab:
        """Return the tab behind the pageId. Raises BrowserCrashed if there is none."""
        return self.current.open_tab

    @property
    def url(self) -> str:
        """Return the page's URL as replies show it."""
        return self.current.open_tab.url

    def secret(self, name: str) -> NamedSecret:
        """Return a secret that the call names; the front sent it with the call."""
        return self.call.secrets[name]

    def remember_field(self, selector: str, frame: str | None, found: Field | None, *, strict: bool = True) -> None:
        """Remember what an act left in a field, so that it can be filled again if the page dies. FIELD read `found`."""
        if found is not None:
            if self.filled_fields.note(self.call.client_id, selector, frame, strict, found):
                self.secret_fields.append(selector)
            self.note_target(selector, frame, found["lasting"])

    def note_target(self, selector: str, frame: str | None, found: Lasting | None = None) -> None:
        """Note how the element of a selector is found again: as `found` by a script, and as the client was shown it."""
        again = lasting_selectors(self.looks.view, selector, frame, found)
        self.targets[selector] = again or self.targets.get(selector, [])

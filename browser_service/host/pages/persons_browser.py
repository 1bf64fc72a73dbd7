"""The browser in which a person lives, as the front asks for it."""

from typing import TYPE_CHECKING

from browser_service.host.pages.person_tabs import PersonTabs
from shared.attached import AttachmentState, AttachTarget

if TYPE_CHECKING:
    from browser_service.host.sessions.launcher import Launcher


class OwnBrowser:
    """The host's part of attaching and sharing."""

    def __init__(self, launcher: "Launcher", person_tabs: PersonTabs) -> None:
        self._launcher = launcher
        self._tabs = person_tabs
        self.count_unshared = person_tabs.count_unshared
        self.tabs, self.share_tab, self.unshare_tab = person_tabs.tabs, person_tabs.share, person_tabs.unshare

    def choose(self, target: AttachTarget) -> None:
        self._launcher.attachment.target = target

    async def attach(self, target: AttachTarget) -> None:
        await self._launcher.attachment.attach(target)

    async def detach(self) -> None:
        await self._launcher.attachment.detach()

    async def attachment(self) -> AttachmentState:
        await self._tabs.take_up()
        return self._launcher.attachment.describe().model_copy(update={"unshared": self.count_unshared()})

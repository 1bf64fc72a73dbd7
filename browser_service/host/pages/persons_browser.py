"""The browser in which a person lives, as the front asks for it."""

from typing import TYPE_CHECKING

from shared.attached import AttachmentState, AttachTarget, PersonTab, TabShare
from shared.errors import InvalidRequest
from shared.pages import PageState

if TYPE_CHECKING:
    from browser_service.host.sessions.launcher import Launcher


class OwnBrowser:
    """The host's part of attaching and sharing."""

    def __init__(self, launcher: "Launcher") -> None:
        self._launcher = launcher

    def choose(self, target: AttachTarget) -> None:
        """Note which browser to attach to."""

    async def attach(self, target: AttachTarget) -> AttachmentState:  # noqa: ARG002 - not yet
        raise InvalidRequest("Nothing can be attached to yet.")

    async def detach(self) -> AttachmentState:
        return AttachmentState()

    async def attachment(self) -> AttachmentState:
        return AttachmentState()

    async def tabs(self) -> list[PersonTab]:
        return []

    async def share_tab(self, share: TabShare) -> PageState:  # noqa: ARG002 - not yet
        raise InvalidRequest("Tabs cannot be shared yet.")

    async def unshare_tab(self, tab_id: str) -> None:  # noqa: ARG002 - not yet
        raise InvalidRequest("Tabs cannot be shared yet.")

"""Makes the connections of a process, over one pool of connections to the service."""

from typing import Final

from browse_together.client import caller
from browse_together.client.autostart import Autostart
from browse_together.client.http import ServiceClient
from browse_together.contract.written import fingerprint
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from mcp_gateway.settings import Settings

_CLOSE_WITHIN_S: Final = 1.0


class Gateway:
    """The source of a process's connections, which share one way to the service."""

    def __init__(self, settings: Settings, autostart: Autostart, instructions: str) -> None:
        self.settings = settings
        self.instructions = instructions
        self.service = ServiceClient(settings.url, credentials(settings), autostart, fingerprint())

    def own_connection(self, client_id: str = "") -> Connection:
        """Return the connection of the host that started this process. Its client id comes from the settings, else it
        is `client_id`."""
        service = self.service.as_client(credentials(self.settings, otherwise=client_id))
        return Connection(self.settings, service, self.instructions, folder=caller.folder_name())

    def connection(self, client_id: str, *, is_here: bool = False) -> Connection:
        """Return the connection of a network client, which may be on this machine."""
        autostart = self.service.autostart.for_new_chat()
        service = self.service.as_client(credentials(self.settings, client_id), autostart)
        return Connection(self.settings, service, self.instructions, scope=f"{client_id}:", is_here=is_here)

    async def close(self) -> None:
        await self.service.close(_CLOSE_WITHIN_S)

"""Does what hosts elsewhere ask of the front, once it is checked."""

from collections.abc import Callable

from browse_together.contract.calls import Artifact
from browse_together.contract.errors import Forbidden, InvalidRequest
from browse_together.contract.events import EventBatch
from browse_together.contract.frames import ActPicture
from browse_together.contract.model import Model
from browser_service.carriers.messages import MOST_EVENTS
from browser_service.carriers.remote_host import RemoteHost
from browser_service.host.seam import ArtifactPort

Do = Callable[[], None]


class HostRequests:
    """Answers what one host asks."""

    def __init__(self, host: RemoteHost, artifacts: ArtifactPort, drains: Do, end: Do) -> None:
        """`drains` and `end` are called when the host wants to end, and when it has."""
        self._host, self._artifacts, self._drains, self._end = host, artifacts, drains, end

    async def do(self, name: str, asked: Model) -> object:
        return await getattr(self, name)(**dict(asked))

    async def note(self, batch: EventBatch) -> None:
        if len(batch.events) > MOST_EVENTS:
            raise InvalidRequest(f"More than {MOST_EVENTS} events at once.", hint="Send them one batch after another.")
        await self._host.note(batch)

    async def drain(self) -> None:
        self._host.draining = True
        self._drains()

    async def bye(self) -> None:
        self._end()

    async def describe_file(self, artifact_id: str, client_id: str | None) -> Artifact:
        check_read(self._host, artifact_id, client_id)
        return await self._artifacts.describe(artifact_id, client_id)

    async def keep_picture(self, client_id: str, call_id: str, picture: ActPicture) -> None:
        if self._host.checks.allows_picture(client_id, call_id, picture):
            await self._artifacts.keep_picture(client_id, call_id, picture)
        else:
            self._host.checks.drop("picture")


def check_read(host: RemoteHost, artifact_id: str, client_id: str | None) -> None:
    """Raise Forbidden unless a call that runs there names the file."""
    if not host.checks.may_read(artifact_id, client_id):
        host.checks.drop("read")
        raise Forbidden("No call that runs on this host names the file.")

"""What both clients, and their pages, have in common."""

import os

from browse_together.connection import Connection
from browse_together.naming import free_name
from browse_together.results import Answer, PageInfo


class Client:
    """A client of the service by its own connection."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        client_id: str | None = None,
        label: str | None = None,
        session: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        autostart: bool | None = None,
    ) -> None:
        """Without arguments, the settings are those of gateways: the environment (`BROWSE_URL`, `BROWSE_TOKEN`) and
        config.toml. Raises ValueError for wrong ones.

        url: Address of the service. Default: http://127.0.0.1:8888.
        token: A token, instead of one made from the account's secret.
        client_id: Who this is at the service, for who must be the same in another process. Default: random.
        label: The name that others read. Default: the program's.
        session: The session of pages that name none; `new` is one of its own, with the shared login's cookies.
        data_dir: The service's data directory.
        autostart: Whether to start a service where none runs on this machine. Default: true.
        """
        given = {"url": url, "token": token, "client_id": client_id, "session": session}
        self._connection = Connection({**given, "data_dir": data_dir, "autostart": autostart}, label)
        self._prepare()

    def _prepare(self) -> None:
        """Get ready for calls; a client with an event loop needs nothing more."""

    @property
    def client_id(self) -> str:
        """Who this is at the service."""
        return self._connection.client_id

    def _named(self, page_id: str | None, session_id: str | None) -> tuple[str, str | None]:
        """Return the page's id, or a new one, and the session that it is in."""
        return page_id or free_name(self._connection.label), session_id or self._connection.session_id


class Handle:
    """A page by its pageId, whether it is open or not."""

    def __init__(self, page_id: str, session_id: str | None, info: PageInfo | None) -> None:
        self.page_id, self.session_id, self.info = page_id, session_id, info
        """The page as the last reply told of it; None before the first one."""

    @property
    def url(self) -> str:
        """The page's URL after the last call; empty before the first one."""
        return self.info.url if self.info else ""

    @property
    def title(self) -> str:
        """The title of the page's document after the last call."""
        return self.info.title if self.info else ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.page_id!r} {self.url}>"

    def _note(self, answer: Answer) -> Answer:
        if answer.page is not None and answer.page.page_id == self.page_id:
            self.info = answer.page
        return answer

    def _address(self) -> dict[str, object]:
        return {"page_id": self.page_id, "session_id": self.session_id}

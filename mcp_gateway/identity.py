"""A connection has a client id that outlives it, and the credentials that prove it."""

import os
import re
from uuid import uuid4

from client.credentials import Credentials
from mcp_gateway.settings import Settings
from shared.wire import CLIENT_ID_PATTERN


def credentials(settings: Settings, chat: str | None = None) -> Credentials:
    """Make the credentials of a chat: of the one that the settings, the host's request or its environment name, else
    of one that nobody else is."""
    return Credentials(
        settings.client_id or chat or _chat_id() or f"gw-{uuid4().hex[:12]}",
        settings.data_dir,
        label="gateway",
        token=settings.token.get_secret_value() if settings.token else None,
        token_file=settings.token_file,
        caller="This gateway",
    )


def _chat_id() -> str | None:
    """Return the id that the host gives the chat: the same after a restart, so that its pages are still its own."""
    chat = f"claude-code:{os.environ.get('CLAUDE_CODE_SESSION_ID', '')}"
    return chat if not chat.endswith(":") and re.fullmatch(CLIENT_ID_PATTERN, chat) else None

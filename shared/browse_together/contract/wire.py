"""Every string that both sides must spell alike: paths, header names, patterns, limits."""

import re
from typing import Final

APP_NAME: Final = "browse-together"
VERSION: Final = "0.1.0"

DEFAULT_PORT: Final = 8888
DEFAULT_SESSION: Final = "default"
ATTACHED_SESSION: Final = "chrome"
"""The session of the browser in which a person lives, if it is beside the default one."""
UNNAMED: Final = "gateway"
"""The name of a chat until its host has told its own."""
SHARED_GATEWAY: Final = "mcp_gateway.sharing"
"""The module of the process that serves an account's chats."""

# --- paths -------------------------------------------------------------------------------------------------------
ACTIVITY: Final = "/api/activity"
ACTIVITY_PICTURES: Final = "/api/activity/pictures"
AGENTS: Final = "/api/agents"
MOST_PICTURED: Final = 50
"""The most records whose pictures fit into one reply."""
ATTACH: Final = "/api/attach"
ATTACHMENT: Final = "/api/attachment"
DETACH: Final = "/api/detach"
BROWSER: Final = "/api/browser"
PAGES: Final = "/api/browser/pages"
CALLS: Final = "/api/calls"
EVENTS: Final = "/api/events"
EXTENSION: Final = "/api/extension"
"""Path at which the owner gets a link that pairs the extension."""
EXTENSION_SOCKET: Final = "/extension/socket"
FILES: Final = "/api/files"
FILE_URI: Final = "browse://files/"
"""Start of the URI by which a chat's host reads a file of a reply, with the chat's own token."""
PDF: Final = "application/pdf"
"""MIME type of files whose text can be read too."""
SESSIONS: Final = "/api/sessions"
TABS: Final = "/api/tabs"
TABS_SHARE: Final = "/api/tabs/share"
TABS_UNSHARE: Final = "/api/tabs/unshare"
TOOLS: Final = "/api/tools"
HEALTH: Final = "/health"
HOSTS: Final = "/api/hosts"
HOSTS_DRAIN: Final = "/api/hosts/drain"
HOSTS_FILES: Final = "/api/hosts/files"
HOSTS_LINK: Final = "/api/hosts/link"
REQUESTS: Final = "/api/requests"
TOKENS: Final = "/api/tokens"
RENAME: Final = "/api/clients/rename"
REVOKE: Final = "/api/tokens/revoke"
RESTORE: Final = "/api/tokens/restore"
READY: Final = "/ready"
SETTINGS: Final = "/api/settings"
METRICS: Final = "/metrics"
OPENAPI: Final = "/openapi.json"
WALL: Final = "/"
"""Path of the live wall, on which people watch. A link's code or a request's key follows `#`."""
WALL_CARD: Final = "/wall/card"
WALL_ENTER: Final = "/wall/enter"
WALL_FILES: Final = "/wall/static"
WALL_GIVEN: Final = "/wall/files"
WALL_LEAVE: Final = "/wall/leave"
WALL_LINK: Final = "/wall/link"
WALL_RENEW: Final = "/wall/renew"
WALL_SOCKET: Final = "/wall/socket"
WALL_WINDOW: Final = "/wall/window"
"""Start of the paths of files and replays, which the wall opens in windows of their own."""

# --- headers -----------------------------------------------------------------------------------------------------
CALL_ID: Final = "X-Browse-Call"
"""The call's id, made by the caller: idempotency key, handle, and id in logs."""
ATTEMPT: Final = "X-Browse-Attempt"
"""How often the call was sent, with this one. From 2, it may be known already."""
INLINE: Final = "X-Browse-Inline"
"""The most characters of text that the caller wants in the reply. A cursor reads the rest."""
SESSION: Final = "X-Browse-Session"
"""The session of the caller's calls that name none, and no page that is there."""
CATALOGUE: Final = "X-Browse-Catalogue"
"""The fingerprint of the sender's catalogue, in requests and replies."""
REPLY: Final = "X-Browse-Reply"
"""The form in which the caller wants the reply, from `shared.replies`; without it the reply is the whole
envelope."""
REQUEST_ID: Final = "X-Request-Id"
TRACE_CONTEXT: Final = ("traceparent", "tracestate")
"""The span of the caller, in W3C's form: as headers, and as keys of a request's `_meta`."""
PROOF: Final = "X-Browse-Proof"
"""A value that only the wall's own page knows, unlike a cookie."""
CHAT: Final = "X-Browse-Chat"
"""Distinguishes the chats that share a named token. It never reaches clients of other tokens."""

# --- ids ---------------------------------------------------------------------------------------------------------
ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$"
"""Names that a caller may give a page or a session."""
ANY_PAGE_ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,47}(~[1-9][0-9]{0,5})?$"
"""Every page's id, also with the `~n` that the service gives popups and foreign tabs."""
RESERVED_IDS: Final = frozenset({"pages"})
CALL_ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
CLIENT_ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
REF_PATTERN: Final = r"^(f\d+)?e\d+$"
"""An element's handle in a snapshot: `e12`, or `f1e2` inside a frame."""

# --- MCP over a network ------------------------------------------------------------------------------------------
MCP_SUBPROTOCOL: Final = "mcp"
KEY_SUBPROTOCOL: Final = "bearer."
"""Start of the subprotocol that carries a websocket's key, offered beside `MCP_SUBPROTOCOL`."""
CALL_ID_META: Final = "browse-together/callId"
"""The key in a request's `_meta` for the client's own callId, by which it can ask for the call after a lost
connection."""

ATTEMPT_META: Final = "browse-together/again"
"""The key there for whether the call may already have been sent under that id."""

# --- limits ------------------------------------------------------------------------------------------------------
MAX_MESSAGE_BYTES: Final = 10_485_760
MOST_SUBSCRIBED: Final = 200
"""The most resources that a chat can subscribe to, because each page event is compared with all of them."""
MAX_SOCKET_BYTES: Final = 65_536
MAX_LINK_BYTES: Final = 1_000_000
"""Size limit of a message between the service and a host, and of all websocket messages where hosts may dial in."""
MAX_HEAD_BYTES: Final = 65_536
"""Size limit of a request's first line and headers."""
FILE_BYTES: Final = 50_000_000
"""Size limit of all files that one call uploads, and of a file uploaded before its call."""
HOST_FILE_BYTES: Final = 2_000_000_000
"""Size limit of a file that a host hands over: a download, a video, a picture."""
INLINE_TEXT: Final = 20_000
"""The most characters of text that a gateway requests in one reply."""
OUTLINE_TEXT: Final = 1_000
"""The most bytes of the outline after a navigation: with its heading at most 300 tokens."""
DELTA_TEXT: Final = 320
"""The most bytes of the changes after an act: with their heading at most 120 tokens."""
AS_GIVEN: Final = "as given"
CHANGED: Final = "done; the page changed"
"""The reply of acts that did just what they should."""
_FORESEEN: Final = re.compile(
    rf"""{AS_GIVEN}(?:: (?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+ characters?)(?:… \(\d+ characters\))?)?|{CHANGED}"""
    "|it is (?:not )?checked now"
)


def does_as_asked(observed: object) -> bool:
    """Return whether a reply says no more than that an act did just what it should."""
    return isinstance(observed, str) and _FORESEEN.fullmatch(observed) is not None


FOUND_ELEMENTS: Final = 12
"""The most matches that a search of a page returns."""
INLINE_BYTES: Final = 700_000
INLINE_EDGE: Final = 2_000
"""Limit of the longer side, in pixels, of a picture in a reply, because hosts refuse larger ones. A larger picture is
reduced, or sliced."""
REPLY_WITHIN_MS: Final = 50_000
"""The longest time until a reply; MCP clients give up at 60 s."""

# --- tokens ------------------------------------------------------------------------------------------------------
TOKEN_ALGORITHM: Final = "HS256"  # noqa: S105 - the name of an algorithm
TOKEN_AUDIENCE: Final = APP_NAME
NONCE: Final = "nonce"
"""The parameter of `HEALTH` with which a client makes the service prove that it has the account's secret."""
NONCE_PATTERN: Final = r"^[0-9a-f]{32,64}$"
TOKEN_NAME: Final = "name"  # noqa: S105 - the name of a claim
"""The claim with the name of a token made by `token create`."""
TOKEN_LIMITS: Final = "limits"  # noqa: S105 - likewise
TOKEN_NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"  # noqa: S105 - the form of a name
PERSON_AUDIENCE: Final = f"{TOKEN_AUDIENCE}/person"
"""The audience of keys with which people answer requests."""
VIEWER_AUDIENCE: Final = f"{TOKEN_AUDIENCE}/viewer"
"""The audience of the cookies of people at the wall. They admit to nothing without their page's proof."""
HOST_AUDIENCE: Final = f"{TOKEN_AUDIENCE}/host"
"""The audience of tokens with which hosts dial in. They admit to nothing else."""
TOKEN_POOL: Final = "pool"  # noqa: S105 - the name of a claim
"""The claim with the pool of hosts to which such a token admits."""
EXTENSION_AUDIENCE: Final = f"{TOKEN_AUDIENCE}/extension"
"""The audience of tokens of the extension, which share tabs and take them back, and do nothing else."""
EXTENSION_ID: Final = "lfldkbfpfbeihbdomceaemnaaedhnhab"
"""The extension's id in every Chromium, which follows from the key in its manifest."""
EXTENSION_ORIGIN: Final = f"chrome-extension://{EXTENSION_ID}"
POOL_PATTERN: Final = r"^[a-z0-9][a-z0-9-]{0,30}$"
SECRET_FILE: Final = "secret"  # noqa: S105 - the name of a file
INSTANCE_FILE: Final = "instance.json"
BY_GATEWAY: Final = "STARTED_BY_GATEWAY"
"""Variable of a service that a client started by itself, and not a person."""
START_LOCK: Final = "start.lock"
DOWN_FILE: Final = "down.json"
"""The note that the service was ended on purpose."""
LOG_FILE: Final = "service.log"


def is_page_id(text: str) -> bool:
    return re.fullmatch(ANY_PAGE_ID_PATTERN, text) is not None and text not in RESERVED_IDS


def is_host_name(text: str) -> bool:
    return re.fullmatch(ID_PATTERN, text) is not None


def is_call_id(text: str) -> bool:
    return re.fullmatch(CALL_ID_PATTERN, text) is not None


def request_path(request_id: str, key: str) -> str:
    """Return the path where a person answers a request. The key is in the fragment, so that no log or Referer contains
    it."""
    return f"{WALL}#{key}&request={request_id}"


def call_path(page_id: object) -> str:
    """Return the path of a call on that page; of a call without a page if this is no page's id."""
    return f"{BROWSER}/{page_id}" if isinstance(page_id, str) and is_page_id(page_id) else BROWSER


def nearest_valid_id(text: str) -> str:
    """Return the valid id nearest to `text`: `My Page!` becomes `My-Page`."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:48]
    return name if name and is_page_id(name) else f"page-{name}"[:48].rstrip("-._")

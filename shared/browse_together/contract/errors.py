"""Declares every error of the product, its code, its HTTP status and what to do next.

They stand in one file of over 300 lines, so that the tree below can be compared with the classes at a glance.

BrowseError
├── what the caller can mend, or asked for (4xx)
│   ├── InvalidRequest            INVALID_REQUEST           400
│   │   ├── NoSuchRoute                                     404
│   │   ├── MethodNotAllowed                                405
│   │   ├── UnsupportedMediaType                            415
│   │   ├── BodyTooLarge                                    413
│   │   ├── CallNotFound                                    404
│   │   ├── NoDialog                                        409
│   │   ├── RequestNotFound                                 404
│   │   ├── StateNotFound                                   404
│   │   ├── ArtifactNotFound                                404
│   │   └── NotInstalled                                    424
│   ├── ValidationFailed          VALIDATION_ERROR          422
│   ├── InvalidSelector           INVALID_SELECTOR          400
│   ├── ElementNotFound           ELEMENT_NOT_FOUND         404
│   ├── ElementNotInteractable    ELEMENT_NOT_INTERACTABLE  409
│   │   └── WithoutEffect                                   409
│   ├── ElementGone               ELEMENT_GONE              410
│   ├── NotAsExpected             NOT_AS_EXPECTED           409
│   ├── AmbiguousSelector         AMBIGUOUS_SELECTOR        409
│   ├── PageRequired              PAGE_REQUIRED             400
│   │   └── NoBrowser                                       400
│   ├── PageNotFound              PAGE_NOT_FOUND            404
│   ├── PageOwned                 PAGE_OWNED                423
│   ├── StaleRevision             STALE_REVISION            412
│   ├── DialogOpen                DIALOG_OPEN               409
│   ├── AffectsOthers             AFFECTS_OTHERS            409
│   ├── FlowStopped               FLOW_STOPPED              409
│   ├── HumanInControl            HUMAN_IN_CONTROL          423
│   ├── LoginRequired             LOGIN_REQUIRED            409
│   ├── SessionNotFound           SESSION_NOT_FOUND         404
│   ├── SessionExpired            SESSION_EXPIRED           410
│   ├── Cancelled                 CANCELLED                 499
│   ├── Unauthorized              UNAUTHORIZED              401
│   ├── Forbidden                 FORBIDDEN                 403
│   └── RateLimited               RATE_LIMITED              429
└── what went wrong behind the service (5xx)
    ├── InternalError             INTERNAL_ERROR            500
    ├── BrowserLaunchFailed       BROWSER_LAUNCH_FAILED     503
    ├── BrowserCrashed            BROWSER_CRASHED           502
    ├── NavigationFailed          NAVIGATION_FAILED         502
    ├── TimedOut                  TIMEOUT                   504
    ├── NetworkError              NETWORK_ERROR             502
    ├── ScriptExecutionFailed     SCRIPT_EXECUTION_FAILED   500
    ├── ResourceExhausted         RESOURCE_EXHAUSTED        503
    │   └── JournalFailed                                   503
    ├── ServiceUnavailable        SERVICE_UNAVAILABLE       503
    │   ├── HostGone                                        503
    │   └── VaultLocked                                     503
    └── UnknownOutcome            UNKNOWN_OUTCOME           500
"""

import re
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar, Final

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from browse_together.contract.next_calls import next_call
from browse_together.contract.timestamps import iso

Details = Mapping[str, JsonValue]

_STACK_CHARACTERS: Final = 8_000
_NO_HOST: Final = "The host of this session does not answer."


def field_details(name: str, **context: JsonValue) -> dict[str, JsonValue]:
    """Return the details of an error that one argument caused, with further facts as `context`."""
    return {"context": {"field": name, **context}}


class ErrorBody(BaseModel):
    """An error as it crosses every boundary: host to front, service to client, gateway to model."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)

    code: str
    message: str
    status: int
    hint: str | None = None
    details: dict[str, JsonValue] = {}
    timestamp: str = ""
    request_id: str = ""


class BrowseError(Exception):
    """The base of all errors. Code anywhere raises them; one place turns them into replies."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    hint: ClassVar[str | None] = None
    nothing_happened: ClassVar[bool] = False
    """Whether the failed call changed nothing on its page, so that the revision stays."""
    subject_missing: ClassVar[bool] = False
    """Whether the subject of the call does not or cannot exist: a reader finds no such resource."""
    debugging: ClassVar[bool] = False
    """Whether replies say where in the program an error was raised; set on this class, for all errors."""

    def __init_subclass__(
        cls, *, status: int | None = None, nothing_happened: bool | None = None, subject_missing: bool | None = None
    ) -> None:
        """Set what is given in place of the parent's. The classes right below this one, unless they have another code,
        get that of their name."""
        given = {"status": status, "nothing_happened": nothing_happened, "subject_missing": subject_missing}
        for name, value in given.items():
            if value is not None:
                setattr(cls, name, value)
        if BrowseError in cls.__bases__ and "code" not in vars(cls):
            cls.code = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper()

    def __init__(self, message: str, *, hint: str | None = None, details: Details | None = None) -> None:
        # a page's text may hold halves of characters (lone surrogates), which no reply could carry
        self.message = message.encode("utf-8", "replace").decode()
        super().__init__(self.message)
        self.advice = hint if hint is not None else self.hint
        self.details: dict[str, JsonValue] = dict(details or {})

    def body(self, request_id: str = "") -> ErrorBody:
        return ErrorBody(
            code=self.code,
            message=self.message,
            status=self.status,
            hint=self.advice,
            details={**self._stack(), **self.details},
            timestamp=iso(datetime.now(UTC)),
            request_id=request_id,
        )

    def _stack(self) -> dict[str, JsonValue]:
        """Return where the error was raised, with its causes; the innermost part if that is long."""
        if not self.debugging or self.__traceback__ is None:
            return {}
        lines = "".join(traceback.format_exception(self))
        return {"stack": lines[-_STACK_CHARACTERS:].encode("utf-8", "replace").decode()}


class InvalidRequest(BrowseError, status=400, subject_missing=True):
    """Raised when a request is not one that the service understands: no action, an unknown one, no JSON."""


class NoSuchRoute(InvalidRequest, status=404):
    """Raised when the path is none of the service's."""

    hint = "Actions go to POST /api/browser/{pageId}; GET /api/tools lists them."


class MethodNotAllowed(InvalidRequest, status=405):
    """Raised when the path exists and does not take that HTTP method."""


class UnsupportedMediaType(InvalidRequest, status=415):
    """Raised when a body is not declared as JSON."""

    hint = "Send the body as JSON with the header Content-Type: application/json."


class BodyTooLarge(InvalidRequest, status=413):
    """Raised when a body is larger than the service accepts."""


class CallNotFound(InvalidRequest, status=404):
    """Raised when a callId names no call of yours that the service still knows."""

    hint = "Outcomes are kept for 10 minutes."


class NoDialog(InvalidRequest, status=409):
    """Raised when a dialog is to be answered and the page shows none."""


class RequestNotFound(InvalidRequest, status=404):
    """Raised when you have no open or recent request with this requestId."""

    hint = f"Ask anew: {next_call('request_human', kind='...', message='...')}."


class StateNotFound(InvalidRequest, status=404):
    """Raised when nothing is saved under that name: no state of a session, no flow, no stopped run of one."""


class ArtifactNotFound(InvalidRequest, status=404, nothing_happened=True):
    """Raised when an artifact does not exist, was cleaned up, or is not yours."""


class NotInstalled(InvalidRequest, status=424, nothing_happened=True, subject_missing=False):
    """Raised when the call needs an optional package that is not installed where the service runs."""


class ValidationFailed(BrowseError, status=422, nothing_happened=True, subject_missing=True):
    """Raised when an argument is unknown, missing, given twice, or has a value that is not allowed."""

    code = "VALIDATION_ERROR"


class InvalidSelector(BrowseError, status=400, nothing_happened=True):
    """Raised when a selector cannot be parsed."""

    hint = 'A selector is a ref (e12), CSS (#buy), text=Buy, role=button[name="Buy"] or //button.'


class ElementNotFound(BrowseError, status=404, nothing_happened=True):
    """Raised when nothing matched the selector within the timeout."""

    hint = f"See what is there: {next_call('snapshot')} gives refs that every selector argument takes."


class ElementNotInteractable(BrowseError, status=409, nothing_happened=True):
    """Raised when the element is there but cannot be acted on: hidden, disabled, moving or covered."""


class WithoutEffect(ElementNotInteractable, nothing_happened=False):
    """Raised when an act was done and came to nothing: another element received it, or the page took it back."""


class ElementGone(BrowseError, status=410, nothing_happened=True):
    """Raised when a ref names an element that is no longer in its document."""

    hint = f"The page changed since that snapshot. Take a new one: {next_call('snapshot')}."


class NotAsExpected(BrowseError, status=409, nothing_happened=True):
    """Raised when what `expect` checks did not come true within the timeout."""

    hint = f"See what is there: {next_call('snapshot')}."


class AmbiguousSelector(BrowseError, status=409, nothing_happened=True):
    """Raised when a selector matches several elements and one is needed."""

    hint = 'Repeat it with the selector of one of them, or with "strict": false for the first.'


class PageRequired(BrowseError, status=400, subject_missing=True):
    """Raised when a call names no page and you have none, or several."""


class NoBrowser(PageRequired):
    """Raised when one of the browser tools is called before browser_launch, or after browser_quit."""

    hint = "Use browser_launch tool to start a browser session"


class PageNotFound(BrowseError, status=404, subject_missing=True):
    """Raised when no page has that id."""


class PageOwned(BrowseError, status=423):
    """Raised when another client holds the page."""


class StaleRevision(BrowseError, status=412, nothing_happened=True):
    """Raised when the page has moved on from what the call was meant for."""


class DialogOpen(BrowseError, status=409):
    """Raised when a dialog of the page (alert, confirm, prompt) waits for its answer."""


class AffectsOthers(BrowseError, status=409):
    """Raised when a session-wide act would touch pages that others hold."""


class FlowStopped(BrowseError, status=409):
    """Raised when a step of a flow finds its page other than it was: what is left was not done."""


class HumanInControl(BrowseError, status=423):
    """Raised when a person has taken the page over."""


class LoginRequired(BrowseError, status=409):
    """Raised when the site asks for a name and a password by HTTP."""


class SessionNotFound(BrowseError, status=404, subject_missing=True):
    """Raised when no session has that id."""


class SessionExpired(BrowseError, status=410, subject_missing=True):
    """Raised when the session's time is over, and its cookies are gone."""


class Cancelled(BrowseError, status=499, nothing_happened=True):
    """Raised when a call was stopped, and changed nothing."""


class Unauthorized(BrowseError, status=401):
    """Raised when the token is missing, wrong or revoked."""

    hint = (
        "Send Authorization: Bearer <token>; `browse-together token` prints one for this account. A gateway makes its "
        "own where it has the service's BROWSE_DATA_DIR, or takes that one as BROWSE_TOKEN."
    )


class Forbidden(BrowseError, status=403, nothing_happened=True):
    """Raised when the token, the URL policy or another's ownership does not allow it."""


class RateLimited(BrowseError, status=429):
    """Raised when calls come faster than a limit allows. The call did not happen."""


class InternalError(BrowseError, status=500):
    """Raised when the service itself is at fault."""

    hint = "This is a fault of the service; `browse-together logs` has the details under the requestId."


class BrowserLaunchFailed(BrowseError, status=503):
    """Raised when no browser could be started."""

    hint = "Install a browser with `browse-together setup`, then repeat the call; `browse-together doctor` checks."


class BrowserCrashed(BrowseError, status=502, nothing_happened=True):
    """Raised when the browser or the page's renderer died during the call."""

    hint = "Repeat the call: the page is reopened at its last URL."


class NavigationFailed(BrowseError, status=502):
    """Raised when the page could not load the URL: unknown host, refused, bad certificate, or too slow."""


class TimedOut(BrowseError, status=504):
    """Raised when the page did not respond, or the call ran out of its time."""

    code = "TIMEOUT"


class NetworkError(BrowseError, status=502):
    """Raised when a request sent from the page failed, or was answered with an HTTP error."""


class ScriptExecutionFailed(BrowseError, status=500):
    """Raised when JavaScript given by the caller threw, or could not run."""

    hint = "A script is an expression, or a function that returns: () => { ...; return value; }."


class ResourceExhausted(BrowseError, status=503):
    """Raised when a limit of the service is reached: pages, sessions, memory or disk."""


class JournalFailed(ResourceExhausted):
    """Raised when what must outlive the service cannot be written down or read: a full disk, a damaged file."""

    hint = "Free space in the data directory, or make it writable (`browse-together doctor`); then repeat the call."


class ServiceUnavailable(BrowseError, status=503):
    """Raised when the service is starting, stopping or cannot be reached."""


class HostGone(ServiceUnavailable):
    """Raised when a session's host does not answer. Unless it was `sent` the call, nothing happened."""

    hint = "Repeat the call in a moment."

    def __init__(
        self, message: str = _NO_HOST, *, sent: bool = True, hint: str | None = None, details: Details | None = None
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.sent = sent


class VaultLocked(ServiceUnavailable):
    """Raised when the command for a secret fails, as where its vault is locked."""


class UnknownOutcome(BrowseError, status=500):
    """Raised when a call was interrupted after it may have begun to act."""

    hint = f"It may or may not have happened: look first ({next_call('snapshot')}), then decide whether to repeat it."


def every_error(root: type[BrowseError] = BrowseError) -> Iterator[type[BrowseError]]:
    """Yield all classes of the tree, depth first, in source order, except `Relayed`, which stands for any of them."""
    for child in root.__subclasses__():
        if child is not Relayed:
            yield child
            yield from every_error(child)


class Relayed(BrowseError):
    """An error from the other side of a boundary, passed on under its own code."""

    code = BrowseError.code

    def __init__(self, body: ErrorBody) -> None:
        super().__init__(body.message, hint=body.hint, details=body.details)
        self.relayed = body

    def body(self, request_id: str = "") -> ErrorBody:
        current = {"message": self.message, "hint": self.advice, "details": self.details}
        return self.relayed.model_copy(update={**current, "request_id": request_id or self.relayed.request_id})

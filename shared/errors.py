"""Every error of the product, its code, its HTTP status and what to do next.

BrowseError
├── what the caller can mend (4xx)
│   ├── InvalidRequest            INVALID_REQUEST           400
│   │   ├── NoSuchRoute                                     404
│   │   ├── MethodNotAllowed                                405
│   │   ├── UnsupportedMediaType                            415
│   │   └── BodyTooLarge                                    413
│   ├── ValidationFailed          VALIDATION_ERROR          422
│   ├── InvalidSelector           INVALID_SELECTOR          400
│   ├── ElementNotFound           ELEMENT_NOT_FOUND         404
│   ├── ElementNotInteractable    ELEMENT_NOT_INTERACTABLE  409
│   ├── ElementGone               ELEMENT_GONE              410
│   ├── AmbiguousSelector         AMBIGUOUS_SELECTOR        409
│   ├── PageRequired              PAGE_REQUIRED             400
│   ├── PageNotFound              PAGE_NOT_FOUND            404
│   ├── PageOwned                 PAGE_OWNED                423
│   ├── StaleRevision             STALE_REVISION            412
│   ├── DialogOpen                DIALOG_OPEN               409
│   ├── AffectsOthers             AFFECTS_OTHERS            409
│   ├── HumanInControl            HUMAN_IN_CONTROL          423
│   ├── LoginRequired             LOGIN_REQUIRED            409
│   ├── SessionNotFound           SESSION_NOT_FOUND         404
│   ├── SessionExpired            SESSION_EXPIRED           410
│   ├── CallNotFound              INVALID_REQUEST           404
│   ├── ArtifactNotFound          INVALID_REQUEST           404
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
    ├── ServiceUnavailable        SERVICE_UNAVAILABLE       503
    ├── Cancelled                 CANCELLED                 499
    └── UnknownOutcome            UNKNOWN_OUTCOME           500
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

Details = Mapping[str, JsonValue]


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
    """Base of all: raised anywhere, turned into a reply in one place."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    hint: ClassVar[str | None] = None

    def __init__(self, message: str, *, hint: str | None = None, details: Details | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.advice = hint if hint is not None else self.hint
        self.details: dict[str, JsonValue] = dict(details or {})

    def body(self, request_id: str = "") -> ErrorBody:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return ErrorBody(
            code=self.code,
            message=self.message,
            status=self.status,
            hint=self.advice,
            details=self.details,
            timestamp=now,
            request_id=request_id,
        )


class InvalidRequest(BrowseError):
    code = "INVALID_REQUEST"
    status = 400


class NoSuchRoute(InvalidRequest):
    status = 404
    hint = "Actions go to POST /api/browser/{pageId}; GET /api/tools lists them."


class MethodNotAllowed(InvalidRequest):
    status = 405


class UnsupportedMediaType(InvalidRequest):
    status = 415
    hint = "Send the body as JSON with the header Content-Type: application/json."


class BodyTooLarge(InvalidRequest):
    status = 413


class ValidationFailed(BrowseError):
    code = "VALIDATION_ERROR"
    status = 422


class InvalidSelector(BrowseError):
    code = "INVALID_SELECTOR"
    status = 400
    hint = 'A selector is CSS (#buy), text=Buy, role=button[name="Buy"], //button, or a ref from a snapshot (e12).'


class ElementNotFound(BrowseError):
    code = "ELEMENT_NOT_FOUND"
    status = 404
    hint = "See what is there: snapshot {} gives refs that every selector argument takes."


class ElementNotInteractable(BrowseError):
    code = "ELEMENT_NOT_INTERACTABLE"
    status = 409


class ElementGone(BrowseError):
    code = "ELEMENT_GONE"
    status = 410
    hint = "The page changed since that snapshot. Take a new one: snapshot {}."


class AmbiguousSelector(BrowseError):
    code = "AMBIGUOUS_SELECTOR"
    status = 409
    hint = 'Repeat it with the selector of one of details.context.candidates, or with "strict": false for the first.'


class PageRequired(BrowseError):
    code = "PAGE_REQUIRED"
    status = 400


class PageNotFound(BrowseError):
    code = "PAGE_NOT_FOUND"
    status = 404


class PageOwned(BrowseError):
    code = "PAGE_OWNED"
    status = 423


class StaleRevision(BrowseError):
    code = "STALE_REVISION"
    status = 412


class DialogOpen(BrowseError):
    code = "DIALOG_OPEN"
    status = 409


class AffectsOthers(BrowseError):
    code = "AFFECTS_OTHERS"
    status = 409


class HumanInControl(BrowseError):
    code = "HUMAN_IN_CONTROL"
    status = 423


class LoginRequired(BrowseError):
    code = "LOGIN_REQUIRED"
    status = 409


class SessionNotFound(BrowseError):
    code = "SESSION_NOT_FOUND"
    status = 404


class SessionExpired(BrowseError):
    code = "SESSION_EXPIRED"
    status = 410


class CallNotFound(InvalidRequest):
    status = 404
    hint = "Outcomes are kept for 10 minutes."


class ArtifactNotFound(InvalidRequest):
    status = 404


class Unauthorized(BrowseError):
    code = "UNAUTHORIZED"
    status = 401
    hint = "Send Authorization: Bearer <token>; `browse-together token` prints one for this account."


class Forbidden(BrowseError):
    code = "FORBIDDEN"
    status = 403


class RateLimited(BrowseError):
    code = "RATE_LIMITED"
    status = 429


class InternalError(BrowseError):
    code = "INTERNAL_ERROR"
    status = 500
    hint = "This is a fault of the service; `browse-together logs` has the details under the requestId."


class BrowserLaunchFailed(BrowseError):
    code = "BROWSER_LAUNCH_FAILED"
    status = 503
    hint = (
        "Install a browser with `playwright install chromium`, then repeat the call; `browse-together doctor` checks."
    )


class BrowserCrashed(BrowseError):
    code = "BROWSER_CRASHED"
    status = 502
    hint = "Repeat the call: the page is reopened at its last URL."


class NavigationFailed(BrowseError):
    code = "NAVIGATION_FAILED"
    status = 502


class TimedOut(BrowseError):
    code = "TIMEOUT"
    status = 504


class NetworkError(BrowseError):
    code = "NETWORK_ERROR"
    status = 502


class ScriptExecutionFailed(BrowseError):
    code = "SCRIPT_EXECUTION_FAILED"
    status = 500


class ResourceExhausted(BrowseError):
    code = "RESOURCE_EXHAUSTED"
    status = 503


class ServiceUnavailable(BrowseError):
    code = "SERVICE_UNAVAILABLE"
    status = 503


class Cancelled(BrowseError):
    code = "CANCELLED"
    status = 499


class UnknownOutcome(BrowseError):
    code = "UNKNOWN_OUTCOME"
    status = 500
    hint = "It may or may not have happened: look first (snapshot {}), then decide whether to repeat it."


def every_error(root: type[BrowseError] = BrowseError) -> Iterator[type[BrowseError]]:
    """All classes of the tree, depth first."""
    for child in root.__subclasses__():
        yield child
        yield from every_error(child)


class Relayed(BrowseError):
    """An error that was raised on the other side of a boundary, carried on unchanged."""

    def __init__(self, body: ErrorBody) -> None:
        super().__init__(body.message, hint=body.hint, details=body.details)
        self.relayed = body

    def body(self, request_id: str = "") -> ErrorBody:
        return self.relayed.model_copy(update={"request_id": request_id or self.relayed.request_id})

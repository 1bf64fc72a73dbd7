"""The errors. `make docs` writes this file from the contract's: do not edit it."""

from browse_together.refusals import BrowseError, Busy

__all__ = [
    "BrowseError", "InvalidRequest", "ValidationFailed", "InvalidSelector", "ElementNotFound", "ElementNotInteractable",
    "ElementGone", "NotAsExpected", "AmbiguousSelector", "PageRequired", "PageNotFound", "PageOwned", "StaleRevision",
    "DialogOpen", "AffectsOthers", "FlowStopped", "HumanInControl", "LoginRequired", "SessionNotFound",
    "SessionExpired", "Cancelled", "Unauthorized", "Forbidden", "RateLimited", "InternalError", "BrowserLaunchFailed",
    "BrowserCrashed", "NavigationFailed", "TimedOut", "NetworkError", "ScriptExecutionFailed", "ResourceExhausted",
    "ServiceUnavailable", "UnknownOutcome",
]


class InvalidRequest(BrowseError):
    """Raised when a request is not one that the service understands: no action, an unknown one, no JSON."""

    code = "INVALID_REQUEST"


class ValidationFailed(BrowseError):
    """Raised when an argument is unknown, missing, given twice, or has a value that is not allowed."""

    code = "VALIDATION_ERROR"


class InvalidSelector(BrowseError):
    """Raised when a selector cannot be parsed."""

    code = "INVALID_SELECTOR"


class ElementNotFound(BrowseError):
    """Raised when nothing matched the selector within the timeout."""

    code = "ELEMENT_NOT_FOUND"


class ElementNotInteractable(BrowseError):
    """Raised when the element is there but cannot be acted on: hidden, disabled, moving or covered."""

    code = "ELEMENT_NOT_INTERACTABLE"


class ElementGone(BrowseError):
    """Raised when a ref names an element that is no longer in its document."""

    code = "ELEMENT_GONE"


class NotAsExpected(BrowseError):
    """Raised when what `expect` checks did not come true within the timeout."""

    code = "NOT_AS_EXPECTED"


class AmbiguousSelector(BrowseError):
    """Raised when a selector matches several elements and one is needed."""

    code = "AMBIGUOUS_SELECTOR"


class PageRequired(BrowseError):
    """Raised when a call names no page and you have none, or several."""

    code = "PAGE_REQUIRED"


class PageNotFound(BrowseError):
    """Raised when no page has that id."""

    code = "PAGE_NOT_FOUND"


class PageOwned(Busy):
    """Raised when another client holds the page."""

    code = "PAGE_OWNED"


class StaleRevision(BrowseError):
    """Raised when the page has moved on from what the call was meant for."""

    code = "STALE_REVISION"


class DialogOpen(BrowseError):
    """Raised when a dialog of the page (alert, confirm, prompt) waits for its answer."""

    code = "DIALOG_OPEN"


class AffectsOthers(BrowseError):
    """Raised when a session-wide act would touch pages that others hold."""

    code = "AFFECTS_OTHERS"


class FlowStopped(BrowseError):
    """Raised when a step of a flow finds its page other than it was: what is left was not done."""

    code = "FLOW_STOPPED"


class HumanInControl(Busy):
    """Raised when a person has taken the page over."""

    code = "HUMAN_IN_CONTROL"


class LoginRequired(BrowseError):
    """Raised when the site asks for a name and a password by HTTP."""

    code = "LOGIN_REQUIRED"


class SessionNotFound(BrowseError):
    """Raised when no session has that id."""

    code = "SESSION_NOT_FOUND"


class SessionExpired(BrowseError):
    """Raised when the session's time is over, and its cookies are gone."""

    code = "SESSION_EXPIRED"


class Cancelled(BrowseError):
    """Raised when a call was stopped, and changed nothing."""

    code = "CANCELLED"


class Unauthorized(BrowseError):
    """Raised when the token is missing, wrong or revoked."""

    code = "UNAUTHORIZED"


class Forbidden(BrowseError):
    """Raised when the token, the URL policy or another's ownership does not allow it."""

    code = "FORBIDDEN"


class RateLimited(BrowseError):
    """Raised when calls come faster than a limit allows. The call did not happen."""

    code = "RATE_LIMITED"


class InternalError(BrowseError):
    """Raised when the service itself is at fault."""

    code = "INTERNAL_ERROR"


class BrowserLaunchFailed(BrowseError):
    """Raised when no browser could be started."""

    code = "BROWSER_LAUNCH_FAILED"


class BrowserCrashed(BrowseError):
    """Raised when the browser or the page's renderer died during the call."""

    code = "BROWSER_CRASHED"


class NavigationFailed(BrowseError):
    """Raised when the page could not load the URL: unknown host, refused, bad certificate, or too slow."""

    code = "NAVIGATION_FAILED"


class TimedOut(BrowseError):
    """Raised when the page did not respond, or the call ran out of its time."""

    code = "TIMEOUT"


class NetworkError(BrowseError):
    """Raised when a request sent from the page failed, or was answered with an HTTP error."""

    code = "NETWORK_ERROR"


class ScriptExecutionFailed(BrowseError):
    """Raised when JavaScript given by the caller threw, or could not run."""

    code = "SCRIPT_EXECUTION_FAILED"


class ResourceExhausted(BrowseError):
    """Raised when a limit of the service is reached: pages, sessions, memory or disk."""

    code = "RESOURCE_EXHAUSTED"


class ServiceUnavailable(BrowseError):
    """Raised when the service is starting, stopping or cannot be reached."""

    code = "SERVICE_UNAVAILABLE"


class UnknownOutcome(BrowseError):
    """Raised when a call was interrupted after it may have begun to act."""

    code = "UNKNOWN_OUTCOME"

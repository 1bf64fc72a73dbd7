"""Makes the errors that say why the service does not reply, and what to do about it."""

from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from browse_together.client import ports
from browse_together.client.instance import is_local
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import DEFAULT_PORT

_LOOK_FIRST: Final = (
    f"It may or may not have happened: look first ({next_call('snapshot')}), then decide whether to repeat it."
)
_NOT_PASSED_ON: Final = "not passed on"


def not_running(url: str, last_error: str = "") -> ServiceUnavailable:
    """Make the error for a service that does not run, with the command that starts it; or for a service that may run
    but is not trusted."""
    if "SSL:" in last_error:
        return _untrusted(url, last_error)
    hint = f"Start it: {_starting(url)}" if is_local(url) else "Start it there. BROWSE_URL says where it is looked for."
    return _unavailable(
        url, "not running", f"The browser service is not running at {url}.", hint, last_error=last_error
    )


def kept_down(url: str, words: str, *, may_have_happened: bool) -> ServiceUnavailable:
    """Make the error for a service that was ended on purpose, in a chat that does not start it again."""
    message = f"The browser service is down. {words}"
    hint = f"If the user wants it back: {_starting(url)}"
    return _unavailable(url, "kept down", message, f"{hint}. {_LOOK_FIRST}" if may_have_happened else hint)


def not_started(url: str, problem: str, log: Path) -> ServiceUnavailable:
    """Make the error for a failed start."""
    hint = f"`browse-together doctor` says what is missing; its whole log is in {log}."
    return _unavailable(url, "not started", f"The browser service could not be started: {problem}", hint)


def no_answer(url: str, action: str, call_id: str) -> ServiceUnavailable:
    """Make the error for a call that was sent but not answered in time."""
    message = f"The browser service has not answered {action} for a minute."
    hint = f"It may still be at it: {next_call('get_call', call_id=call_id)}."
    return _unavailable(url, "no answer", message, hint, call_id=call_id)


def broken_off(url: str, action: str, call_id: str) -> ServiceUnavailable:
    """Make the error for a call whose connection broke for good, so that its outcome is unknown."""
    message = f"The connection to the browser service broke during {action}, and it has not come back."
    return _unavailable(url, "broken off", message, _LOOK_FIRST, call_id=call_id)


def is_not_passed_on(error: ServiceUnavailable) -> bool:
    """Return whether a proxy answered for the service, which is probably restarting and will soon be back."""
    return object_at(error.details, "context").get("reason") == _NOT_PASSED_ON


def another_answers(url: str, status: int) -> ServiceUnavailable:
    """Make the error for a response that is not from our service, but from a proxy before it or another program."""
    message = f"{url} answered {status}, with no reply of the browser service."
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        hint = f"A proxy there does not reach it, it seems: it must run behind that. {_LOOK_FIRST}"
        return _unavailable(url, _NOT_PASSED_ON, message, hint, status=status)
    hint = f"Another program listens there, it seems, or a proxy refuses the call. {_elsewhere(url)}"
    return _unavailable(url, "another program", message, hint, status=status)


def unproven(url: str) -> ServiceUnavailable:
    """Make the error for a program that does not know this account's secret. No token was sent to it."""
    holder = ports.holder(_port(url)) or "a program"
    message = f"What listens at {url} is not this account's browser service ({holder}); it was sent no token."
    hint = (
        "It did not prove that it has the secret of this data directory. End that program, or give the service's own "
        f"data directory (BROWSE_DATA_DIR), or a token of it (BROWSE_TOKEN_FILE). {_elsewhere(url)}"
    )
    return _unavailable(url, "not proven", message, hint)


def _untrusted(url: str, problem: str) -> ServiceUnavailable:
    message = f"No encrypted connection to {url} is trusted, and no token was sent: {problem}."
    hint = (
        "If an authority of your own made its certificate, let SSL_CERT_FILE name that authority's (PEM). Else another "
        "may answer for the service. BROWSE_URL says where it is, by the name that its certificate has."
    )
    return _unavailable(url, "not trusted", message, hint)


def _elsewhere(url: str) -> str:
    """Return the sentence on how to use the service at another address."""
    hint = "BROWSE_URL says where the service is"
    if is_local(url):
        free_port = _port(url) + 1
        address = f"http://{urlsplit(url).hostname}:{free_port}"
        start = f"browse-together up --detach --port {free_port}"
        hint += f"; to have it at another port: {start}, and BROWSE_URL={address} for the gateway"
    return f"{hint}."


def _unavailable(url: str, reason: str, message: str, hint: str, **context: JsonValue) -> ServiceUnavailable:
    facts: Json = {to_camel(name): value for name, value in context.items() if value}
    return ServiceUnavailable(message, hint=hint, details={"context": {"service": url, "reason": reason, **facts}})


def _starting(url: str) -> str:
    """Return the command that starts the service at an address on this machine."""
    return f"browse-together up --detach{f' --port {_port(url)}' if _port(url) != DEFAULT_PORT else ''}"


def _port(url: str) -> int:
    address = urlsplit(url)
    return address.port or (443 if address.scheme == "https" else 80)

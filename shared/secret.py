"""The account's secret, from which every token is made: the service writes it, its clients read it."""

from pathlib import Path

from shared.errors import ServiceUnavailable
from shared.wire import SECRET_FILE

_ANEW = (
    "Remove it and restart the service (browse-together down, then browse-together up --detach), which makes a new "
    "one; every chat makes its token from that at its next call."
)


def read_secret(data_dir: Path) -> str:
    """Raises FileNotFoundError where there is none yet, ServiceUnavailable for one that makes no token."""
    path = data_dir / SECRET_FILE
    try:
        if secret := path.read_bytes().decode("ascii").strip():
            return secret
        problem = "is empty"
    except FileNotFoundError:
        raise
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError:
        problem = "is not what the service wrote there: it has other characters than ASCII"
    raise ServiceUnavailable(f"The secret file {path} {problem}.", hint=_ANEW)

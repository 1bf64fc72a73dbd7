"""Lets a process open as many files and connections as the system allows. The usual limit is 1,024."""

from typing import Final

_MOST: Final = 16_384


def allow_many() -> None:
    """Raise this process's own limit as far as possible."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, which has no such limit
    except ImportError:
        return
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if most == resource.RLIM_INFINITY else min(_MOST, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))

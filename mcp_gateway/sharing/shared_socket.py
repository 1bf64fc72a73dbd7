"""Where launchers find the shared process: a socket in a folder that only this account may use.

The socket's name is a digest of what launcher and process must share: the version and place of this code, the
interpreter, and the variables that programs read everywhere. Launchers with other values get another shared process.
"""

import contextlib
import fcntl
import os
import signal
import socket
import stat
import struct
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from browse_together import contract
from browse_together.contract.socket_folder import socket_folder
from browse_together.contract.wire import SHARED_GATEWAY, VERSION

# Names are easier to read in one string (SIM905), and pathlib would take time to load (PTH).
_SAME: Final = frozenset("HOME XDG_CONFIG_HOME XDG_DATA_HOME SSL_CERT_FILE SSL_CERT_DIR".split())  # noqa: SIM905 - as said
_SAME_PATHS: Final = ("BROWSE_CONFIG", "BROWSE_DATA_DIR")
_INHERITED: Final = frozenset("PATH LANG TZ TMPDIR LD_LIBRARY_PATH DYLD_LIBRARY_PATH VIRTUAL_ENV".split())  # noqa: SIM905 - same
_CONTRACT: Final = os.path.dirname(os.path.abspath(contract.__file__))  # noqa: PTH100, PTH120 - as said
_MOST_PATH: Final = 100
"""Maximum length of a socket's path; systems allow 104 or 108 bytes."""
_WAITING: Final = 512
_WITHIN_S: Final = 2.0
_LOOK_AGAIN_S: Final = 0.02
_OTHERS: Final = 0o077
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES = 0, 1, 76


class NotShared(Exception):
    """The shared process cannot serve this chat. The text says why."""


class SharedSocket:
    """The socket of one account's and version's shared process, in a folder that launchers and process lock."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self.path = f"{folder}/{name}.sock"
        self.log = f"{folder}/{name}.log"

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "SharedSocket":
        """Return the place for programs with such an environment. Raises NotShared."""
        place = cls(socket_folder(environment), _digest(environment))
        if len(os.fsencode(place.path)) > _MOST_PATH:
            raise NotShared(f"the path {place.path} is too long for a socket; set XDG_RUNTIME_DIR to a shorter one")
        return place

    def prepare(self) -> None:
        """Make the folder, or check that only this account can enter it. Raises NotShared."""
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._folder, 0o700)  # noqa: PTH102 - as above
            found = os.lstat(self._folder)
        except OSError as error:
            raise NotShared(f"{self._folder} cannot be used: {error.strerror}") from None
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & _OTHERS:
            raise NotShared(f"{self._folder} is not a folder of this account alone; remove it, or set XDG_RUNTIME_DIR")

    @contextlib.contextmanager
    def locked(self, within_s: float = _WITHIN_S) -> Iterator[None]:
        """Within the block, keep other programs from starting, finding or ending the process. Raises NotShared."""
        deadline = time.monotonic() + within_s
        try:
            lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise NotShared(f"{self._folder} cannot be opened: {error.strerror}") from None
        try:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise NotShared(f"another program holds {self._folder}") from None
                    time.sleep(_LOOK_AGAIN_S)  # a lock sends no event when it is free
            yield
        finally:
            os.close(lock)

    def leave(self) -> None:
        """Remove the socket and its log. The folder must be locked."""
        _remove(self.path)
        _remove(self.log)

    def socket_id(self) -> int:
        """Return what distinguishes this socket from a later one at the same path; 0 if there is none."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return 0
        return found.st_ino << 64 | found.st_mtime_ns  # file numbers are reused

    def age_s(self) -> float:
        """Return the socket's age in seconds."""
        try:
            return time.time() - os.lstat(self.path).st_mtime
        except OSError:
            return 0.0

    def reach(self, environment: Mapping[str, str], given_up: int = 0) -> tuple[socket.socket, int]:
        """Return a connection to the process, and the id of its socket. Starts the process if it does not run, or if
        its socket is the one that was given up. Raises NotShared."""
        self.prepare()
        with self.locked():
            found = self.socket_id()
            if found and found != given_up and (connection := self._connect()):
                return connection, found
            try:
                starter = self._start(environment)
            except (OSError, NotImplementedError) as error:
                raise NotShared(f"no shared process can be started: {error}") from None
            connection = self._connect()
            os.waitpid(starter, 0)
            if connection:
                return connection, self.socket_id()
        raise NotShared(f"nothing listens at {self.path}")

    def _connect(self) -> socket.socket | None:
        """Return a connection; None if nothing listens, or the queue is so full that nothing can be listening. Raises
        NotShared."""
        try:
            connection = socket.socket(socket.AF_UNIX)
        except OSError as error:
            raise NotShared(f"no socket can be had: {error.strerror}") from None
        try:
            connection.settimeout(_WITHIN_S)
            connection.connect(self.path)
            connection.settimeout(None)
        except OSError:
            connection.close()
            return None
        if not is_own(connection):
            connection.close()
            raise NotShared(f"{self.path} is another account's")
        return connection

    def _start(self, environment: Mapping[str, str]) -> int:
        """Start the process with a socket that already listens, so that nobody has to wait to connect. Returns the pid
        of its starter, which ends at once."""
        _remove(self.path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen(_WAITING)
            listener.set_inheritable(True)
            return os.posix_spawn(
                sys.executable,
                [sys.executable, "-P", "-m", SHARED_GATEWAY, str(listener.fileno()), self._folder, self.path],
                _environment(environment),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600),
                ],
                setsigdef=[signal.SIGINT, signal.SIGTERM],
            )


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - as above


def is_own(connection: socket.socket) -> bool:
    """Return whether the other end of a connection is a process of this account."""
    if hasattr(socket, "SO_PEERCRED"):
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", found)[1]) == os.getuid()
    found = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
    return int(struct.unpack_from("2I", found)[1]) == os.getuid()


def _is_same(name: str) -> bool:
    return name in _SAME or name.startswith(("PYTHON", "OTEL_"))


def _digest(environment: Mapping[str, str]) -> str:
    written = os.stat(f"{_CONTRACT}/written.json").st_mtime_ns  # noqa: PTH116 - as above
    parts = [VERSION, _CONTRACT, sys.executable, str(written)]
    parts += [f"{name}={environment[name]}" for name in sorted(environment) if _is_same(name)]
    # Without pathlib, as above.
    parts += [f"{name}={os.path.abspath(environment[name])}" for name in _SAME_PATHS if environment.get(name)]  # noqa: PTH100
    text = "\0".join(parts).encode(errors="surrogateescape")
    return f"{zlib.crc32(text):08x}{zlib.adler32(text):08x}"  # no stranger chooses the text; hashlib takes 3 ms


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the shared process's environment: what all of its chats have in common, without any chat's key."""
    return {
        name: value
        for name, value in environment.items()
        if _is_same(name) or name in _INHERITED or name.startswith("LC_")
    }

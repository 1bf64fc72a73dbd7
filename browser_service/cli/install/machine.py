"""The machine whose settings change: its platform, its user's folders, its programs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from browse_together.contract.wire import DEFAULT_PORT

_ENDS_WITHIN_S: Final = 60
_SHOWN_CHARACTERS: Final = 300


class Machine(NamedTuple):
    """A platform, an account's home and its environment."""

    platform: str
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> Self:
        return cls(sys.platform, Path.home(), dict(os.environ))

    @property
    def settings_dir(self) -> Path:
        """Return the folder where this platform's programs keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")

    def folder(self, variable: str, *below_home: str) -> Path:
        """Return the folder named by a variable, else one below the user's home."""
        given = self.environment.get(variable)
        return Path(given) if given else self.home.joinpath(*below_home)

    @property
    def service_variables(self) -> dict[str, str]:
        """Return what in this environment says where the service is: a chat's program must find it there as well."""
        here = self.environment
        data_dir, port = here.get("BROWSE_DATA_DIR"), here.get("BROWSE_PORT") or here.get("PORT")
        place = {"BROWSE_DATA_DIR": str(Path(data_dir).expanduser().absolute())} if data_dir else {}
        return place | ({"PORT": port} if port and port != str(DEFAULT_PORT) else {})

    def program(self, name: str) -> str | None:
        """Return a program's absolute path; None if it is not on the PATH."""
        return shutil.which(name, path=self.environment.get("PATH", ""))

    def failure_of(self, command: Sequence[str]) -> str:
        """Run a program of the PATH. Returns why it failed, or ""."""
        name, *arguments = command
        if (path := self.program(name)) is None:
            return f"there is no {name} here"
        try:
            done = subprocess.run(
                [path, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_ENDS_WITHIN_S,
                check=False,
                env=dict(self.environment),
            )
        except subprocess.TimeoutExpired:
            return f"it did not end within {_ENDS_WITHIN_S} s"
        except OSError as error:
            return str(error.strerror or error)
        said = " ".join((done.stderr or done.stdout).decode(errors="replace").split())[:_SHOWN_CHARACTERS]
        return "" if done.returncode == 0 else said or f"exit code {done.returncode}"

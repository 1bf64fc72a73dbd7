"""Runs the command as a person does: real processes, with a data directory of their own."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from browse_together.client.credentials import mint
from browse_together.client.instance import Instance, find, stop
from browse_together.contract.secret import ensure_secret
from browse_together.contract.wire import TOKEN_LIMITS
from tests.support import browsers, forked
from tests.support.gateways import COLD
from tests.support.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
_BARE = {"PORT", "LOG_LEVEL", "APP_ENV", "BROWSER_TYPE", "HEADLESS"}


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: whatever the command printed
        return json.loads(self.out)


@dataclass
class Terminal:
    data_dir: Path
    config: str = os.devnull
    """The file of settings."""

    def environment(self, **variables: str) -> dict[str, str]:
        """Return our environment without any setting of a service or its callers."""
        kept = {name: v for name, v in os.environ.items() if not name.startswith("BROWSE_") and name not in _BARE}
        ours = (
            {"PYTHONPATH": str(ROOT), "BROWSE_DATA_DIR": str(self.data_dir), "PORT": "0", "COLUMNS": "200"}
            | COLD
            | {"BROWSE_CONFIG": self.config}
            | browsers.setting()
        )
        return kept | ours | variables

    @contextmanager
    def start(self, *arguments: str, **variables: str) -> "Iterator[subprocess.Popen[str]]":
        """Start a command that keeps running. It is killed if the test fails or if it takes too long."""
        process = subprocess.Popen(
            [sys.executable, "-m", "browser_service", *arguments],
            cwd=self.data_dir.parent,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            too_long = threading.Timer(2 * PATIENCE_S, process.kill)
            too_long.start()
            try:
                yield process
            except BaseException:
                process.kill()
                raise
            finally:
                too_long.cancel()

    def run(self, *arguments: str, **variables: str) -> Done:
        """Run a command that ends by itself."""
        return Done(*forked.run(arguments, self.environment(**variables), self.data_dir.parent, PATIENCE_S))

    def succeed(self, *arguments: str, **variables: str) -> Done:
        done = self.run(*arguments, **variables)
        assert done.code == 0, done
        return done

    @property
    def service(self) -> Instance | None:
        """Return what `status` would print, without a process."""
        return find(self.data_dir)

    @property
    def url(self) -> str:
        assert self.service
        return self.service.url

    def caller(self, client_id: str, label: str, limits: Mapping[str, str] | None = None) -> httpx.Client:
        """Return a client of the service over plain HTTP."""
        token = mint(ensure_secret(self.data_dir), client_id, label, claims={TOKEN_LIMITS: limits} if limits else {})
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE_S, trust_env=False)

    def end(self) -> None:
        """End the service, whatever became of the test."""
        service = self.service
        if service and not stop(service):
            psutil.Process(service.pid).kill()


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it has not come true"
        time.sleep(0.05)  # between two looks

"""Tests the catalogue's fingerprint: the same in every process, another after every change."""

import os
import subprocess
import sys
from pathlib import Path

from browse_together.contract.catalogue import ACTIONS, digest
from scripts.reference import reference

ROOT = Path(__file__).parents[3]


TELL = (
    "from scripts import reference; from browse_together.contract import catalogue; "
    "print(catalogue.digest(catalogue.ACTIONS), reference.reference())"
)


def test_every_process_computes_the_same_fingerprint_and_reference() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONUTF8": "1"}
    told = subprocess.run(
        [sys.executable, "-c", TELL], cwd=ROOT, env=environment, capture_output=True, check=True, encoding="utf-8"
    )
    assert told.stdout == f"{digest(ACTIONS)} {reference()}\n"

"""Runs what takes longest: kills, floods, all combinations, hosts on Ray, a bare machine. Each proves some paths.

`--if-changed` leaves out what has passed since its paths changed; `--owed` only names the rest. What passed is kept in
`passed.json`, beside this file, for whoever changes these paths next.
"""

import hashlib
import json
import subprocess
import sys
import time
from typing import Final, NamedTuple

from scripts.lint.sources import CLIENT, CONTRACT, ROOT

PASSED: Final = ROOT / "scripts/passed.json"
_TESTS: Final = ("make", "test", "test-more", "TESTS_BROWSER=")
_LONG: Final = (sys.executable, "-m", "pytest", "-n", "3", "--dist", "worksteal", "-m", "long")
_FLOODS: Final = "tests/process/security/test_floods.py"


class Proof(NamedTuple):
    """A command, and the files and folders of which it shows that they hold what they promise."""

    command: tuple[str, ...]
    paths: tuple[str, ...]


PROOFS: Final = {
    "all combinations": Proof(
        (*_LONG, "--ignore", _FLOODS),
        (f"{CONTRACT}/actions", "browser_service/actions", "browser_service/cli", "browser_service/security", CLIENT),
    ),
    # Nothing runs beside them: where others use the processor, an honest page looks like one.
    "floods": Proof((sys.executable, "-m", "pytest", _FLOODS), ("browser_service/host/network", _FLOODS)),
    "kills": Proof(
        ("make", "chaos", "BROWSE_CHAOS_KILLS=30"),
        ("browser_service/host", "browser_service/store", CLIENT, "mcp_gateway/sharing", "tests/process/chaos"),
    ),
    "kills of hosts": Proof(
        ("make", "chaos-hosts"), ("browser_service/carriers", "browser_service/host", "tests/process/hosts")
    ),
    "Ray": Proof(("make", "test-ray"), ("browser_service/carriers", "deploy", "tests/process/hosts/test_ray.py")),
    "a bare machine": Proof(
        ("make", "bare"),
        ("Dockerfile", "compose.yaml", "constraints.txt", "pyproject.toml", "scripts/bare.py", "scripts/setup.sh"),
    ),
    "the browser that users have": Proof(_TESTS, ("browser_service/host", "browser_service/actions")),
}


def main() -> None:
    options = sys.argv[1:]
    passed = json.loads(PASSED.read_text("utf-8"))
    owed = [name for name, proof in PROOFS.items() if passed.get(name) != _digest(proof.paths)]
    if "--owed" in options:
        print("long: nothing is owed" if not owed else f"long: changed since it passed: {', '.join(owed)} (make long)")
        return
    failed = [name for name in (owed if "--if-changed" in options else PROOFS) if not _passes(name)]
    if failed:
        sys.exit(f"long: failed: {', '.join(failed)}")


def _passes(name: str) -> bool:
    """Run a proof, and keep that it passed."""
    command, paths = PROOFS[name]
    print(f"\nlong: {name}", flush=True)
    began, before = time.monotonic(), _digest(paths)
    is_passed = subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    print(f"long: {name}: {time.monotonic() - began:.0f} s", flush=True)
    if is_passed:
        kept = json.loads(PASSED.read_text("utf-8")) | {name: before}
        PASSED.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", "utf-8")
    return is_passed


def _digest(paths: tuple[str, ...]) -> str:
    """Return a digest of the files as they are here, those too that are not committed."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")[:-1]
    found = hashlib.sha256()
    for name in sorted({*names}):
        if (file := ROOT / name).exists():
            found.update(f"{name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


if __name__ == "__main__":
    main()

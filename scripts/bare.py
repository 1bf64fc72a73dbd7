"""Runs `make demo` and `make test` in a minimal Debian system, and in another one the steps of the Dockerfile.

It needs root and debootstrap. Debian comes from where this machine gets it.
"""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import yaml

ROOT: Final = Path(__file__).parents[1]
RELEASE: Final = "bookworm"  # it has the lowest Python version that we promise
PACKAGES: Final = "python3,python3-venv,git,make,ca-certificates"
CERTIFICATES: Final = "etc/ssl/certs/ca-certificates.crt"
OF_THIS_MACHINE: Final = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", CERTIFICATES)
NEEDED: Final = re.compile(r"(?i)(https?|no)_proxy|PIP_\w+")
"""Variables that tell how to reach package indexes."""
ENTER: Final = 'cd "$1"; shift; mount -t proc proc proc; mount --rbind /dev dev; mount --rbind /sys sys'
ANSWERS_WITHIN_S: Final = 60


class System(NamedTuple):
    """The root of a Debian system with its own processes and mounts, but this machine's devices and network."""

    root: Path

    def run(
        self, *words: str, folder: str = "/", user: str = "root", alone: bool = False, variables: Mapping[str, str] = {}
    ) -> None:
        """Run a program to its end; `alone` means without a network. Raises CalledProcessError."""
        home = "/root" if user == "root" else f"/home/{user}"
        variables = {name: value for name, value in os.environ.items() if NEEDED.fullmatch(name)} | {**variables}
        variables |= {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home}
        variables |= {"LANG": "C.UTF-8", "PIP_CERT": f"/{CERTIFICATES}"}
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *(["--net"] if alone else [])]
        enter = [
            "sh",
            "-c",
            f'set -e; {ENTER}; {"ip link set lo up; " if alone else ""}"$@"; exit $?',
            "-",
            str(self.root),
        ]
        inside = ["chroot", f"--userspec={user}", ".", "env", "-i", f"--chdir={folder}"]
        inside += [f"{name}={value}" for name, value in variables.items()]
        subprocess.run([*unshare, *enter, *inside, *words], check=True, stdin=subprocess.DEVNULL)

    def copy(self, name: str) -> "System":
        other = System(self.root.with_name(name))
        subprocess.run(["cp", "-a", self.root, other.root], check=True)
        return other


def main() -> None:
    if os.geteuid() or not shutil.which("debootstrap"):
        sys.exit("bare: it needs root and debootstrap")
    with tempfile.TemporaryDirectory(prefix="bare-") as folder:
        with step("debootstrap"):
            bare = debian(Path(folder) / "bare")
        image = bare.copy("image")
        check_out(bare)
        make(bare, "demo")
        try_image(image)
        make(bare, "test")


@contextmanager
def step(name: str) -> Iterator[None]:
    print(f"\nbare: {name}", flush=True)
    began = time.monotonic()
    yield
    print(f"bare: {name}: {time.monotonic() - began:.0f} s", flush=True)


def debian(root: Path) -> System:
    """Make a Debian system that gets its packages where this one does."""
    sources = [*own_sources()]
    mirror = [uri for uri, release, _ in sources if release == RELEASE][:1]
    options = ["--variant=minbase", f"--include={PACKAGES}"]
    subprocess.run(["debootstrap", *options, RELEASE, root, *mirror], check=True, stdout=subprocess.DEVNULL)
    if sources:
        (root / "etc/apt/sources.list").write_text("".join(f"deb {' '.join(each)}\n" for each in sources), "utf-8")
    for name in OF_THIS_MACHINE:
        if Path("/", name).exists():
            shutil.copyfile(Path("/", name), root / name)
    return System(root)


def own_sources() -> Iterator[list[str]]:
    """Yield address, release and component of each part of Debian that this machine's apt knows, for our release."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    targets = ["apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian"]
    own = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    for line in subprocess.run(targets, check=True, capture_output=True, text=True).stdout.splitlines():
        uri, release, component = line.split()
        yield [uri, release.replace(own, RELEASE), component]


def make(system: System, goal: str) -> None:
    with step(f"make {goal}"):
        system.run("make", goal, folder="/checkout")


def check_out(system: System) -> None:
    """Copy the files of this checkout, including uncommitted ones."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")[:-1]:
        target = system.root / "checkout" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)


def try_image(system: System) -> None:
    """Do what the Dockerfile says. Then start the image's program as compose.yaml does, and have it show a page."""
    folder, user, environment, start, check = "/", "root", dict[str, str](), "", ""
    for word, rest in instructions():
        print(f"bare: {word} {rest}", flush=True)
        match word:
            case "FROM":
                system.run("python3", "-m", "venv", "/usr/local")  # the image too has `python` and `pip` there
            case "RUN":
                system.run("sh", "-c", rest, folder=folder, user=user, variables=environment)
            case "COPY":
                *names, target = rest.split()
                copy(names, system.root / folder.strip("/") / target)
            case "WORKDIR":
                folder = rest
                (system.root / folder.strip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                user = rest
            case "ENV":
                environment |= dict(each.split("=", 1) for each in shlex.split(rest))
            case "CMD":
                start = shlex.join(json.loads(rest))
            case "HEALTHCHECK":
                check = shlex.join(json.loads(rest.partition(" CMD ")[2]))
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["browser"]["environment"]
    environment |= {name: value for name, value in composed.items() if "$" not in value}
    try_started = f"""{start} & left={ANSWERS_WITHIN_S}
until {check} 2>/dev/null; do left=$((left - 1)); [ $left -gt 0 ] && kill -0 $! || exit 1; sleep 1; done
browse-together run goto --page p --url data:text/html,here && browse-together down && wait"""
    with step("the image"):
        system.run("sh", "-c", try_started, folder=folder, user=user, alone=True, variables=environment)


def instructions() -> Iterator[tuple[str, str]]:
    """Yield the instructions of the Dockerfile, each with its arguments."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")]
    for line in filter(str.strip, "\n".join(lines).replace("\\\n", "").splitlines()):
        word, _, rest = line.partition(" ")
        yield word, rest.strip()


def copy(names: list[str], target: Path) -> None:
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, target)


if __name__ == "__main__":
    main()

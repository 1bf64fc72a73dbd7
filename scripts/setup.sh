#!/bin/sh
# Makes .venv with everything in it, and sees to a browser. A second run finds its stamp and ends at once. Whoever asked
# for nothing else (`setup.sh setup`) is told how a chat client comes to use it.
set -eu
cd "$(dirname "$0")/.."

VENV=.venv
STAMP=$VENV/.setup-stamp
BROWSER_WITHIN_S=900

say() { printf '%s\n' "setup: $*"; }
fail() { printf '%s\n' "setup: $*" >&2; exit 1; }

# What decides whether there is anything to do: this place, and the files that say what is to be installed.
fingerprint() { { pwd; cat pyproject.toml constraints.txt scripts/setup.sh; } | cksum; }

is_done() {
    [ -x "$VENV/bin/python" ] && [ -f "$STAMP" ] || return 1
    { read -r before; read -r browser; } <"$STAMP" || return 1
    [ "$before" = "$(fingerprint)" ] && [ -x "$browser" ]
}

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed, and python3 is none. Name one: make setup PYTHON=/path/to/python3"
}

make_venv() {
    [ -x "$VENV/bin/python" ] && return
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv"
    say "making $VENV with $("$python" --version)"
    "$python" -m venv "$VENV"
}

install_packages() {
    say "installing packages: some minutes if this machine is busy or its line is slow"
    pip="$VENV/bin/python -m pip --disable-pip-version-check -qq"
    $pip --version >/dev/null 2>&1 || "$VENV/bin/python" -m ensurepip --upgrade >/dev/null
    $pip install --upgrade 'pip>=25.1' # the first that knows --group
    $pip install --constraint constraints.txt --editable '.[video]' --group dev
    # Python finds the package by a hook of the installer's; type checkers run none, and read this path.
    "$VENV/bin/python" -c 'import pathlib, sysconfig as s
pathlib.Path(s.get_path("purelib"), "browse-together-shared.pth").write_text(str(pathlib.Path("shared").resolve()))'
    say "compiling them"
    # A gateway without byte code starts half a second later. Some packages carry files for other versions of Python.
    "$VENV/bin/python" -m compileall -q "$VENV/lib" browser_service mcp_gateway mcp_home_simulator shared >/dev/null 2>&1 || true
}

bounded() {
    if command -v timeout >/dev/null; then timeout "$BROWSER_WITHIN_S" "$@"; else "$@"; fi
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

has_browser() { browser=$("$VENV/bin/python" -m scripts.try_browser 2>"$VENV/browser-error"); }

playwrights_browser() { bounded "$VENV/bin/python" -m playwright install chromium >/dev/null 2>&1; }

from_debian() {
    command -v apt-get >/dev/null || return 1
    as_root true 2>/dev/null || return 1
    say "installing Debian's" "$@"
    as_root apt-get update -qq >/dev/null &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Playwright's driver starts every browser: prints what it lacks, as Debian names its packages (libatomic1 has
# libatomic.so.1).
lacking() {
    driver=$("$VENV/bin/python" -c 'import os, playwright; print(os.path.dirname(playwright.__file__) + "/driver/node")')
    ldd "$driver" 2>/dev/null | sed -n 's/^[[:space:]]*\(lib.*\)\.so\.\([0-9]*\).*not found$/\1\2/p' | tr _ -
}

make_browser() {
    say "looking for a browser that works"
    has_browser && return
    libraries=$(lacking)
    if [ -n "$libraries" ]; then
        from_debian $libraries ||
            fail "Playwright's driver lacks libraries. Install them, then repeat. Debian's packages:" $libraries
        has_browser && return
    fi
    say "no browser works here yet: trying Playwright's"
    playwrights_browser && has_browser && return
    # It brings the libraries that Playwright's own browser needs, too.
    from_debian chromium fonts-liberation fonts-wqy-microhei && has_browser && return
    fail "no browser could be installed: $(cat "$VENV/browser-error")
Install Chrome, Edge or Chromium, or run \`$VENV/bin/python -m playwright install --with-deps chromium\`; then repeat."
}

say_next() {
    if [ "${1:-}" = setup ]; then say "now set up a chat client: $PWD/$VENV/bin/browse-together install claude-code"; fi
}

if is_done; then
    say_next "$@"
    exit 0
fi
make_venv
install_packages
make_browser
rm -f "$VENV/browser-error"
printf '%s\n' "$(fingerprint)" "$browser" >"$STAMP"
say "done; the browser is $browser"
say_next "$@"

#!/bin/sh
# Writes constraints.txt: the newest versions that pyproject.toml allows, of everything that it needs and nothing else.
# PYTHON names the oldest Python that they must work with, such as Debian's: the newest of some packages refuse it.
set -eu
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"${PYTHON:-.venv/bin/python}" -m venv "$fresh"
pip="$fresh/bin/python -m pip --disable-pip-version-check -qq"
$pip install --upgrade 'pip>=25.1'
$pip install --editable '.[video,ray,otel]' --group dev --group site --group engines
{
    echo "# The exact versions of the whole environment, written by scripts/pin.sh."
    $pip freeze --all --exclude pip --exclude-editable --exclude browse-together | LC_ALL=C sort -f
} >"$fresh/pins"
if grep -n ' @ ' "$fresh/pins"; then
    echo "pin: these have no version that others could install" >&2
    exit 1
fi
cp "$fresh/pins" constraints.txt

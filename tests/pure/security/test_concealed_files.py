"""Tests that secrets are found in files of each kind, and that a search ends."""

import asyncio
import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from browser_service.security.concealed_files import conceal_file, concealed
from browser_service.security.concealment import Concealment
from shared.errors import ResourceExhausted

pytestmark = pytest.mark.anyio

VALUE, MARK = "Grün-Käse*42", "«secret:pw»"
HIDES = Concealment([("pw", VALUE)])


def _zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("file", data)
    return packed.getvalue()


def _unzipped(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("file")


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
async def test_texts_of_each_charset_are_searched(charset: str) -> None:
    shown = await concealed(f"a\r\nkey={VALUE}\r\nß".encode(charset), "text/plain", HIDES)
    assert shown.decode(charset) == f"a\r\nkey={MARK}\r\nß"


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
async def test_a_secret_in_wide_characters_within_a_program_is_found(charset: str) -> None:
    data = b"\x7fELF\0!!%b!!\0\xff"
    shown = await concealed(data % VALUE.encode(charset), "application/octet-stream", HIDES)
    assert shown == data % MARK.encode("latin-1")


async def test_what_is_packed_in_something_packed_is_searched_and_a_file_without_secrets_is_the_same() -> None:
    for data in (_zipped(gzip.compress(b"x")), b"\x1f\x8bbroken", b"PK\5\6" + bytes(18), b"\xff\xfe\0"):
        assert await concealed(data, "", HIDES) is data
    shown = await concealed(_zipped(gzip.compress(f"key={VALUE}".encode())), "", HIDES)
    assert gzip.decompress(_unzipped(shown)).decode() == f"key={MARK}"
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("x"), io.BytesIO())
    assert await concealed(tar.getvalue(), "", HIDES) == tar.getvalue()


async def test_an_archive_that_is_too_large_unpacked_or_packed_too_often_ends_the_search() -> None:
    small = _zipped(b"x")
    size = small.index(b"PK\1\2") + 24
    bomb = small[:size] + (600_000_000).to_bytes(4, "little") + small[size + 4 :]
    with pytest.raises(ResourceExhausted, match="too large"):
        await concealed(_zipped(bomb), "", HIDES)
    data = b"x"
    for _ in range(50):
        data = _zipped(data)
    assert await concealed(data, "", HIDES) is data


async def test_packed_files_are_searched_one_at_a_time_and_leave_the_other_threads_free() -> None:
    packed, threads = gzip.compress(bytes(5_000_000)), (os.cpu_count() or 1) + 4
    searches = [asyncio.ensure_future(concealed(packed, "", HIDES)) for _ in range(threads + 4)]
    await asyncio.sleep(0)  # all of them begin
    await asyncio.to_thread(bool)
    assert sum(search.done() for search in searches) < 3
    await asyncio.gather(*searches)


async def test_a_file_that_is_too_large_to_be_changed_is_refused_only_if_it_has_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.seek(50_000_000)
        file.write(b"x" * 9)
    await conceal_file(path, "", HIDES)
    with path.open("r+b") as file:
        file.seek(8_000_000 - 5)
        file.write(VALUE.encode())
    with pytest.raises(ResourceExhausted, match="named secret"):
        await conceal_file(path, "", HIDES)

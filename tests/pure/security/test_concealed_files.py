"""Tests that secrets are hidden in the files that we write, and that each search ends in its time."""

import asyncio
import io
import itertools
import os
import zipfile

import pytest

from browse_together.contract.errors import ResourceExhausted
from browser_service.security.concealed_files import concealed
from browser_service.security.concealment import MOST_SEARCH_S, Concealment

pytestmark = pytest.mark.anyio

VALUE, MARK = "Grün-Käse*42", "«secret:pw»"
HIDES = Concealment([("pw", VALUE)])
PIECE = "x" * 100_000
ZIP = "application/zip"


def _hasty(pieces: int) -> Concealment:
    """Return a concealment whose clock lets a search take so many pieces."""
    ticks = itertools.count()
    return Concealment([("pw", VALUE)], lambda: next(ticks) * MOST_SEARCH_S / pieces)


def _zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "latin-1"])
async def test_texts_of_each_charset_are_searched(charset: str) -> None:
    shown = await concealed(f"a\r\nkey={VALUE}\r\nß".encode(charset), "text/plain", HIDES)
    assert shown.decode(charset) == f"a\r\nkey={MARK}\r\nß"


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
async def test_a_secret_in_wide_characters_within_a_program_is_found(charset: str) -> None:
    data = b"\x7fELF\0!!%b!!\0\xff"
    shown = await concealed(data % VALUE.encode(charset), "application/octet-stream", HIDES)
    assert shown == data % MARK.encode("latin-1")


async def test_a_zip_of_ours_is_searched_and_one_without_secrets_and_pictures_are_the_same() -> None:
    files = {"har.har": b'{"a": 1}', "x.jpeg": b"\xff\xd8\0" + VALUE.encode()}
    clean = _zipped(**files)
    assert await concealed(clean, ZIP, HIDES) is clean
    shown = await concealed(_zipped(**files, body=f"key={VALUE}".encode()), ZIP, HIDES)
    assert _unzipped(shown) == files | {"body": f"key={MARK}".encode()}
    assert [*_unzipped(await concealed(_zipped(**{VALUE: b""}), ZIP, HIDES))] == [MARK]


async def test_what_is_packed_in_a_file_of_a_zip_is_not_unpacked() -> None:
    data = _zipped(bomb=_zipped(zeros=bytes(50_000_000)))
    assert await concealed(data, ZIP, _hasty(4)) is data


@pytest.mark.parametrize("pieces", [4, 8])
async def test_a_text_that_takes_longer_than_its_time_is_not_given_and_a_shorter_one_is(pieces: int) -> None:
    fits = (PIECE * pieces).encode()
    assert await concealed(fits, "text/plain", _hasty(pieces)) is fits
    for data, kind in ((fits + PIECE.encode() * 2, "text/plain"), (_zipped(a=fits, b=fits), ZIP)):
        with pytest.raises(ResourceExhausted, match="over 200 ms") as refused:
            await concealed(data, kind, _hasty(pieces))
        assert "Ask for less" in (refused.value.body().hint or "")
    assert await concealed(fits * 9, "text/plain", Concealment()) == fits * 9


async def test_an_archive_that_unpacks_to_more_than_its_time_allows_is_left_before_its_end() -> None:
    with pytest.raises(ResourceExhausted):
        await concealed(_zipped(zeros=bytes(50_000_000)), ZIP, _hasty(10))


async def test_files_are_searched_one_at_a_time_and_leave_the_other_threads_free() -> None:
    data, threads = bytes(5_000_000), (os.cpu_count() or 1) + 4
    searches = [asyncio.ensure_future(concealed(data, "", HIDES)) for _ in range(threads + 4)]
    await asyncio.sleep(0)  # all of them begin
    await asyncio.to_thread(bool)
    assert sum(search.done() for search in searches) < 3
    await asyncio.gather(*searches)

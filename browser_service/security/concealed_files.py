"""Hides secrets in files that we write: in texts, and in what a zip has. A PDF with one is refused. Files of a site are
not searched."""

import asyncio
import io
import mimetypes
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from browse_together.contract.errors import Forbidden, ResourceExhausted, ValidationFailed
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import PDF
from browser_service.pdf_text import pdf_text
from browser_service.security.concealment import Concealment, SearchTime

_PIECE: Final = 1_000_000
_PICTURES: Final = ("image/", "video/", "audio/")
_ZIP: Final = "application/zip"
_QUICK: Final = 1
"""The level of compression that takes the least time."""
_SEARCHING: Final = ThreadPoolExecutor(1, "searching")
"""Searches one file at a time, so that the event loop has at least every second turn."""


async def concealed(data: bytes, mime_type: str, hides: Concealment) -> bytes:
    """Return a file's bytes without secrets, and the same ones if it has none. Raises Forbidden for a PDF with one,
    which cannot be replaced there, and ResourceExhausted for a file that takes too long to be searched."""
    if not hides.hides_any:
        return data
    if mime_type.startswith(PDF):
        await _check_pdf(data, hides)
        return data
    search = partial(_without_secrets, data, mime_type, hides)
    return await asyncio.get_running_loop().run_in_executor(_SEARCHING, search)


async def _check_pdf(data: bytes, hides: Concealment) -> None:
    try:
        text = await pdf_text(data, all_of_it=True)
    except ValidationFailed:
        raise ResourceExhausted(
            "The PDF is too long to be searched for named secrets, and so was not kept.",
            hint=f"Print a part: {next_call('generate_pdf', page_ranges='1-20')}.",
        ) from None
    both = text + "\n" + "".join(text.split())
    if await asyncio.get_running_loop().run_in_executor(_SEARCHING, hides.in_time, both) is not both:
        raise Forbidden(
            "The text of this PDF has a named secret in it, so that it was not kept.",
            hint=f"Read the page, where the name stands instead: {next_call('content')}.",
        )


def _without_secrets(data: bytes, mime_type: str, hides: Concealment) -> bytes:
    time = hides.time()
    return _clean_zip(data, hides, time) if mime_type == _ZIP else _clean(data, mime_type, hides, time)


def _clean(data: bytes, mime_type: str, hides: Concealment, time: SearchTime) -> bytes:
    """Return a file's bytes without secrets. Pictures stay as they are, and so does what has no secret."""
    if mime_type.startswith(_PICTURES) and b"\0" in data:
        return data
    charset = "utf-8"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        charset, text = "latin-1", data.decode("latin-1")
    clean = hides.text(text, time)
    return data if clean is text else clean.encode(charset)


def _clean_zip(data: bytes, hides: Concealment, time: SearchTime) -> bytes:
    """Return a zip without secrets in the names and contents of its files. What is packed in these is not unpacked."""
    searched, changed = io.BytesIO(), False
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(searched, "w") as new:
        for entry in old.infolist():
            found, kind = _content(old, entry, time), mimetypes.guess_type(entry.filename)[0] or ""
            name, clean = hides.text(entry.filename, time), _clean(found, kind, hides, time)
            changed |= name is not entry.filename or clean is not found
            packing = zipfile.ZIP_STORED if kind.startswith(_PICTURES) else zipfile.ZIP_DEFLATED
            new.writestr(name, clean, packing, _QUICK)
    return searched.getvalue() if changed else data


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, time: SearchTime) -> bytes:
    pieces = list[bytes]()
    with archive.open(entry) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            time.check()
    return b"".join(pieces)

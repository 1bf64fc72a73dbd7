"""Reads the text of PDF files in a separate process, because a hostile file can take any time and memory. That process
reads a file from stdin and writes its text to stdout."""

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from browse_together.contract.errors import ValidationFailed, field_details

if TYPE_CHECKING:
    from pypdf import PdfReader

MOST_SECONDS: Final = 15
_MOST_MEMORY: Final = 1_000_000_000
_MOST_PAGES: Final = 500
_MOST_CHARACTERS: Final = 2_000_000
_ENCRYPTED: Final = 3
_slots: Final = asyncio.Semaphore(2)
"""Limits how many processes run at once."""


async def pdf_text(data: bytes, *, all_of_it: bool = False) -> str:
    """Return the text of a PDF, page by page, and with `all_of_it` also what no page shows: its title and addresses of
    links. Raises ValidationFailed for a PDF whose text cannot be read, or with `all_of_it` not to its end."""
    quiet, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    async with _slots:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, *(["all"] if all_of_it else []), stdin=pipe, stdout=pipe, stderr=quiet
        )
        try:
            async with asyncio.timeout(MOST_SECONDS):
                text, _ = await process.communicate(data)
        except TimeoutError:
            raise _unreadable(f"it takes longer than {MOST_SECONDS} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode:
        raise _unreadable("it is encrypted" if process.returncode == _ENCRYPTED else "it is broken, or too large")
    return text.decode("utf-8", "replace")


def _unreadable(why: str) -> ValidationFailed:
    return ValidationFailed(
        f"The text of this PDF cannot be read: {why}.",
        hint="The file itself is whole: its link or path in the reply that named it.",
        details=field_details("cursor"),
    )


def _limit() -> None:
    """Lower the process's priority, and limit its memory and CPU time."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - Windows has none

        os.nice(10)
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def _read(data: bytes, *, all_of_it: bool) -> str:
    from pypdf import PdfReader  # noqa: PLC0415 - the service itself never needs it

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        sys.exit(_ENCRYPTED)
    shown = _shown(reader)
    if not all_of_it:
        return shown
    if len(reader.pages) > _MOST_PAGES or len(shown) > _MOST_CHARACTERS:
        sys.exit(1)
    return "\n".join([shown, *_unshown(reader)])


def _unshown(reader: "PdfReader") -> Iterator[str]:
    """Yield the metadata of a PDF, and the addresses that its pages link to."""
    yield from map(str, (reader.metadata or {}).values())
    for page in islice(reader.pages, _MOST_PAGES):
        for each in page.annotations or []:
            yield str(each.get_object())


def _shown(reader: "PdfReader") -> str:
    pages, left, texts = len(reader.pages), _MOST_CHARACTERS, list[str]()
    for page in islice(reader.pages, _MOST_PAGES):
        texts.append(page.extract_text().strip()[:left])
        left -= len(texts[-1])
        if not left:
            break
    head = f"PDF, {pages} page{'s' * (pages > 1)}"
    if not any(texts):
        return f"({head}, without any text: it has pictures alone)"
    cut = f"; the first {len(texts)} of them" if len(texts) < pages else ""
    said = "\n\n".join(f"--- page {number} ---\n{text}" for number, text in enumerate(texts, 1))
    return f"({head}{cut})\n{said}"


if __name__ == "__main__":
    _limit()
    sys.stdout.buffer.write(_read(sys.stdin.buffer.read(), all_of_it=len(sys.argv) > 1).encode("utf-8", "replace"))

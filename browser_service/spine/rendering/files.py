"""Renders the files of a reply: as lines that name them, and as blocks that carry them."""

import base64
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from browse_together.contract.calls import Preview
from browse_together.contract.model import Json, list_at
from browse_together.contract.next_calls import Spell, next_call, spelled
from browse_together.contract.quoting import Foreign, Frame, flat, of_file
from browse_together.contract.replies import FileMention, ForModel
from browse_together.contract.wire import FILE_URI, INLINE_TEXT

_MOST_LINKS: Final = 10


class File(BaseModel):
    """An artifact, or a download that has ended."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")

    artifact_id: str
    mime_type: str = "application/octet-stream"
    size: int = 0
    name: str | None = None
    path: str | None = None
    secret: bool | None = None
    data: str | None = None
    preview: Preview | None = None

    @property
    def uri(self) -> str:
        return f"{FILE_URI}{self.artifact_id}"

    @property
    def is_text(self) -> bool:
        kind = self.mime_type.partition(";")[0].strip().lower()
        return kind.startswith("text/") or kind.endswith(("json", "xml", "javascript"))

    @property
    def is_embedded(self) -> bool:
        """Return whether the file is a text that is short enough to be sent whole."""
        return bool(self.data) and self.is_text and self.size <= INLINE_TEXT


class FileLine(NamedTuple):
    """A line that names a file by its address."""

    before: str
    file: File
    after: str = ""


Line = str | Foreign | FileLine


def files_of(result: Json) -> list[File]:
    """Return the result's own file, its downloads, and the files of the actions that it carried."""
    listed: list[JsonValue] = []
    for each in (result, result.get("during"), *list_at(result, "steps")):
        if isinstance(each, dict):
            listed += [each.get("artifact"), *list_at(each, "downloads")[:_MOST_LINKS]]
    files = [File.model_validate(item) for item in listed if isinstance(item, dict) and "artifactId" in item]
    return [*{file.artifact_id: file for file in files}.values()]


def lines_of(file: File, spell: Spell, *, is_named: bool) -> list[Line]:
    """Return lines that say what a file is, where it is, and which call reads it; without its id and size if another
    line has them."""
    before = f"{file.mime_type}, " if is_named else f"{file.artifact_id}: {file.mime_type}, {file.size} bytes, "
    if file.is_embedded:
        return [FileLine(before, file)]
    if file.is_text and not file.secret:
        read = f"; read it: {next_call('content', cursor=f'{file.artifact_id}:0')}"
        return [FileLine(before, file, spelled(read, spell))]
    line = FileLine(before, file)
    if not (preview := file.preview):
        return [line]
    more_hint = f" … more: {next_call('screenshot', cursor=preview.cursor)}" if preview.cursor else ""
    return [line, spelled(f"{preview.said}{more_hint}", spell)]


def attachments(file: File, form: ForModel) -> Iterator[Json]:
    """Yield the picture or the text as a block, and a link if that is not the whole file."""
    if preview := file.preview:
        yield {"type": "image", "data": preview.data, "mimeType": preview.mime_type}
    elif file.data and file.mime_type.startswith("image/"):
        yield {"type": "image", "data": file.data, "mimeType": file.mime_type}
    elif file.data and file.is_embedded:
        text = of_file(base64.b64decode(file.data).decode("utf-8", "replace"), file.mime_type)
        yield {"type": "resource", "resource": {"uri": file.uri, "mimeType": file.mime_type, "text": text}}
        return
    if form.links:
        fields: Json = {"name": flat(file.name or file.artifact_id), "mimeType": file.mime_type, "size": file.size}
        yield {"type": "resource_link", "uri": file.uri, **fields}


def text_block(lines: Iterable[Line], form: ForModel, *, explained: bool = False) -> Json:
    """Return one block of all lines that are not empty. Each of ours stays one line; pages' texts stand in a frame,
    whose meaning may be known to the reader."""
    lines, text, places = [line for line in lines if line], "", list[JsonValue]()
    frame = Frame(lines, explained=explained)
    for line in lines:
        text += "\n" if text else ""
        if isinstance(line, Foreign):
            text += frame.around(line)
        elif isinstance(line, str):
            text += flat(line)
        else:
            before = flat(line.before)
            if form.local and line.file.path:
                places.append(_place(len(text) + len(before), line.file, form))
            text += f"{before}{line.file.uri}{flat(line.after)}"
    return {"type": "text", "text": text} | ({"places": places} if places else {})


def _place(at: int, file: File, form: ForModel) -> JsonValue:
    """Return what a local reader shows for a file's address: its path, and the address too if there is no link."""
    path = file.path or ""
    replacement = path if form.links else f"{path}, {file.uri}"
    place = FileMention(at=at, length=len(file.uri), instead=replacement, path=path, size=file.size)
    return place.model_dump(mode="json")

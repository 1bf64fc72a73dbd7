"""Files to pages and from them: uploads, drops, downloads."""

from typing import Annotated

from pydantic import Field

from shared.actions.base import Action, ElementAction, Lane, Part
from shared.actions.interaction import At, NoWaitAfter

_MOST = 50


class GivenFile(Part):
    name: str = Field(
        min_length=1,
        max_length=500,
        description="File name; alone, of a file in the service's upload folders.",
    )
    text: str | None = Field(default=None, description="Its content as text.")
    data: str | None = Field(default=None, description="Its content as base64.")
    artifact_id: str | None = Field(default=None, description="Content from an earlier reply: a download, a picture.")
    mime_type: str | None = Field(default=None, max_length=200, description="By its name without.")


Files = Annotated[list[GivenFile], Field(max_length=_MOST)]


class UploadFile(ElementAction):
    """Choose files in a file input, or in the file chooser that a click on the element opens. The reply has what the
    input holds then."""

    idempotent = True

    files: Files = Field(description="The files; an empty list takes them out.")
    no_wait_after: NoWaitAfter = False


class Drop(ElementAction):
    """Drop files or data onto an element, as if dragged from outside of the browser."""

    files: Files = Field(default=[], description="The files.")
    data: dict[str, str] | None = Field(default=None, description='By MIME type: {"text/plain": "..."}.')
    position: At = None


class ListDownloads(Action):
    """List what your pages downloaded, newest first: name, URL, size, state, and where the file is or why it did not
    come."""

    lane = Lane.BESIDE
    unmetered = True

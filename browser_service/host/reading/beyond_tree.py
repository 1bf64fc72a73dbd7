"""Says what a page shows of which its tree has no words, and which call has it."""

from dataclasses import dataclass
from typing import Any, Final

from browser_service.security.urls import abridged
from shared.model import Json
from shared.next_calls import next_call


@dataclass(frozen=True)
class BeyondTree:
    """What the script `beyond_tree` finds in a document."""

    pdf: bool = False
    bodiless: bool = False
    """True for SVG and for frame sets, which have no body."""
    canvases: int = 0
    embedded: tuple[str, ...] = ()
    """Addresses of what <object> and <embed> show."""

    def advice(self, url: str) -> Json:
        """Return for a reply what else the page at this address shows, and the calls that have it."""
        if self.pdf:
            return {"advice": f"a PDF: {next_call('fetch', url=url)} gives its file and its text"}
        said: list[str] = []
        if self.canvases:
            canvases = "a canvas" if self.canvases == 1 else f"{self.canvases} canvases"
            mouse = next_call("mouse", do="click", x=..., y=...)
            said.append(f"it draws on {canvases}, without words here: {next_call('screenshot')}, {mouse}")
        if self.embedded:
            page = next_call("open_page", url=self.embedded[0])
            said.append(f"what it embeds (<object>) is not here: {page}")
        return {"advice": "; ".join(said)} if said else {}


NOTHING_BEYOND: Final = BeyondTree()


def joined(*replies: Json) -> Json:
    """Return one advice of those that parts of a reply give."""
    said = "; ".join(str(reply["advice"]) for reply in replies if "advice" in reply)
    return {"advice": said} if said else {}


def beyond_tree(found: Any) -> BeyondTree:  # Any: JSON, of a page
    """Return what a page's script found. Raises TypeError, ValueError or LookupError otherwise."""
    pdf, bodiless = bool(found["pdf"]), bool(found["bodiless"])
    return BeyondTree(pdf, bodiless, int(found["canvases"]), tuple(abridged(str(url)) for url in found["embedded"]))

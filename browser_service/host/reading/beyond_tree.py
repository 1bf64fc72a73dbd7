"""Names the parts of a page that its tree cannot describe, and the calls that read them."""

from dataclasses import dataclass
from typing import Any, Final

from browser_service.security.urls import abridged
from shared.model import Json
from shared.next_calls import next_call


@dataclass(frozen=True)
class BeyondTree:
    """The result of the script `beyond_tree` for a document."""

    pdf: bool = False
    bodiless: bool = False
    """True for SVG documents and framesets, which have no body."""
    canvases: int = 0
    embedded: tuple[str, ...] = ()

    def advice(self, url: str) -> Json:
        """Return the part of a reply that names what else the page at this address shows, and the calls that read
        it."""
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
    """Join the advice of several replies into one."""
    said = "; ".join(str(reply["advice"]) for reply in replies if "advice" in reply)
    return {"advice": said} if said else {}


def beyond_tree(found: Any) -> BeyondTree:  # Any: JSON, of a page
    """Parse the script's result. Raises TypeError, ValueError or LookupError for any other."""
    pdf, bodiless = bool(found["pdf"]), bool(found["bodiless"])
    return BeyondTree(pdf, bodiless, int(found["canvases"]), tuple(abridged(str(url)) for url in found["embedded"]))

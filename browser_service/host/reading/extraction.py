"""Holds the scripts that read data out of a document, each all at once, so that it is of one moment."""

from typing import Final

from browser_service.host.scripts import script

TEXT: Final = script("extract_text")
HTML: Final = script("extract_html")
ATTRIBUTE: Final = script("extract_attribute")
STYLE: Final = script("extract_style")
TABLES: Final = script("extract_tables")
LINKS: Final = script("extract_links")
IMAGES: Final = script("extract_images")
METADATA: Final = script("extract_metadata")
DATA: Final = script("extract_data")

USUAL_STYLE: Final = (
    *("display", "position", "visibility", "opacity", "z-index", "overflow", "color", "background-color"),
    *("background-image", "font-family", "font-size", "font-weight", "font-style", "line-height", "text-align"),
    *("text-decoration-line", "text-transform", "white-space", "width", "height", "margin", "padding", "border"),
    *("border-radius", "box-shadow", "transform", "cursor", "pointer-events", "flex", "gap", "grid-template-columns"),
)
"""These properties of a style are read if the caller names none."""

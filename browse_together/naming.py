"""Names for pages that were given none."""

import re
import secrets


def free_name(label: str) -> str:
    """Return a pageId that nobody else makes, which begins with the program's name."""
    start = re.sub(r"[^A-Za-z0-9]+", "-", label.removesuffix(".py")).strip("-")[:30]
    return f"{start or 'page'}-{secrets.token_hex(3)}"

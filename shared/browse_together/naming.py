"""Names: of pages that were given none, and of arguments, as Python has them and as the wire has them."""

import re
import secrets
from keyword import iskeyword


def free_name(label: str) -> str:
    """Return a pageId that nobody else makes, which begins with the program's name."""
    start = re.sub(r"[^A-Za-z0-9]+", "-", label.removesuffix(".py")).strip("-")[:30]
    return f"{start or 'page'}-{secrets.token_hex(3)}"


def wire_name(name: str) -> str:
    """Convert `full_page` to `fullPage`, and `as_` to `as`."""
    first, *others = name.rstrip("_").split("_")
    return "".join([first, *(word.capitalize() for word in others)])


def python_name(name: str) -> str:
    """Convert `fullPage` to `full_page`, and `as` to `as_`."""
    spelled = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return f"{spelled}_" if iskeyword(spelled) else spelled

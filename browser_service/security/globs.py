"""Matches a text with a pattern in which `*` is any text."""


def matches_glob(glob: str, text: str) -> bool:
    """Match without backtracking, so that no pattern is slow. `*` matches any text; every other character matches
    itself."""
    first, *rest = glob.split("*")
    if not rest:
        return glob == text
    *middle, last = rest
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True

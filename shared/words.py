"""Cleans what agents and people say to each other, and marks it where an agent reads what another one said.

Such words are as untrusted as a page's text: they stay on one line, in their quotes, and no part of them can be taken
for a line of ours or for a call that we advise."""

from typing import Final

from shared.quoting import legible

_LONGEST: Final = 4_000
"""Most characters to clean. Every argument allows fewer, so that a longer text is refused unchanged."""
_TAME: Final = str.maketrans({'"': "'", "{": "(", "}": ")"})
_MARK: Final = "in its own words"


def one_line(text: str) -> str:
    """Return the text on one line, without the characters that nobody sees. One that is far too long stays as it is."""
    return text if len(text) > _LONGEST else " ".join(legible(text).split())


def quotable(text: str) -> str:
    """Return the text on one line, which can neither end the quotes around it nor be taken for a call."""
    return one_line(text).translate(_TAME)


def own_words(text: str) -> str:
    """Return another agent's words as they are shown to an agent: marked, and in quotes."""
    return f'{_MARK}: "{quotable(text[:_LONGEST])}"'

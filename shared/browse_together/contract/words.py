"""Cleans what agents and people say to each other, and marks what one agent said where another reads it.

Such words are as untrusted as a page's text. They stay on one line and inside their quotes, and no part can be mistaken
for a line of ours or a call that we advise.
"""

from typing import Final

from browse_together.contract.quoting import legible

_LONGEST: Final = 4_000
"""The most characters that are cleaned. Arguments allow fewer, so a longer text is refused unchanged."""
_TAME: Final = str.maketrans({'"': "'", "{": "(", "}": ")"})
_MARK: Final = "in its own words"


def one_line(text: str) -> str:
    """Return the text on one line, without invisible characters. A text that is much too long stays as it is."""
    return text if len(text) > _LONGEST else " ".join(legible(text).split())


def quotable(text: str) -> str:
    """Return the text on one line that can neither end the quotes around it nor be mistaken for a call."""
    return one_line(text).translate(_TAME)


def own_words(text: str) -> str:
    """Return another agent's words for an agent: marked and quoted."""
    return f'{_MARK}: "{quotable(text[:_LONGEST])}"'

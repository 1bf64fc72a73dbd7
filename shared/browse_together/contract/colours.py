"""The colours that tell owners apart, the same on the wall, in replays, on the command line and in the extension."""

from typing import Final, NamedTuple


class Shades(NamedTuple):
    """One colour, as it is read on a light and on a dark ground: each with at least 4.5 to 1 against it."""

    light: str
    dark: str


COLOURS: Final = {
    "blue": Shades("#2141bf", "#9fc2fc"),
    "orange": Shades("#9e6145", "#c18854"),
    "green": Shades("#06512e", "#9cfe89"),
    "pink": Shades("#8a3068", "#fd59a3"),
    "cyan": Shades("#1c7892", "#1babc9"),
    "purple": Shades("#8844e6", "#9e7ffb"),
    "yellow": Shades("#695a00", "#d9bd44"),
    "grey": Shades("#2a2d38", "#f2f2f2"),
}
"""In the order in which they are dealt out. They have the names of Chrome's tab groups, without red, which marks
failures. They differ in lightness too, for those who cannot tell hues apart."""

"""Tests the colours of owners: whom they are dealt to, and that people can tell them apart and read them."""

import asyncio
import itertools
import math
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract.colours import COLOURS
from browser_service.clients.colours import Colours
from browser_service.store.journal import Journal
from browser_service.store.tables import MOST_DEALT, ColourTable
from scripts.lint.sources import ROOT

pytestmark = pytest.mark.anyio


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = Journal(tmp_path / "journal.db")
    await opened.open()
    yield opened
    await opened.close()


async def dealing(journal: Journal, there: set[str]) -> Colours:
    colours = Colours(ColourTable(journal), lambda: there)
    await colours.open()
    return colours


async def test_owners_that_are_there_have_different_colours_while_there_are_eight(journal: Journal) -> None:
    there = {f"c-{number}" for number in range(10)}
    colours = await dealing(journal, there)
    dealt = [colours.of(f"c-{number}", "Claude" if number % 2 else f"Chat {number}") for number in range(10)]
    assert {*dealt[:8]} == {*COLOURS}
    assert len({*dealt[8:]}) == 2
    assert dealt == [colours.of(f"c-{number}", "") for number in range(10)]
    await colours.close()


async def test_a_name_keeps_its_colour_over_restarts_of_chats_and_of_the_service(journal: Journal) -> None:
    there = {"c-1", "c-2", "c-3"}
    first = await dealing(journal, there)
    shop, second_shop, mail = first.of("c-1", "shop"), first.of("c-2", "shop"), first.of("c-3", "mail")
    assert len({shop, second_shop, mail}) == 3
    await first.close()
    later = await dealing(journal, there)
    assert [later.known(each) for each in ("c-1", "c-2", "c-3", "c-4")] == [shop, second_shop, mail, None]
    there -= {"c-1", "c-3"}
    there.add("c-5")
    assert later.of("c-5", "mail") == mail
    assert later.of("c-6", "shop") == shop
    await later.forget({"c-1", "c-2", "c-3", "c-5", "c-6"})
    await later.close()
    assert await ColourTable(journal).all() == {}


async def test_the_oldest_colours_are_forgotten(journal: Journal) -> None:
    colours = await dealing(journal, set())
    for number in range(MOST_DEALT + 2):
        colours.of(f"c-{number}", f"Chat {number}")
        if number % 100 == 0:
            await asyncio.sleep(0)
    assert colours.known("c-0") is None
    await colours.close()
    assert len(await ColourTable(journal).all()) == MOST_DEALT


_SEES = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red cones": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "without green cones": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "without blue cones": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""What people see of a colour in linear light."""
_GROUNDS = ({"#ffffff", "#f5f5f3", "#fff4e0"}, {"#16191e", "#251c0e", "#282d35"})
_APART = 0.07
"""A distance in OKLab; 0.02 is just seen side by side."""


def linear(text: str) -> list[float]:
    parts = [int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def brightness(text: str) -> float:
    red, green, blue = linear(text)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def seen(text: str, by: str) -> tuple[float, float, float]:
    """Return a colour's place in OKLab."""
    light = linear(text)
    red, green, blue = (min(max(sum(a * b for a, b in zip(row, light, strict=True)), 0), 1) for row in _SEES[by])
    long = math.cbrt(0.4122 * red + 0.5363 * green + 0.0514 * blue)
    middle = math.cbrt(0.2119 * red + 0.6807 * green + 0.1074 * blue)
    short = math.cbrt(0.0883 * red + 0.2817 * green + 0.6300 * blue)
    return (
        0.2105 * long + 0.7936 * middle - 0.0041 * short,
        1.9780 * long - 2.4286 * middle + 0.4506 * short,
        0.0259 * long + 0.7828 * middle - 0.8087 * short,
    )


@pytest.mark.parametrize("by", _SEES)
@pytest.mark.parametrize("ground", [0, 1])
def test_everybody_can_tell_the_colours_apart(ground: int, by: str) -> None:
    shades = [each[ground] for each in COLOURS.values()]
    assert min(math.dist(seen(a, by), seen(b, by)) for a, b in itertools.combinations(shades, 2)) >= _APART


@pytest.mark.parametrize("ground", [0, 1])
def test_each_colour_can_be_read_on_each_ground(ground: int) -> None:
    for shade, below in itertools.product((each[ground] for each in COLOURS.values()), _GROUNDS[ground]):
        low, high = sorted((brightness(shade), brightness(below)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (shade, below)


@pytest.mark.parametrize(
    "path", ["browser_service/wall/static/base.css", "browser_service/extension/popup.css", "mcp_gateway/card.html"]
)
def test_every_style_sheet_has_the_same_colours(path: str) -> None:
    found = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\);", (ROOT / path).read_text("utf-8"))
    assert {name: (light, dark) for name, light, dark in found if name in COLOURS} == {
        name: tuple(each) for name, each in COLOURS.items()
    }

"""Tests that a page is read, searched and compared in steps that grow with it, whatever shape it has."""

import cProfile
from collections.abc import Callable

import pytest

from browser_service.host.reading import identity, news, news_report, outline, search, tree
from browser_service.host.reading.tree import Tree

_MOST_STEPS = 2_000
"""Limit of function calls per element in a comparison."""
_FEW_STEPS = 100
"""Limit of function calls per element in a reading."""


def lists(count: int, first: int) -> str:
    return "\n".join(
        f"- list [ref=e{n}]:\n  - listitem [ref=e{first + n}]: item {n}" for n in range(1, count + 1)
    )  # each has a part that is made anew


def items(count: int, first: int) -> str:
    return "- list [ref=e1]:\n" + "\n".join(f"  - listitem [ref=e{first + n}]: item {n}" for n in range(count))


def nested(count: int, first: int, role: str) -> str:
    lines = [f"{'  ' * n}- {role} [ref=e{first + n}]:\n{'  ' * (n + 1)}- text: word {first}" for n in range(count)]
    return "- main [ref=e1]:\n" + "\n".join(f"  {line}" for each in lines for line in each.split("\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(lists(1_700, 10_000), lists(1_700, 50_000), id="many lists made anew"),
        pytest.param(items(1_000, 10_000), items(1_000, 50_000), id="one long list made anew"),
        pytest.param("- main [ref=e1]", nested(800, 100, "generic"), id="containers in containers"),
        pytest.param("- main [ref=e1]", nested(800, 100, "listitem"), id="items in items"),
        pytest.param(nested(800, 10_000, "list"), nested(800, 50_000, "list"), id="lists in lists made anew"),
    ],
)
def test_no_shape_of_a_page_makes_the_comparison_take_more_steps_than_its_elements_need(
    before: str, after: str
) -> None:
    old, new = tree.parse(before), tree.parse(after)
    steps = steps_of(lambda: news_report.report(news.news(old, new), new, 480, None))
    assert steps < _MOST_STEPS * (len(old) + len(new))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(nested(1_000, 1, "status"), id="words in words"),
        pytest.param(nested(1_000, 1, "row"), id="rows in rows"),
        pytest.param(nested(1_000, 1, 'button "Buy"'), id="buttons in buttons"),
        pytest.param(nested(1_000, 1, 'region "Part"'), id="landmarks in landmarks"),
        pytest.param(items(3_000, 1), id="one long list"),
        pytest.param("\n".join(f'- button "{"b" * 90} {n}" [ref=e{n}]' for n in range(3_000)), id="names alike"),
    ],
)
@pytest.mark.parametrize(
    "read",
    [
        lambda nodes: outline.outline(nodes, 1_200),
        lambda nodes: search.search(nodes, text="word"),
        lambda nodes: search.search(nodes, role=nodes[-2].role, text="nowhere"),
        lambda nodes: search.nearest(nodes, "b" * 80 + " here"),
        lambda nodes: identity.rows(nodes, {node.ref for node in nodes if node.ref}),
    ],
    ids=["outline", "search", "search within", "nearest", "rows"],
)
def test_no_shape_of_a_page_makes_reading_it_take_more_steps_than_its_elements_need(
    page: str, read: Callable[[Tree], object]
) -> None:
    nodes = tree.parse(page)
    assert steps_of(lambda: read(nodes)) < _FEW_STEPS * len(nodes)


def steps_of(work: Callable[[], object]) -> int:
    """Return how many functions the work calls."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())

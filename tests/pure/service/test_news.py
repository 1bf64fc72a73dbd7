"""Tests that what changed on a page is found in steps that grow with the page, whatever shape a page gives it."""

import cProfile

import pytest

from browser_service.host.reading import news, tree

_MOST_STEPS = 2_000
"""A comparison calls so many functions for each element, at most."""


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
    profile = cProfile.Profile()
    profile.runcall(lambda: news.report(news.news(old, new), new, 480, None))
    steps = sum(entry.callcount for entry in profile.getstats())
    assert steps < _MOST_STEPS * (len(old) + len(new))

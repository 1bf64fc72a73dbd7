"""Tests that unseen words, and only those, are taken out of a tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser_service.host.reading import tree
from browser_service.host.reading.unseen import Unseen

TREE = """\
- main [ref=e1]:
  - heading "Tea SALE" [level=1] [ref=e2]
  - paragraph [ref=e3]: Obey these words
  - generic [ref=e4]:
    - text: Obey these words
  - link "Obey these words" [ref=e5]:
    - /url: /x
  - button "Buy Obey these words now" [ref=e6]
  - text: 12 teas
  - iframe [ref=e7]:
    - paragraph [ref=f1e2]: framed words
"""


def lines(words: list[str], frames: frozenset[str] = frozenset()) -> list[str]:
    nodes, _ = Unseen(words, frames).out_of(tree.parse(TREE))
    assert all(node.parent is None or nodes[node.parent].depth < node.depth for node in nodes)
    return [node.line for node in nodes]


def test_elements_that_say_nothing_else_go_and_controls_keep_their_refs() -> None:
    assert lines(["Obey these words"]) == [
        "- main [ref=e1]:",
        '- heading "Tea SALE" [level=1] [ref=e2]',
        "- link [ref=e5] [url=/x]",
        '- button "Buy now" [ref=e6]',
        "- text: 12 teas",
        "- iframe [ref=e7]:",
        "- paragraph [ref=f1e2]: framed words",
    ]


@pytest.mark.parametrize("word", ["2", "te", "SAL", "nothing"])
def test_a_short_word_is_no_part_of_another(word: str) -> None:
    assert lines([word]) == lines([])


def test_a_long_text_is_known_by_its_beginning_and_goes_whole() -> None:
    assert "Obey" not in "".join(lines(["Obey these…"]))


def test_an_invisible_frame_goes_with_its_content() -> None:
    assert not [line for line in lines([], frozenset({"e7"})) if "framed" in line or "iframe" in line]


@given(st.lists(st.text(max_size=12), max_size=5))
def test_the_tree_stays_connected_whatever_is_invisible(words: list[str]) -> None:
    lines(words)

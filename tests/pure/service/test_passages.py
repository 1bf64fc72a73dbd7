"""Tests what is read of a long page: its headings with handles, its sections, and the passages about a question."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from browse_together.contract.errors import ElementNotFound, ValidationFailed
from browser_service.host.reading import articles, passages
from browser_service.host.reading.articles import Article, Found

KETTLES = (
    *("1Kettles", "0About all that boils.", "2History", "0Ana Müller made the first one in 1850."),
    *(
        "2Care",
        "3Descaling",
        "0Vinegar takes lime off.",
        "3Storing",
        "0Keep it dry.",
        "2漢字",
        "0電気ケトルでお湯を沸かす。",
    ),
    *("2हिन्दी", "0केतली पानी गरम करती है।", "2History", "0Of tea."),
)


def _article(*blocks: str) -> Article:
    found = Found.of({"value": {"blocks": [*blocks], "start": 0, "cut": False}, "unseen": 0})
    return found.article(found.text)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who made the first kettle?", "Ana Müller"),
        ("MULLER", "Ana Müller"),
        ("storing it", "Keep it dry."),
        ("vinegars", "Vinegar takes"),
        ("お湯", "電気ケトル"),
        ("पानी", "केतली"),
    ],
)
def test_the_best_passage_is_about_the_question_in_any_language_and_names_its_headings(
    question: str, answer: str
) -> None:
    best = passages.about(_article(*KETTLES), question)[0]
    heading, _, text = best.partition("\n")
    assert answer in text
    assert heading.startswith("## ")
    assert "Kettles" not in heading, "which is the title of them all"
    handle = heading.rpartition("[")[2].removesuffix("]")
    article = _article(*KETTLES)
    assert text in article.text_of(articles.section(article, handle))


def test_words_that_are_nowhere_have_no_passage() -> None:
    assert passages.about(_article(*KETTLES), "zeppelin 飛行") == []
    assert passages.about(_article(), "kettle") == []


def test_a_handle_still_means_its_heading_when_another_came_before_and_nothing_when_that_is_gone() -> None:
    article = _article(*KETTLES)
    descaling = articles.section(article, "descaling")
    later = _article("1News", *KETTLES)
    assert articles.section(later, descaling.handle).title == "Descaling"
    with pytest.raises(ElementNotFound):
        articles.section(_article("1Kettles", "2Nothing", "3Else", "3Here"), descaling.handle)


def test_a_heading_that_several_sections_have_is_refused_with_their_handles() -> None:
    article = _article(*KETTLES)
    handles = [section.handle for section in article.sections if section.title == "History"]
    with pytest.raises(ValidationFailed, match=", ".join(handles)):
        articles.section(article, "History")
    assert "Of tea." in article.text_of(articles.section(article, handles[1]))


def test_a_section_has_those_below_it() -> None:
    article = _article(*KETTLES)
    care = article.text_of(articles.section(article, "Care"))
    assert care.splitlines() == ["## Care", "### Descaling", "Vinegar takes lime off.", "### Storing", "Keep it dry."]


def test_the_highest_headings_are_listed_and_the_others_counted() -> None:
    article = _article("1Top", *(f"{2 + n % 3}Heading number {n}" for n in range(90)))
    listed = articles.headings(article.sections).splitlines()
    assert sum(map(len, listed)) < 2_500
    assert listed[0].startswith("Top [1")
    assert {line[:2] for line in listed[1:-1]} == {"  "}
    assert listed[-1] == f"and {91 - len(listed) + 1} more headings"


@given(st.lists(st.builds(str.__add__, st.sampled_from("00123456"), st.text(max_size=900)), max_size=8), st.text())
@example(["1a\nb", "00"], "0")
def test_passages_are_always_pieces_of_the_page(blocks: list[str], question: str) -> None:
    article = _article(*blocks)
    whole = " ".join(article.text().split())
    for passage in passages.about(article, question):
        text = passage.partition("\n")[2] if passage.startswith("## ") else passage
        assert all(" ".join(line.split()) in whole for line in text.splitlines())
    for section in article.sections:
        assert articles.section(article, section.handle) == section


def test_as_many_passages_come_first_as_fit() -> None:
    found = ["x" * 1_000, "y" * 1_000, "漢" * 700, "z"]
    assert passages.budget(found) == 2_002
    assert passages.budget(found[2:]) == 703
    assert passages.budget(["漢" * 900]) == 901

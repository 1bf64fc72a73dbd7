"""Tests what is reported of a page's changes, on trees alone."""

import pytest

from browser_service.host.reading import news, news_report, tree


def _items(first_ref: int, *said: str) -> str:
    lines = ["- list [ref=e1]:"]
    for number, words in enumerate(said):
        ref = first_ref + 3 * number
        lines += [f"  - listitem [ref=e{ref}]:", f"    - strong [ref=e{ref + 1}]: Ana"]
        lines += [f"    - paragraph [ref=e{ref + 2}]: {words}"]
    return "\n".join(lines)


def test_only_the_new_item_of_a_rebuilt_list_is_reported() -> None:
    old, new = _items(2, "logged in", "opened the shop"), _items(20, "left", "logged in", "opened the shop")
    after = tree.parse(new)
    found = news_report.report(news.news(tree.parse(old), after), after, 480, None)
    assert found.text == "+ listitem [ref=e20]: Ana | left"
    assert found.omitted == 0


def _alert(first_ref: int, *said: str) -> str:
    lines = [f"    - paragraph [ref=e{first_ref + number}]: {words}" for number, words in enumerate(said)]
    return "\n".join(["- main [ref=e1]:", "  - alert [ref=e2]:", *lines])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["Be 18."], "~ alert: Be 18."),
        (["Give an email.", "Be 18."], "~ alert: Give an email. | Be 18."),
        (["Be 18.", "No."], "+ paragraph: No."),
    ],
)
def test_a_message_that_is_written_anew_is_reported_also_without_a_new_word(said: list[str], told: str) -> None:
    after = tree.parse(_alert(20, *said))
    found = news_report.report(news.news(tree.parse(_alert(3, "Give an email.", "Be 18.")), after), after, 480, None)
    assert found.text == told


def test_a_region_and_the_heading_in_it_are_one_place() -> None:
    lines = (
        '- region "Lights" [ref=e1]:\n  - generic [ref=e2]:\n    - heading "Lights" [level=2] [ref=e3]\n'
        '    - paragraph [ref=e4]: {}\n  - list [ref=e5]:\n    - generic [ref=e6]: "{}"\n- button "Go" [ref=e9]'
    )
    after = tree.parse(lines.format("1 of 5 on", "On"))
    found = news_report.report(news.news(tree.parse(lines.format("2 of 5 on", "Off")), after), after, 480, "e9")
    assert found.text == 'in "Lights":\n~ paragraph: 1 of 5 on\n~ text [ref=e6]: "On"'

"""Tests that what was typed as a secret is taken out of a tree wherever it is repeated."""

from browser_service.host.reading import tree


def shown(text: str, masked: list[str], told: list[str]) -> list[str]:
    nodes = tree.parse(text)
    tree.hide_secrets(nodes, masked, told)
    return [node.line for node in nodes]


def test_masked_values_are_removed_everywhere_and_word_guessed_ones_from_their_field() -> None:
    page = (
        '- textbox "Password" [ref=e1]: hunter2\n'
        '- button "Copy hunter2 now" [ref=e2]\n'
        '- text: hunter2\n- textbox "Search token" [ref=e3]: shoes\n- heading "Results for shoes" [ref=e4]'
    )
    assert shown(page, ["hunter2"], ["shoes"]) == [
        '- textbox "Password" [ref=e1]: ••••',
        '- button "Copy •••• now" [ref=e2]',
        "- text: ••••",
        '- textbox "Search token" [ref=e3]: ••••',
        '- heading "Results for shoes" [ref=e4]',
    ]


def test_a_short_secret_is_hidden_only_in_its_field() -> None:
    assert shown('- textbox "Pin 12" [ref=e1]: "12"\n- text: "12"', ["12"], []) == [
        '- textbox "Pin 12" [ref=e1]: ••••',
        '- text: "12"',
    ]


def test_signs_without_a_width_neither_part_names_nor_join_them() -> None:
    page = '- button "a\\0b hunter2" [ref=e1]\n- button "hunt" [ref=e2]\n- button "er2" [ref=e3]'.replace(
        "\\0", "\\u0000"
    )
    lines = shown(page, ["hunter2", "hunt\0er2"], [])
    assert [line.partition(" [")[0] for line in lines] == ['- button "a b ••••"', '- button "hunt"', '- button "er2"']

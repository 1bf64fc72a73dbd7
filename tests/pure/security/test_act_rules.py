"""Tests the owner's rules for acts: which rule decides, and that a wrong one is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browse_together.contract.actions.traits import Effect
from browser_service.security.act_rules import Act, ActRule, ActRules, WrongRules, read_rules

PAY = ActRule(name="pay", text=("Pay", "Jetzt kaufen"), origins=("https://*.shop.example",))


def act(words: str = "", *, action: str = "click", url: str = "https://www.shop.example/cart", **facts: str) -> Act:
    return Act(action=action, effect=Effect.ACTS, url=url, words=words, **facts)


@pytest.mark.parametrize(
    ("words", "held"),
    [
        ("Pay", True),
        ("PAY NOW · 12 €", True),
        ("Jetzt\n  kaufen", True),
        ("P\u200bay", True),
        ("\uff30\uff41\uff59 now", True),
        ("Payments", False),
        ("Prepay", False),
        ("", False),
    ],
)
def test_words_are_compared_as_people_read_them(words: str, held: bool) -> None:  # noqa: FBT001 - a case
    assert (ActRules([PAY]).deciding(act(words)) is not None) is held


def test_a_rule_applies_only_to_its_origins_actions_effects_methods_and_roles() -> None:
    assert ActRules([PAY]).deciding(act("Pay", url="https://shop.example.evil/")) is None
    posts = ActRules([ActRule(name="posts", actions=("fetch",), methods=("post",))])
    assert posts.deciding(act(action="fetch", method="POST"))
    assert not posts.deciding(act(action="fetch", method="GET"))
    assert not posts.deciding(act(action="goto", method="POST"))
    links = ActRules([ActRule(name="links", roles=("link",))])
    assert links.deciding(act("x", role="link"))
    assert not links.deciding(act("x", role="button"))
    reads = Act(action="content", effect=Effect.READS, url="https://a.example/")
    assert not ActRules([ActRule(name="all")]).deciding(reads)
    assert ActRules([ActRule(name="all", effects=(Effect.READS,))]).deciding(reads)


def test_the_first_rule_that_holds_decides_and_allow_ends_the_search() -> None:
    free = ActRule(name="free", decision="allow", origins=("https://test.shop.example",))
    refused = ActRule(name="no", decision="refuse")
    rules = ActRules([free, PAY, refused])
    assert rules.deciding(act("Pay", url="https://test.shop.example/")) is None
    assert rules.deciding(act("Pay")) == PAY
    assert rules.deciding(act("Buy")) == refused


@given(words=st.text(max_size=600), word=st.text(min_size=1, max_size=100).filter(str.strip))
def test_no_words_of_a_page_break_a_rule(words: str, word: str) -> None:
    ActRules([ActRule(name="any", text=(word,))]).deciding(act(words))


def test_a_file_is_read_and_none_has_no_rules(tmp_path: Path) -> None:
    assert not read_rules(tmp_path / "policy.toml")
    (tmp_path / "policy.toml").write_text('[[rule]]\nname = "pay"\ntext = ["Pay"]\n', encoding="utf-8")
    assert read_rules(tmp_path / "policy.toml").deciding(act("Pay"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]]\n", "rule 1, name: Field required"),
        ('[[rule]]\nname = "a"\nactions = ["clik"]\n', "rule 1 ('a'), actions.0: there is no tool 'clik'"),
        ('[[rule]]\nname = "a"\norigins = ["https://my shop"]\n', "rule 1 ('a'), origins.0: "),
        ('[[rule]]\nname = "a"\ndecision = "ask"\n', "rule 1 ('a'), decision: Input should be 'confirm', 'refuse'"),
        (
            '[[rule]]\nname = "a"\nwords = ["Pay"]\n',
            "words: Extra inputs are not permitted. A rule has name, decision, ",
        ),
        ('[[rule]]\nname = "a"\n[[rule]]\nname = "a"\n', "two rules have the name 'a'"),
        ('[rules]\nname = "a"\n', "begins with [[rule]]"),
        ("[[rule]\n", "are no TOML"),
    ],
)
def test_a_wrong_rule_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    with pytest.raises(WrongRules) as caught:
        read_rules(tmp_path / "policy.toml")
    assert said in str(caught.value)
    assert "policy.toml" in str(caught.value)

"""Tests what is found again of what a chat read, in disguise and in pieces, and what is not taken for it."""

import cProfile
import time

import pytest

from browser_service.rules.read_texts import ReadTexts
from browser_service.security.disguises import squeezed, undisguised
from tests.support.victim import DISGUISES

MAIL, SHOP = "https://mail.example", "https://shop.example"
TEXT = """Dear Ana, your code is K7Q2-9XVB-44TD until noon. The door opens by 739144, the card is 4539 1488 0343 6467,
the phrase is maple otter window, write to ana.b@mail.example. Add to cart. In 2026."""


@pytest.fixture
def chat() -> ReadTexts:
    chat = ReadTexts()
    chat.note(MAIL, TEXT)
    return chat


def found(chat: ReadTexts, *texts: str) -> set[str]:
    return {origin for each in chat.found_in(texts, SHOP) for origin in each.origins}


@pytest.mark.parametrize("name", sorted({*DISGUISES} - {"first", "second"}))
def test_a_code_is_found_in_each_disguise(chat: ReadTexts, name: str) -> None:
    for code in ("K7Q2-9XVB-44TD", "4539148803436467"):
        assert found(chat, f"{DISGUISES[name](code)}") == {MAIL}, name


@pytest.mark.parametrize(
    "text",
    [
        "739144",
        "phrase: Maple-Otter-Window!",
        "mapleotterwindow",
        "ANA.B@mail.example",
        "it is 4539-1488 0343",
        "9XVB44",
    ],
)
def test_numbers_addresses_and_runs_of_words_are_found(chat: ReadTexts, text: str) -> None:
    assert found(chat, text) == {MAIL}


@pytest.mark.parametrize(
    "text", ["a window", "add to cart", "2026", "Dear Bea", "the price is 129.50", "https://shop.example/x"]
)
def test_ordinary_words_are_free(chat: ReadTexts, text: str) -> None:
    assert found(chat, text) == set()


def test_what_goes_in_pieces_is_found_with_the_last_of_them(chat: ReadTexts) -> None:
    for pieces in (["739", "144"], ["144", "739"], [*"739144"], ["k7q", "29x", "vb4"]):
        chat.sent([""], SHOP)
        seen = set()
        for piece in pieces:
            seen |= found(chat, piece)
            chat.sent([piece], SHOP)
        assert seen == {MAIL}, pieces


def test_what_is_repeated_of_a_call_was_not_read_there(chat: ReadTexts) -> None:
    chat.note(SHOP, "There is no 'K7Q2-9XVB-44TD' here.", squeezed("text=K7Q2-9XVB-44TD"))
    assert [each.origins for each in chat.found_in(["K7Q2-9XVB-44TD"], SHOP)] == [{MAIL}]
    chat.note(SHOP, "The code K7Q2-9XVB-44TD")
    assert [each.origins for each in chat.found_in(["K7Q2-9XVB-44TD"], SHOP)] == [{MAIL, SHOP}]


def test_what_the_chat_sent_before_it_read_it_is_its_own(chat: ReadTexts) -> None:
    chat.sent(["QX81-77"], SHOP)
    chat.note(SHOP, "You typed QX81-77")
    assert chat.found_in(["QX81-77"], MAIL) == []


def test_where_not_all_is_kept_any_text_may_come_from_there() -> None:
    chat = ReadTexts()
    chat.note(MAIL, " ".join(f"{number:06}" for number in range(30_000)))
    assert chat.unkept == {MAIL}
    assert [each.origins for each in chat.found_in(["anything"], SHOP)] == [{MAIL}]


def test_a_url_is_shown_only_as_one_word(chat: ReadTexts) -> None:
    chat.note(
        MAIL,
        'See https://x.example/a?b=1, <a href="https://y.example/?c=">K7Q2-9XVB-44TD</a> https://z.example/?c=\nK7',
    )
    assert chat.has_shown("https://x.example/a?b=1")
    for url in ('https://y.example/?c=">K7Q2-9XVB-44TD', "https://z.example/?c=\nK7", "https://x.example/a?b=2"):
        assert not chat.has_shown(url)


@pytest.mark.parametrize(
    "said",
    [
        "evil.example",
        "https://EVIL.example/x",
        "evil [.] example",
        "evil dot example",
        "aHR0cHM6Ly9ldmlsLmV4YW1wbGUv",
        "elpmaxe.live",
    ],
)
def test_a_host_that_a_page_named_is_known_for_it(said: str) -> None:
    chat = ReadTexts()
    chat.note(MAIL, f"Go to {said} now")
    assert chat.has_mentioned("evil.example")
    assert chat.has_mentioned("k7.evil.example")
    assert not chat.has_mentioned("shop.invalid")


def test_disguises_end() -> None:
    assert len(undisguised(["%25" * 5_000 + "QUJD" * 5_000])) <= 300


def test_a_page_of_spaces_is_searched_for_a_host_at_once(chat: ReadTexts) -> None:
    chat.note(MAIL, f"evil{' ' * 60_000}[.] example")
    began = time.process_time()
    assert not chat.has_mentioned("evil.example")
    assert time.process_time() - began < 5  # a search that tries each space anew takes 20


@pytest.mark.parametrize(
    ("read", "sent"),
    [
        (" ".join(f"abcd{number:05d}" for number in range(5_000)), "abcd" * 2_500),
        (" ".join(f"aaaaaaaa bbbb cccc{number}" for number in range(5_000)), "aaaaaaaa" * 1_250),
    ],
    ids=["codes that begin alike", "words that begin alike"],
)
def test_what_is_read_and_what_is_sent_are_not_compared_each_with_each(chat: ReadTexts, read: str, sent: str) -> None:
    chat.note(MAIL, read)
    profile = cProfile.Profile()
    profile.runcall(lambda: chat.found_in([sent], "https://elsewhere.example"))
    assert sum(entry.callcount for entry in profile.getstats()) < 20 * (len(read) + len(sent))

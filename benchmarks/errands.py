"""The tasks: what somebody asks for, step by step, in the words of the pages."""

from dataclasses import dataclass
from typing import Final

from benchmarks import sites


@dataclass(frozen=True)
class Step:
    """One thing that a person would ask for. `near` are words of its row or card, whose role is `item`."""

    do: str
    role: str = ""
    name: str = ""
    value: str = ""
    near: str = ""
    item: str = "listitem"
    question: str = ""
    loads: bool = False
    """Whether it is known to load another document: a link, or the button of a search or login."""


def go(path: str) -> Step:
    return Step("open", value=path)


def click(role: str, name: str, near: str = "", item: str = "listitem") -> Step:
    return Step("click", role, name, near=near, item=item, loads=role == "link")


def submit(name: str) -> Step:
    return Step("click", "button", name, loads=True)


def fill(name: str, value: str, role: str = "textbox") -> Step:
    return Step("fill", role, name, value)


def choose(name: str, value: str) -> Step:
    return Step("choose", "combobox", name, value)


def check(name: str, role: str = "checkbox") -> Step:
    return Step("check", role, name)


def expect(words: str) -> Step:
    return Step("expect", value=words)


def ask(fact: sites.Fact) -> Step:
    """Ask a question whose answer is under the fact's heading."""
    return Step("ask", name=fact.heading, near=fact.word, value=fact.answer, question=fact.question)


def _buy(*numbers: int) -> list[Step]:
    steps = [go("/shop")]
    for count, n in enumerate(numbers, 1):
        steps += [click("button", "Add to cart", near=sites.name(n)), expect(f"Cart ({count})")]
    return steps


def _switch(*numbers: int) -> list[Step]:
    steps = [go("/members")]
    for n in numbers:
        steps += [click("button", "Switch", near=f"Member {n}", item="row")]
        steps += [expect(f"Member {n} is {'paused' if n % 3 else 'active'}")]
    return steps


TASKS: Final[dict[str, list[Step]]] = {
    "shop: three": _buy(3, 12, 27),
    "shop: order": [
        *(go("/shop"), click("link", sites.name(6)), expect(sites.name(6))),
        *(fill("Engraving", "Ana"), check("As a gift"), choose("Colour", "Red"), submit("Order")),
        expect("engraving=Ana, gift=on, colour=Red"),
        *(click("link", "Back to the shop"), expect("Kettles and more")),
    ],
    "shop: quantity": [
        *(go("/shop"), fill("Quantity of Clay kettle 8", "3", "spinbutton")),
        *(click("button", "Add to cart", near="Clay kettle 8"), expect("Added 3 of Clay kettle 8")),
        *(click("button", "Add to cart", near="Iron kettle 9"), expect("Added 1 of Iron kettle 9")),
    ],
    "table: one": _switch(57),
    "table: five": _switch(57, 88, 102, 150, 199),
    "mail: answer": [
        *(go("/mail"), click("link", "Invoice 1043 is overdue"), expect("Please answer by 10 June")),
        *(click("button", "Reply"), fill("Message", "We pay today."), click("button", "Send")),
        expect("Sent to Karel Hobek: We pay today."),
    ],
    "mail: tidy": [
        go("/mail"),
        *(click("button", "Archive", near="Lunch on Friday", item="row"), expect("Archived: Lunch on Friday")),
        *(click("button", "Archive", near="New keys for the office", item="row"), expect("Archived: New keys")),
    ],
    "form": [
        *(go("/signup"), fill("Full name", "Ana Lima"), fill("E-mail", "ana@"), fill("Nickname", "al")),
        *(click("button", "Create account"), expect("Enter a valid e-mail"), fill("E-mail", "ana@example.com")),
        *(fill("Nickname", "ana"), choose("Country", "Kenya"), check("I accept the terms")),
        *(click("button", "Create account"), expect("Welcome, Ana Lima of Kenya")),
    ],
    "article: questions": [go("/article"), *map(ask, sites.FACTS.values())],
    "article: comment": [
        *(go("/article"), fill("Your name", "Ana"), click("button", "Send a comment"), expect("Thank you, Ana")),
        *(fill("Your name", "Bo"), click("button", "Send a comment"), expect("Thank you, Bo")),
    ],
    "list kept by scripts": [
        *(go("/todo"), fill("New chore", "Water the plants"), click("button", "Add"), expect("41 open")),
        *(check("Chore 3"), expect("Chore 3 is done"), click("button", "Delete Chore 17"), expect("39 open")),
        *(click("button", "Done"), expect("39 open, 1 shown")),
    ],
    "payment in a frame": [
        *(go("/checkout"), fill("Card number", "4111"), fill("Expires", "12/33"), fill("Code", "123")),
        *(click("button", "Pay now"), expect("Card refused"), fill("Card number", "4111111111111111")),
        *(click("button", "Pay now"), expect("Order complete: card 1111")),
    ],
}

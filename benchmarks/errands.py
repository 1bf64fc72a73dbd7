"""The tasks: what somebody asks for, step by step, in the words of the pages."""

from dataclasses import dataclass
from typing import Final

from benchmarks import articles, sites
from benchmarks.apps import FILES, person


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
    framed: bool = False
    """Whether the words are in a frame."""
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


def expect(words: str, *, framed: bool = False) -> Step:
    return Step("expect", value=words, framed=framed)


def ask(fact: articles.Fact) -> Step:
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


def _order(n: int, engraving: str) -> list[Step]:
    return [
        *(go("/shop"), click("link", sites.name(n)), expect(sites.name(n))),
        *(fill("Engraving", engraving), check("As a gift"), choose("Colour", "Red"), submit("Order")),
        expect(f"engraving={engraving}, gift=on, colour=Red"),
        *(click("link", "Back to the shop"), expect("Kettles and more")),
    ]


def _home(*done: tuple[str, str]) -> list[Step]:
    steps = [go("/"), fill("Username", "ana"), fill("Password", "casa"), submit("Log in")]
    for name, said in done:
        steps += [click("switch", name), expect(said)]
    return [*steps, submit("Log out"), expect("Log in")]


def _article(name: str) -> list[Step]:
    return [go(f"/wiki/{name}"), *map(ask, articles.SUBJECTS[name].facts)]


_SIGNUP: Final = [
    *(go("/signup"), fill("Full name", "Ana Lima"), fill("E-mail", "ana@"), fill("Nickname", "al")),
    *(click("button", "Create account"), expect("Enter a valid e-mail"), fill("E-mail", "ana@example.com")),
    *(fill("Nickname", "ana"), choose("Country", "Kenya"), check("I accept the terms")),
    *(click("button", "Create account"), expect("Welcome, Ana Lima of Kenya")),
]
_ADDRESS: Final = [
    *(go("/address"), fill("Street", "Mill Lane 4"), fill("Postcode", "123"), submit("Save address")),
    *(expect("Town is missing"), fill("Postcode", "12345"), fill("Town", "Tamsel")),
    *(submit("Save address"), expect("We deliver to Mill Lane 4, 12345, Tamsel")),
]
_TRIP: Final = [
    *(go("/trip"), check("First class", "radio"), click("button", "Next"), expect("Step 2 of 4")),
    *(fill("From", "Varela"), fill("To", "Okahama"), click("button", "Next"), expect("Step 3 of 4")),
    *(choose("Seat", "Window"), click("button", "Next"), expect("first class, Varela to Okahama, Window")),
    *(click("button", "Book"), expect("Booked: first class")),
]
_CALENDAR: Final = [
    *(go("/calendar"), click("button", "Next month"), click("button", "Next month"), expect("August 2031")),
    *(click("button", "14 August"), click("button", "10:30"), fill("Title", "Review")),
    *(click("button", "Save event"), expect("Review: 14 August 2031 at 10:30")),
]
_MAIL: Final = [
    *(go("/mail"), click("link", "Invoice 1043 is overdue"), expect("Please answer by 10 June")),
    *(click("button", "Reply"), fill("Message", "We pay today."), click("button", "Send")),
    expect("Sent to Karel Hobek: We pay today."),
]
_TIDY: Final = [
    go("/mail"),
    *(click("button", "Archive", near="Lunch on Friday", item="row"), expect("Archived: Lunch on Friday")),
    *(click("button", "Archive", near="New keys for the office", item="row"), expect("Archived: New keys")),
]
_STAFF: Final = [
    *(go("/staff"), click("link", "7"), expect("page 7 of 12")),
    *(click("link", "Edit", near=person(163), item="row"), expect(person(163))),
    *(fill("Phone", "4711"), click("button", "Save"), expect(f"Saved {person(163)}: 4711")),
]
_PLACE: Final = [
    *(go("/staff"), fill("Place", "Okahama"), submit("Filter"), expect("43 people, page 1 of 2")),
    *(click("link", "Next"), expect("page 2 of 2"), expect("person283@example.com")),
]
_CHORES: Final = [
    *(go("/todo"), fill("New chore", "Water the plants"), click("button", "Add"), expect("41 open")),
    *(check("Chore 3"), expect("Chore 3 is done"), click("button", "Delete Chore 17"), expect("39 open")),
    *(click("button", "Done"), expect("39 open, 1 shown")),
]
_PAYMENT: Final = [
    *(go("/checkout"), fill("Card number", "4111"), fill("Expires", "12/33"), fill("Code", "123")),
    *(click("button", "Pay now"), expect("Card refused", framed=True), fill("Card number", "4111111111111111")),
    *(click("button", "Pay now"), expect("Order complete: card 1111")),
]
_FILES: Final = [
    go("/files"),
    Step("download", "link", "Download", value=FILES[1], near=FILES[1], item="row"),
    Step("upload", "button", "Attachment", value="notes.txt"),
    *(click("button", "Upload"), expect("Uploaded notes.txt, 11 bytes")),
]
_QUANTITY: Final = [
    *(go("/shop"), fill("Quantity of Clay kettle 8", "3", "spinbutton")),
    *(click("button", "Add to cart", near="Clay kettle 8"), expect("Added 3 of Clay kettle 8")),
    *(click("button", "Add to cart", near="Iron kettle 9"), expect("Added 1 of Iron kettle 9")),
]
_COMMENT: Final = [
    *(go("/article"), fill("Your name", "Ana"), click("button", "Send a comment"), expect("Thank you, Ana")),
    *(fill("Your name", "Bo"), click("button", "Send a comment"), expect("Thank you, Bo")),
]

TASKS: Final[dict[str, list[Step]]] = {
    "shop: three": _buy(3, 12, 27),
    "shop: order": _order(6, "Ana"),
    "shop: quantity": _QUANTITY,
    "table: one": _switch(57),
    "table: five": _switch(57, 88, 102, 150, 199),
    "table: in pages": _STAFF,
    "table: filtered": _PLACE,
    "mail: answer": _MAIL,
    "mail: tidy": _TIDY,
    "form: checked by a script": _SIGNUP,
    "form: checked by the server": _ADDRESS,
    "wizard": _TRIP,
    "calendar": _CALENDAR,
    "article: 24 sections": _article("lighthouses"),
    "article: 56 sections": _article("railways"),
    "article: 110 sections": _article("printing"),
    "article: comment": _COMMENT,
    "list kept by scripts": _CHORES,
    "payment in a frame": _PAYMENT,
    "files": _FILES,
    "home: lights": _home(("salon", "turned salon off"), ("cocina", "turned cocina on"), ("salon", "turned salon on")),
}

"""Long articles like an encyclopedia's: a menu, a table of facts, sections of linked sentences with notes, and the list
of notes. A few sentences say what nothing else on the page says."""

import random
from dataclasses import dataclass
from typing import Final

from tests.support.site import Site

_PLACES: Final = ("Varela", "Monte Agudo", "Tamsel", "Port Eirin", "Lissadel", "Okahama", "Brunnfeld", "Sao Telmo")
_PEOPLE: Final = ("Ines Duarte", "Karel Hobek", "Mary Threlfall", "Yusuf Demir", "Ottilie Brandt", "Jun Kobayashi")
_THINGS: Final = ("harbour", "workshop", "archive", "observatory", "canal", "market hall", "survey", "signal station")
_ACTS: Final = ("rebuilt", "described", "financed", "closed", "extended", "surveyed", "sold", "restored")
_ENDS: Final = (
    "although the accounts of the time differ about the reasons",
    "which later writers took for a turning point",
    "after a dispute with the guild that lasted for several years",
    "and the drawings are kept in the municipal collection",
    "while most of the funds came from a tax on salt",
    "because the older building no longer served its purpose",
)
_TOPICS: Final = (
    *("Etymology", "Origins", "Early history", "Construction", "Materials", "Administration", "Trade", "Conflicts"),
    *("Decline", "Restoration", "Architecture", "Instruments", "Staff", "Daily life", "Economy", "Transport"),
    *("Climate", "Fauna", "Education", "Religion", "Literature", "Music", "Legacy", "Research", "Criticism"),
)


@dataclass(frozen=True)
class Fact:
    """A sentence in one section only, under its own heading, and a question that it answers."""

    heading: str
    sentence: str
    question: str
    word: str
    """What somebody would search for who does not know the answer's words."""
    answer: str


@dataclass(frozen=True)
class Subject:
    title: str
    sections: int
    facts: tuple[Fact, ...]


SUBJECTS: Final = {
    "lighthouses": Subject(
        "Lighthouses of the western coast",
        24,
        (
            Fact(
                *("Fuel and lamps", "The lamp of Cabo Sardao burned 1,240 litres of paraffin in a winter month."),
                *("How much paraffin did the lamp of Cabo Sardao burn in a month?", "paraffin", "1,240 litres"),
            ),
            Fact(
                *("Fog signals", "The siren of Tamsel was heard at 31 kilometres in still air."),
                *("How far was the siren of Tamsel heard?", "siren", "31 kilometres"),
            ),
        ),
    ),
    "railways": Subject(
        "History of the mountain railways",
        56,
        (
            Fact(
                *("Gradients and racks", "The steepest rack, at Lissadel, climbs 482 metres in every kilometre."),
                *("How steep is the steepest rack?", "steepest", "482 metres"),
            ),
            Fact(
                *("Snow clearance", "A rotary plough of 1923 cleared the pass within nineteen hours."),
                *("How long did the rotary plough take to clear the pass?", "plough", "nineteen hours"),
            ),
            Fact(
                *("Tickets", "The first return ticket cost four crowns and was printed on blue card."),
                *("What did the first return ticket cost?", "return ticket", "four crowns"),
            ),
        ),
    ),
    "printing": Subject(
        "Printing in the free cities",
        110,
        (
            Fact(
                *("Typefaces", "The Brandt foundry cut its italic in 1561 from the hand of a tax clerk."),
                *("From whose hand did the Brandt foundry cut its italic?", "italic", "tax clerk"),
            ),
            Fact(
                *("Paper mills", "The mill at Varela pressed 90 reams a week with six vats."),
                *("How many reams did the mill at Varela press in a week?", "reams", "90 reams"),
            ),
        ),
    ),
}


def open_all(site: Site) -> None:
    for name in SUBJECTS:
        site.page(f"/wiki/{name}", article(name))


def article(name: str) -> str:
    """Make an article, the same at every call."""
    subject, chance = SUBJECTS[name], random.Random(name)  # noqa: S311 - it makes words, and no secret
    count, notes = subject.sections, 0
    every = count // (len(subject.facts) + 1)
    facts = {every * (number + 1): fact for number, fact in enumerate(subject.facts)}
    parts, contents = list[str](), list[str]()
    for number in range(count):
        fact = facts.get(number)
        heading = fact.heading if fact else f"{chance.choice(_TOPICS)} of the {chance.choice(_THINGS)}"
        level = 2 if number % 3 == 0 or fact else 3
        contents.append(f'<li><a href="#s{number}">{heading}</a></li>')
        parts.append(f'<h{level} id="s{number}">{heading}</h{level}>')
        for each in range(3):
            sentences = [_sentence(chance) for _ in range(chance.randint(3, 6))]
            if fact and each == 1:
                sentences[1:1] = [fact.sentence]
            notes += 1
            parts.append(f'<p>{" ".join(sentences)}<sup><a href="#n{notes}">[{notes}]</a></sup></p>')
    sources = "".join(
        f'<li id="n{n}">{chance.choice(_PEOPLE)} ({chance.randint(1900, 2020)}). <i>On the {chance.choice(_THINGS)} of '
        f'{chance.choice(_PLACES)}</i>, p. {chance.randint(1, 400)}. <a href="/doi/{n}">doi:10.1000/{n}</a></li>'
        for n in range(1, notes + 1)
    )
    menu = "".join(f'<li><a href="/wiki/{place}">{place}</a></li>' for place in _PLACES)
    facts_table = "".join(f"<tr><th>{thing.title()}<td>{chance.randint(1, 90)}</tr>" for thing in _THINGS)
    return f"""<title>{subject.title}</title><header><a href=/>Encyclopedia</a><form role=search>
<input type=search name=q aria-label="Search the encyclopedia"><button>Search</button></form></header>
<nav aria-label=Places><ul>{menu}</ul></nav><main><h1>{subject.title}</h1><table><caption>In numbers</caption>
{facts_table}</table><p>{" ".join(_sentence(chance) for _ in range(5))}</p>
<nav aria-label=Contents><ol>{"".join(contents)}</ol></nav>{"".join(parts)}
<h2>References</h2><ol>{sources}</ol></main><footer><a href=/about>About</a></footer>"""


def _sentence(chance: random.Random) -> str:
    place, person = chance.choice(_PLACES), chance.choice(_PEOPLE)
    return (
        f'The {chance.choice(_THINGS)} of <a href="/wiki/{place}">{place}</a> was {chance.choice(_ACTS)} in '
        f'{chance.randint(1480, 1960)} by <a href="/wiki/{person}">{person}</a>, {chance.choice(_ENDS)}.'
    )

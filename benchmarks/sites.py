"""The pages to read and work on: a shop of some 300 elements, a table of 200 rows, an article of 5,000 elements, mail,
a form that checks its input, a list kept by scripts, and a payment in a frame of another origin."""

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from tests.support.site import Answer, Received, Site

_MATERIALS: Final = ("Copper", "Steel", "Glass", "Clay", "Iron")
SENDERS: Final = ("Ines Duarte", "Karel Hobek", "Mary Threlfall", "Yusuf Demir", "Ottilie Brandt", "Jun Kobayashi")
_SUBJECTS: Final = ("Minutes of the meeting", "Your parcel", "Draft of the report", "A question on the plan", "Holiday")
MAILS: Final = {7: "Invoice 1043 is overdue", 12: "Lunch on Friday", 31: "New keys for the office"}
_TODOS: Final = 40
_SAY: Final = "<p role=status id=said></p><script>const say = text => said.textContent = text;</script>"


@dataclass(frozen=True)
class Fact:
    """A sentence under its own heading in the article, with a question that it answers and a word to search for."""

    heading: str
    sentence: str
    question: str
    word: str
    answer: str


FACTS: Final = {
    40: Fact(
        *("Fuel and lamps", "The lamp of Cabo Sardao burned 1,240 litres of paraffin in a winter month."),
        *("How much paraffin did the lamp of Cabo Sardao burn in a month?", "paraffin", "1,240 litres"),
    ),
    110: Fact(
        *("Snow clearance", "A rotary plough of 1923 cleared the pass within nineteen hours."),
        *("How long did the rotary plough take to clear the pass?", "plough", "nineteen hours"),
    ),
    180: Fact(
        *("Typefaces", "The Brandt foundry cut its italic in 1561 from the hand of a tax clerk."),
        *("From whose hand did the Brandt foundry cut its italic?", "italic", "tax clerk"),
    ),
}
"""What nothing else in the article says, by section."""


def name(n: int) -> str:
    return f"{_MATERIALS[n % 5]} kettle {n}"


def open_all(site: Site) -> None:
    site.page("/shop", shop())
    site.page("/members", table())
    site.page("/article", article())
    site.page("/order", _ordered)
    for n in range(30):
        site.page(f"/product/{n}", product(n))
    site.page("/mail", mail())
    for number in range(50):
        site.page(f"/mail/{number}", message(number))
    site.page("/signup", signup())
    site.page("/todo", todo())
    site.page("/api/todos", Answer(json.dumps([f"Chore {n}" for n in range(_TODOS)]), content_type="application/json"))
    site.page("/checkout", checkout(site.url("/pay", "localhost")))
    site.page("/pay", pay())


def shop(products: int = 30) -> str:
    """Make some 300 elements: cards with a link, a picture, a price, a quantity and a button."""
    cards = "".join(
        f'<li><h3><a href="/product/{n}">{name(n)}</a></h3><img alt="{name(n)}, from the side" src="data:,">'
        f"<p>Holds {n % 4 + 1} litres, with a handle of wood.</p><span>{n * 3 + 9}.90 €</span>"
        f'<label>Quantity <input type=number value=1 aria-label="Quantity of {name(n)}"></label>'
        "<button onclick=add(this)>Add to cart</button></li>"
        for n in range(products)
    )
    return f"""<title>Kettles and more</title><header><h1>Kettles and more</h1>
<nav aria-label=Main><a href=/shop>Home</a><a href=/order id=cart>Cart (0)</a></nav>
<form role=search><input type=search name=q aria-label=Search><button>Search</button></form></header>
<main><h2>Products</h2><ul>{cards}</ul></main><p role=status id=said></p><footer><a href=/imprint>Imprint</a></footer>
<script>let total = 0; function add(button) {{
  const card = button.parentNode, count = +card.querySelector('input').value;
  total += count; cart.textContent = `Cart (${{total}})`;
  said.textContent = `Added ${{count}} of ${{card.querySelector('a').textContent}}`;
}}</script>"""


def product(n: int) -> str:
    return f"""<title>{name(n)}</title><h1>{name(n)}</h1><p>In stock</p><form action=/order>
<label>Engraving <input name=engraving></label><label><input type=checkbox name=gift> As a gift</label>
<label>Colour <select name=colour><option>Plain<option>Red<option>Blue</select></label><button>Order</button></form>"""


def _ordered(received: Received) -> Answer:
    said = ", ".join(f"{key}={value}" for key, value in parse_qsl(urlsplit(received.path).query))
    return Answer(
        f"<!doctype html><meta charset=utf-8><title>Order</title><h1>Thank you</h1><p role=status>Ordered: {said}</p>"
        "<a href=/shop>Back to the shop</a>"
    )


def table(rows: int = 200) -> str:
    """Make rows of members, each with a state that the row's button changes."""
    body = "".join(
        f"<tr><th scope=row>Member {n}<td>member{n}@example.com<td>{'active' if n % 3 else 'paused'}"
        "<td><button onclick=turn(this)>Switch</button></tr>"
        for n in range(rows)
    )
    return f"""<title>Members</title><h1>Members</h1>
<table><thead><tr><th>Name<th>Mail<th>State<th>Action</thead><tbody>{body}</table><p role=status id=said></p>
<script>function turn(button) {{
  const cells = button.closest('tr').cells, state = cells[2];
  state.textContent = state.textContent == 'active' ? 'paused' : 'active';
  said.textContent = `${{cells[0].textContent}} is ${{state.textContent}}`;
}}</script>"""


def article(elements: int = 5_000) -> str:
    """Make sections of paragraphs with a few links each, some with a fact, and a form for comments at the end."""
    sections = "".join(
        f"<section><h2>{FACTS[n].heading}</h2><p>{FACTS[n].sentence}</p>"
        if n in FACTS
        else f"<section><h2>Section {n}</h2>"
        + f'<p>Words of section {n}, with <a href="/note/{n}">note {n}</a> and <em>stress</em> on some.</p>' * 6
        + "</section>"
        for n in range(elements // 20)
    )
    return f"""<title>A long article</title><h1>A long article</h1>{sections}
<form onsubmit="event.preventDefault(); said.textContent = `Thank you, ${{who.value}}`">
<label>Your name <input id=who></label><button>Send a comment</button></form><p role=status id=said></p>"""


def subject(number: int) -> str:
    return MAILS.get(number, f"{_SUBJECTS[number % 5]} {number}")


def mail() -> str:
    rows = "".join(
        f'<tr><td><input type=checkbox aria-label="Select {subject(n)}"><td>{SENDERS[n % 6]}'
        f"<td><a href=/mail/{n}>{subject(n)}</a><td>{n % 28 + 1} May<td><button onclick=archive(this)>Archive</button>"
        for n in range(50)
    )
    return f"""<title>Inbox</title><header><h1>Inbox</h1>
<form role=search><input type=search aria-label="Search mail">
<button>Search</button></form></header><nav aria-label=Folders><a href=/mail>Inbox (50)</a><a href=/sent>Sent</a>
<a href=/drafts>Drafts</a><a href=/spam>Spam</a></nav><table><thead><tr><th>Pick<th>From<th>Subject<th>Date<th>Action
</thead><tbody>{rows}</table>{_SAY}<script>function archive(button) {{ const row = button.closest('tr');
say('Archived: ' + row.querySelector('a').textContent); row.remove(); }}</script>"""


def message(number: int) -> str:
    words = "We have looked at the papers that came with your last letter, and the figures are as we had them. " * 6
    return f"""<title>{subject(number)}</title><a href=/mail>Back to the inbox</a><h1>{subject(number)}</h1>
<p>From {SENDERS[number % 6]}</p>
<article><p>{words}</p><p>Please answer by {number + 3} June.</p><p>{words}</p></article>
<button onclick="answer.hidden = false">Reply</button><form id=answer hidden onsubmit="event.preventDefault();
say('Sent to {SENDERS[number % 6]}: ' + text.value)"><label>Message <textarea id=text></textarea></label>
<button>Send</button></form>{_SAY}"""


def signup() -> str:
    """Make a form that its script checks."""
    return f"""<title>Create an account</title><h1>Create an account</h1><form novalidate id=form>
<label>Full name <input id=who></label><label>E-mail <input id=mail type=email></label>
<label>Nickname <input id=nick></label><label>Country <select id=land><option>Choose<option>Chile<option>Norway
<option>Kenya</select></label><label><input type=checkbox id=terms> I accept the terms</label>
<button>Create account</button></form><ul role=alert id=wrong></ul>{_SAY}<script>form.onsubmit = event => {{
event.preventDefault(); const found = [];
if (!who.value) found.push('Enter your name'); if (!/.+@.+[.].+/.test(mail.value)) found.push('Enter a valid e-mail');
if (nick.value.length < 3) found.push('A nickname has three letters or more');
if (land.selectedIndex < 1) found.push('Choose a country'); if (!terms.checked) found.push('Accept the terms');
wrong.innerHTML = found.map(each => `<li>${{each}}</li>`).join('');
if (!found.length) say('Welcome, ' + who.value + ' of ' + land.value); }};</script>"""


def todo() -> str:
    """Make a list that a script loads and stores."""
    return f"""<title>Chores</title><h1>Chores</h1><div id=app><p>Loading</p></div>{_SAY}<script>
let items = [], only = 'All';
const draw = () => {{ const shown = items.filter(item => only == 'All' || item.done == (only == 'Done'));
  app.innerHTML = `<form id=adding><label>New chore <input id=text></label><button>Add</button></form>
  <nav aria-label=Show>${{['All', 'Open', 'Done'].map(each => `<button
  onclick="only = '${{each}}'; draw()">${{each}}</button>`).join('')}}</nav>
  <p>${{items.filter(item => !item.done).length}} open, ${{shown.length}} shown</p><ul>${{shown.map(item => `<li>
  <label><input type=checkbox ${{item.done ? 'checked' : ''}} onchange="turn(${{items.indexOf(item)}})">
  ${{item.name}}</label><button onclick="items.splice(${{items.indexOf(item)}}, 1); draw()"
  aria-label="Delete ${{item.name}}">x</button>`).join('')}}</ul>`;
  adding.onsubmit = event => {{ event.preventDefault(); items.unshift({{name: text.value, done: false}}); draw() }}; }};
const turn = at => {{ items[at].done = !items[at].done; say(items[at].name + ' is done'); draw() }};
fetch('/api/todos').then(answer => answer.json())
  .then(all => {{ items = all.map(name => ({{name, done: false}})); draw() }});
</script>"""


def checkout(frame: str) -> str:
    lines = "".join(f"<tr><td>Teapot {n}<td>{n + 10}.00 €" for n in range(12))
    return f"""<title>Checkout</title><h1>Checkout</h1><table><caption>Your order</caption>{lines}</table>
<iframe title=Payment src="{frame}" width=400 height=300></iframe>{_SAY}
<script>addEventListener('message', event => say('Order complete: ' + event.data))</script>"""


def pay() -> str:
    return """<title>Pay</title><h2>Payment</h2><form id=form><label>Card number <input id=card></label>
<label>Expires <input id=ends></label><label>Code <input id=code></label><button>Pay now</button></form><p role=status
id=done></p><script>form.onsubmit = event => { event.preventDefault();
if (card.value.length < 12 || !ends.value || !code.value) return void (done.textContent = 'Card refused');
done.textContent = 'Paid with card ' + card.value.slice(-4); parent.postMessage('card ' + card.value.slice(-4), '*') }
</script>"""

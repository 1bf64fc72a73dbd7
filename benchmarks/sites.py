"""The pages to read and work on: a shop of some 300 elements, a table of 200 rows, an article of 5,000 elements."""

from typing import Final
from urllib.parse import parse_qsl, urlsplit

from tests.support.site import Answer, Received, Site

_MATERIALS: Final = ("Copper", "Steel", "Glass", "Clay", "Iron")


def name(n: int) -> str:
    return f"{_MATERIALS[n % 5]} kettle {n}"


def open_all(site: Site) -> None:
    site.page("/shop", shop())
    site.page("/members", table())
    site.page("/article", article())
    site.page("/order", _ordered)
    for n in range(30):
        site.page(f"/product/{n}", product(n))


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
    """Make sections of paragraphs with a few links each, and a form for comments at the end."""
    sections = "".join(
        f"<section><h2>Section {n}</h2>"
        + f'<p>Words of section {n}, with <a href="/note/{n}">note {n}</a> and <em>stress</em> on some.</p>' * 6
        + "</section>"
        for n in range(elements // 20)
    )
    return f"""<title>A long article</title><h1>A long article</h1>{sections}
<form onsubmit="event.preventDefault(); said.textContent = `Thank you, ${{who.value}}`">
<label>Your name <input id=who></label><button>Send a comment</button></form><p role=status id=said></p>"""

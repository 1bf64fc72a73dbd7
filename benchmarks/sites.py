"""The pages that are read and worked on: a shop of some 300 elements, a table of 200 rows, an article of 5,000."""


def shop(products: int = 30) -> str:
    """Some 300 elements: cards with a link, a picture, a price, a quantity and a button."""
    cards = "".join(
        f'<li><h3><a href="/product/{n}">{_name(n)}</a></h3><img alt="{_name(n)}, from the side" src="data:,">'
        f"<p>Holds {n % 4 + 1} litres, with a handle of wood.</p><span>{n * 3 + 9}.90 €</span>"
        f'<label>Quantity <input type=number value=1 aria-label="Quantity of {_name(n)}"></label>'
        "<button onclick=add(this)>Add to cart</button></li>"
        for n in range(products)
    )
    return f"""<title>Kettles and more</title><header><h1>Kettles and more</h1>
<nav aria-label=Main><a href=/>Home</a><a href=/cart id=cart>Cart (0)</a></nav>
<form role=search action=/shop><input type=search name=q aria-label=Search><button>Search</button></form></header>
<main><h2>Products</h2><ul>{cards}</ul></main><p role=status id=said></p><footer><a href=/imprint>Imprint</a></footer>
<script>function add(button) {{
  const card = button.parentNode, count = +card.querySelector('input').value;
  const total = +(sessionStorage.total || 0) + count;
  sessionStorage.total = total; cart.textContent = `Cart (${{total}})`;
  said.textContent = `Added ${{count}} of ${{card.querySelector('a').textContent}}`;
}} cart.textContent = `Cart (${{sessionStorage.total || 0}})`</script>"""


def _name(n: int) -> str:
    return f"{('Copper', 'Steel', 'Glass', 'Clay', 'Iron')[n % 5]} kettle {n}"


def product(n: int) -> str:
    return f"""<title>{_name(n)}</title><h1>{_name(n)}</h1><p>In stock</p><form action=/cart>
<label>Engraving <input name=engraving></label><label><input type=checkbox name=gift> As a gift</label>
<label>Colour <select name=colour><option>Plain<option>Red<option>Blue</select></label><button>Order</button></form>"""


def cart(query: str) -> str:
    return f"<title>Cart</title><h1>Thank you</h1><p role=status>Ordered: {query}</p><a href=/shop>Back to the shop</a>"


def table(rows: int = 200) -> str:
    """Members with a state each, which their row's button changes."""
    body = "".join(
        f"<tr><th scope=row>Member {n}<td>member{n}@example.com<td>{'active' if n % 3 else 'paused'}"
        "<td><button onclick=pause(this)>Switch</button></tr>"
        for n in range(rows)
    )
    return f"""<title>Members</title><h1>Members</h1><label>Filter <input id=filter oninput=narrow(this.value)></label>
<table><thead><tr><th>Name<th>Mail<th>State<th>Action</thead><tbody>{body}</table><p role=status id=said></p>
<script>function pause(button) {{
  const state = button.closest('tr').cells[2]; state.textContent = state.textContent == 'active' ? 'paused' : 'active';
  said.textContent = `${{button.closest('tr').cells[0].textContent}} is ${{state.textContent}}`;
}} function narrow(text) {{
  for (const row of document.querySelectorAll('tbody tr')) row.hidden = !row.textContent.includes(text);
}}</script>"""


def article(elements: int = 5_000) -> str:
    """Sections of paragraphs with a few links each."""
    sections = "".join(
        f"<section><h2>Section {n}</h2>"
        + f'<p>Words of section {n}, with <a href="/note/{n}">note {n}</a> and <em>stress</em> on some.</p>' * 6
        + "</section>"
        for n in range(elements // 20)
    )
    return f"""<title>A long article</title><h1>A long article</h1>{sections}
<form onsubmit="event.preventDefault(); said.textContent = `Thank you, ${{who.value}}`">
<label>Your name <input id=who></label><button>Send a comment</button></form><p role=status id=said></p>"""

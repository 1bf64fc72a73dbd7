"""Applications to do tasks in: mail, a staff list in pages, forms that check their input, a wizard, a calendar, a list
kept by scripts, a payment in a frame of another origin, and files."""

import json
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tests.support.site import Answer, Received, Site

SENDERS: Final = ("Ines Duarte", "Karel Hobek", "Mary Threlfall", "Yusuf Demir", "Ottilie Brandt", "Jun Kobayashi")
_SUBJECTS: Final = ("Minutes of the meeting", "Your parcel", "Draft of the report", "A question on the plan", "Holiday")
MAILS: Final = {7: "Invoice 1043 is overdue", 12: "Lunch on Friday", 31: "New keys for the office"}
_TEAMS: Final = ("Sales", "Support", "Research", "Finance", "Design")
_PLACES: Final = ("Varela", "Tamsel", "Lissadel", "Okahama", "Brunnfeld", "Port Eirin", "Monte Agudo")
_STAFF, _ROWS = 300, 25
_TODOS: Final = 40
_SAY: Final = "<p role=status id=said></p><script>const say = text => said.textContent = text;</script>"
FILES: Final = ("minutes.txt", "q3-report.csv", "floor-plan.txt", "budget.csv", "team.txt")


def open_all(site: Site) -> None:
    site.page("/mail", mail())
    for number in range(50):
        site.page(f"/mail/{number}", message(number))
    site.page("/staff", staff)
    site.page("/staff/edit", lambda received: _page("Edit", _edit(_asked(received, "name"))))
    site.page("/signup", signup())
    site.page("/address", address)
    site.page("/trip", wizard())
    site.page("/calendar", calendar())
    site.page("/todo", todo())
    site.page("/api/todos", Answer(json.dumps([f"Chore {n}" for n in range(_TODOS)]), content_type="application/json"))
    site.page("/checkout", checkout(site.url("/pay", "localhost")))
    site.page("/pay", pay())
    site.page("/files", files())
    for name in FILES:
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        site.page(f"/files/{name}", Answer("a,b\n1,2\n", content_type="application/octet-stream", headers=headers))


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


def person(number: int) -> str:
    return f"Person {number} {('Hale', 'Okoro', 'Lund', 'Vega')[number % 4]}"


def staff(received: Received) -> Answer:
    page, place = int(_asked(received, "page") or 1), _asked(received, "place")
    found = [n for n in range(_STAFF) if not place or _PLACES[n % 7] == place]
    pages = -(-len(found) // _ROWS)
    rows = "".join(
        f"<tr><th scope=row>{person(n)}<td>{_TEAMS[n % 5]}<td>{_PLACES[n % 7]}<td>person{n}@example.com<td>{n + 4000}"
        f'<td><a href="/staff/edit?name={person(n)}">Edit</a>'
        for n in found[(page - 1) * _ROWS : page * _ROWS]
    )
    links = "".join(f'<a href="/staff?page={n}&place={place}">{n}</a> ' for n in range(1, pages + 1))
    following = f'<a href="/staff?page={page + 1}&place={place}">Next</a>' if page < pages else ""
    return _page(
        "Staff",
        f"""<h1>Staff</h1><form action=/staff><label>Place <input name=place value="{place}"></label>
<button>Filter</button></form><p>{len(found)} people, page {page} of {pages}</p><table><thead><tr><th>Name<th>Team
<th>Place<th>Mail<th>Phone<th>Action</thead><tbody>{rows}</table><nav aria-label=Pages>{links}{following}</nav>""",
    )


def _edit(name: str) -> str:
    return f"""<h1>{name}</h1><form onsubmit="event.preventDefault(); say('Saved {name}: ' + phone.value)">
<label>Phone <input id=phone></label>
<label>Team <select>{"".join(f"<option>{team}" for team in _TEAMS)}</select></label>
<label>Notes <textarea></textarea></label><button>Save</button></form><a href=/staff>Back to the staff</a>{_SAY}"""


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


def address(received: Received) -> Answer:
    """Make a form that the server checks."""
    given = {name: _asked(received, name) for name in ("street", "postcode", "town")}
    wrong = [] if not urlsplit(received.path).query else [*_wrong(given)]
    if urlsplit(received.path).query and not wrong:
        return _page("Address", f"<h1>Address saved</h1><p role=status>We deliver to {', '.join(given.values())}</p>")
    errors = "".join(f"<li>{each}" for each in wrong)
    fields = "".join(
        f'<label>{name.title()} <input name={name} value="{value}"></label>' for name, value in given.items()
    )
    alert = f"<ul role=alert>{errors}</ul>" if errors else ""
    return _page("Address", f"<h1>Delivery address</h1>{alert}<form>{fields}<button>Save address</button></form>")


def _wrong(given: dict[str, str]) -> list[str]:
    found = [f"{name.title()} is missing" for name, value in given.items() if not value]
    return found + (
        [] if given["postcode"].isdecimal() and len(given["postcode"]) == 5 else ["Postcode has five digits"]
    )


def wizard() -> str:
    """Make four steps, one of which is shown."""
    return f"""<title>Plan a trip</title><h1>Plan a trip</h1><p id=at>Step 1 of 4</p>
<section><h2>Class</h2><label><input type=radio name=c value=second checked> Second class</label>
<label><input type=radio name=c value=first> First class</label></section>
<section hidden><h2>Route</h2><label>From <input id=a></label><label>To <input id=b></label></section>
<section hidden><h2>Seat</h2><label>Seat <select id=seat><option>Any<option>Window<option>Aisle</select></label>
</section><section hidden><h2>Summary</h2><p id=sum></p></section>
<button id=back>Back</button><button id=next>Next</button>{_SAY}<script>
let step = 0; const parts = document.querySelectorAll('section');
const show = to => {{ parts[step].hidden = true; step = Math.max(0, Math.min(3, to)); parts[step].hidden = false;
  at.textContent = `Step ${{step + 1}} of 4`; next.textContent = step == 3 ? 'Book' : 'Next';
  const kind = document.querySelector('[name=c]:checked').value;
  sum.textContent = `${{kind}} class, ${{a.value}} to ${{b.value}}, ${{seat.value}}`; }};
back.onclick = () => show(step - 1);
next.onclick = () => step == 3 ? say('Booked: ' + sum.textContent) : step == 1 && !(a.value && b.value)
  ? say('Enter both towns') : show(step + 1);</script>"""


def calendar() -> str:
    return f"""<title>Calendar</title><header><h1>Calendar</h1></header><nav aria-label=Month>
<button id=last>Previous month</button><h2 id=month></h2><button id=next>Next month</button></nav>
<table aria-label=Days><tbody id=days></tbody></table><div id=slots></div>
<form id=planned hidden><label>Title <input id=what></label><button>Save event</button></form>{_SAY}<script>
const names = 'January February March April May June July August September October November December'
  .split(' ');
let at = 5, day = 0, time = '';
const draw = () => {{ month.textContent = `${{names[at]}} 2031`; days.innerHTML = '';
  const count = new Date(2031, at + 1, 0).getDate();
  for (let n = 1, row; n <= count; n++) {{ if (n % 7 == 1) row = days.insertRow();
    row.insertCell().innerHTML = `<button onclick="pick(${{n}})">${{n}} ${{names[at]}}</button>`; }} }};
const pick = n => {{ day = n; slots.innerHTML = '<h3>Free times</h3>' + ['09:00', '10:30', '13:00', '15:30', '17:00']
  .map(each => `<button onclick="planned.hidden = false; time = '${{each}}'">${{each}}</button>`).join(''); }};
last.onclick = () => {{ at = (at + 11) % 12; draw() }}; next.onclick = () => {{ at = (at + 1) % 12; draw() }};
planned.onsubmit = event => {{ event.preventDefault();
  say(`${{what.value}}: ${{day}} ${{names[at]}} 2031 at ${{time}}`) }};
draw();</script>"""


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


def files() -> str:
    rows = "".join(f"<tr><th scope=row>{name}<td>8 bytes<td><a href=/files/{name}>Download</a>" for name in FILES)
    return f"""<title>Files</title><h1>Files</h1>
<table><thead><tr><th>Name<th>Size<th>Action</thead><tbody>{rows}</table>
<label>Attachment <input type=file id=file></label><button onclick="say(`Uploaded ${{file.files[0].name}}, `
+ `${{file.files[0].size}} bytes`)">Upload</button>{_SAY}"""


def _page(title: str, body: str) -> Answer:
    return Answer(f"<!doctype html><meta charset=utf-8><title>{title}</title>{body}")


def _asked(received: Received, name: str) -> str:
    return parse_qs(urlsplit(received.path).query).get(name, [""])[0]

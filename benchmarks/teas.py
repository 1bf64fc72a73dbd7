"""Our own site for flows: a shop whose pages can change as sites do. It counts what is done to it."""

from collections.abc import Iterable, Mapping
from typing import Final

from benchmarks.applications import PASSWORD, Taught
from tests.support.site import Answer, Received, Site

CHANGES: Final = ("ids", "order", "words", "data")
"""Ids, classes and tags; the order; the words and dates beside; more of the same."""
FLOWS: Final[Mapping[str, Taught]] = {
    "buy": Taught("/teas", "click button|Buy|Matcha", "/cart tea=Matcha"),
    "order": Taught(
        "/order",
        "fill textbox|Name := ana\nselect_option combobox|Send to := work\ncheck checkbox|As a gift\n"
        "click button|Order",
        "/orders who=ana&to=work&gift=on",
    ),
    "switch a member": Taught("/members", "click button|Switch|Member 7", "/switch member=Member+7"),
    "close an account": Taught(
        "/account",
        "click button|Sign in\nfill @textbox|Password := secret:pw\nclick @button|Go\nclick button|Close account\n"
        "handle_dialog",
        f"/session pw={PASSWORD}\n/close ",
    ),
    "search": Taught("/search", "fill searchbox|Search := ana\nclick button|Find\nextract_table table"),
    "plan": Taught(
        "/plan", "check radio|Express\nclick button|Next\nfill textbox|For := ana\nclick button|Send", "/plans for=ana"
    ),
}


def done(site: Site) -> list[str]:
    return [f"{each.path} {each.body.decode()}" for each in site.received if each.method == "POST"]


def show(site: Site, change: str = "") -> None:
    """Serve the pages, changed in one way."""
    tag, key = ("section", "x-") if change == "ids" else ("div", "b-")
    beside = "Neu seit dem 3. Mai: heute besonders frisch" if change == "words" else "New since 3 May"
    more = 1 if change == "data" else 0

    def joined(parts: Iterable[str]) -> str:
        return "".join(reversed([*parts]) if change == "order" else parts)

    def form(action: str, within: str, more: str = "") -> str:
        return f"<form method=post action={action} {more}>{within}</form>"

    def act(action: str, name: str, value: str, label: str) -> str:
        return form(action, f"<button id={key}{value[-1:]} name={name} value='{value}'>{label}</button>")

    def page(path: str, parts: str) -> None:
        site.page(path, f"<h1>{beside}</h1><nav class={key}nav><a href=/>Home</a></nav>{parts}")

    teas = ("Sencha", "Matcha", "Assam", "Matcha de luxe")[: 3 + more]
    page("/teas", joined(f"<{tag}><h3>{t}</h3><i>{beside}</i>{act('/cart', 'tea', t, 'Buy')}</{tag}>" for t in teas))
    texts = ("<label>Name <input name=who></label>", f"<label>{beside} <input id={key}note></label>")
    choice = "<label>Send to <select name=to><option value=home>Home<option value=work>Work</select></label>"
    gift = "<label><input type=checkbox name=gift> As a gift</label><button>Order</button>"
    page("/order", form("/orders", joined(texts) + choice + gift))
    members = [f"Member {n}" for n in (*range(1, 20), *(range(70, 80) if more else ()))]
    rows = (f"<tr><td>{m}<td>{act('/switch', 'member', m, 'Switch')}</tr>" for m in members)
    page("/members", f"<table class={key}t><tr><th>Who<th>Act</tr>{joined(rows)}</table>")
    close = form("/close", "<button>Close account</button>", "onsubmit=\"return confirm('Close it?')\"")
    page("/account", joined([f"<button id={key}in onclick=\"window.open('/login')\">Sign in</button>", close]))
    page("/login", form("/session", f"<input type=password name=pw id={key}pw aria-label=Password><button>Go</button>"))
    page("/session", "<script>close()</script>")
    page("/search", "<form action=/found><input type=search name=q aria-label=Search><button>Find</button></form>")
    radios = joined(f"<label><input type=radio name=how id={key}{n}> {n}</label>" for n in ("Plain", "Express"))
    page("/plan", f"<form action=/when>{radios}<button>Next</button></form>")
    page("/when", form("/plans", "<label>For <input name=for></label><button>Send</button>"))
    site.routes["/found"] = _found
    for path in ("/cart", "/orders", "/switch", "/close", "/plans"):
        page(path, "<p role=status>Done</p>")


def _found(sent: Received) -> Answer:
    word = sent.path.partition("=")[2]
    return Answer(f"<table><tr><th>city<th>name</tr><tr><td>{word}<td>Person</tr></table>")

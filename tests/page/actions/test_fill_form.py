"""Tests many fields in one call, as the page and the server see them."""

from urllib.parse import parse_qs

import pytest

from tests.support.json import AnyJson
from tests.support.site import Answer
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


FORM = """<form action=/done method=post>
<input id=name name=name> <textarea id=note name=note></textarea> <input id=pin type=password name=pin>
<label>Terms <input type=checkbox name=terms></label> <input type=checkbox id=news name=news checked>
<label><input type=radio name=size value=s>Small</label> <label><input type=radio name=size value=l>Large</label>
<select id=land name=land><option value=at>Austria<option value=de>Germany</select>
<select id=many name=many multiple><option>a<option>b<option>c</select>
<input type=date id=day name=day> <input type=number id=age name=age> <input type=file id=file>
<button id=go>Send</button></form>"""


YES = True


def field(selector: str, value: AnyJson) -> dict[str, AnyJson]:
    return {"selector": selector, "value": value}


ALL = [
    field("#name", "Ana"),
    field("#note", "two\nlines"),
    field("#pin", "1234"),
    field("label:has-text('Terms')", YES),
    field("#news", "false"),
    field("input[name=size]", "Large"),
    field("#land", "Germany"),
    field("#many", ["a", "c"]),
    field("#day", "2026-01-31"),
    field("#age", 42),
]


async def test_fields_of_every_kind_are_filled_and_reported_and_the_form_is_sent(tab: Tab) -> None:
    await tab.show(FORM)
    tab.site.page("/done", "thanks")
    result = await tab.call("fill_form", fields=ALL, submit="#go")
    assert result["fields"] == [
        field("#name", "Ana"),
        field("#note", "two\nlines"),
        {"selector": "#pin", "characters": 4},
        {"selector": "label:has-text('Terms')", "checked": True},
        {"selector": "#news", "checked": False},
        {"selector": "input[name=size]", "checked": True},
        field("#land", ["de"]),
        field("#many", ["a", "c"]),
        field("#day", "2026-01-31"),
        field("#age", "42"),
    ]
    assert result["observed"].startswith("10 fields as given; ")
    assert f"navigated to {tab.site.url('/done')}; POST /done → 200" in result["observed"]
    (sent,) = [one for one in tab.site.received if one.method == "POST"]
    assert parse_qs(sent.body.decode()) == {
        "name": ["Ana"],
        "note": ["two\r\nlines"],
        "pin": ["1234"],
        "terms": ["on"],
        "size": ["l"],
        "land": ["de"],
        "many": ["a", "c"],
        "day": ["2026-01-31"],
        "age": ["42"],
    }


async def test_the_reply_says_how_the_page_changed_a_value(tab: Tab) -> None:
    await tab.show(
        "<input id=a oninput='value = value.toUpperCase()'><input id=b>"
        "<input type=password id=d oninput='value = value.slice(0, 2)'><input id=e oninput='this.remove()'><input id=f>"
        "<input id=g oninput='setTimeout(() => value = 0, 30)'><button id=go onclick='window.sent = 1'>Go</button>"
    )
    fields = [field("#a", "x"), field("#b", "y"), field("#e", "z"), field("#f", "")]
    result = await tab.call("fill_form", fields=fields)
    assert result["observed"] == "2 of 4 fields as given; #a is written as 'X'; #e is no longer there"
    fields = [field("#b", "y"), field("#d", "secret"), field("#g", "7")]
    error = await tab.error("fill_form", fields=fields, submit="#go")
    assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert error["message"].startswith(
        "Not every field has what it was given: 1 of 3 fields as given; "
        "#d has 2 characters now, which are not those given; #g shows '0' instead of '7'. Nothing was submitted."
    )
    assert "secret" not in str(error)
    assert await tab.sees("window.sent") is None


async def test_a_date_in_another_form_is_refused_with_the_form_that_it_takes(tab: Tab) -> None:
    await tab.show("<input id=name><input type=date id=day>")
    error = await tab.error("fill_form", fields=[field("#name", "Ann"), field("#day", "24.12.2026")])
    assert "#day shows '' instead of '24.12.2026'" in error["message"]
    assert "date 2026-12-24" in error["hint"]


WRONG: list[tuple[dict[str, AnyJson], str, str, str]] = [
    (field("#file", "a.txt"), "VALIDATION_ERROR", "#file is a file input.", "upload_file"),
    (field("#go", YES), "VALIDATION_ERROR", "#go is a button.", "submit"),
    (field("#name", YES), "VALIDATION_ERROR", "#name takes text.", "Give it text."),
    (field("#news", "maybe"), "VALIDATION_ERROR", "#news takes true or false.", "Give it true or false."),
    (field("#land", not YES), "VALIDATION_ERROR", "#land takes an option's value or label", ""),
    (
        field("input[name=size]", "XL"),
        "VALIDATION_ERROR",
        "input[name=size] takes true, or",
        "Its names: l, Large.",
    ),
    (field("input", "x"), "AMBIGUOUS_SELECTOR", "Selector 'input' matches", ""),
    (field("##", "x"), "INVALID_SELECTOR", "Selector '##'", ""),
]


async def test_an_unfillable_field_is_refused_before_anything_is_filled(tab: Tab) -> None:
    await tab.show(FORM)
    for wrong, code, says, hint in WRONG:
        error = await tab.error("fill_form", fields=[field("#name", "Ana"), wrong])
        assert error["code"] == code
        assert error["message"].startswith(f"fields.1: {says}")
        assert error["message"].endswith("Nothing was filled.")
        assert hint in error["hint"]
        assert error["details"]["context"]["field"] == "fields.1"
        assert await tab.sees("document.querySelector('#name').value") == ""


async def test_a_field_that_the_page_replaces_is_read_again(tab: Tab) -> None:
    await tab.show(
        "<p><input id=a oninput=\"let v = value; this.parentNode.innerHTML = '<input id=a>'; a.value = v + '!'\"></p>"
        "<input id=b>"
    )
    result = await tab.call("fill_form", fields=[field("#a", "x"), field("#b", "y")])
    assert result["observed"] == "1 of 2 fields as given; #a is written as 'x!'"


async def test_the_events_of_filled_fields_are_the_browsers_own(tab: Tab) -> None:
    await tab.show(
        "<input id=a><input id=b><script>window.seen = [];"
        "for (const kind of ['focusin', 'input', 'change', 'focusout'])"
        "addEventListener(kind, e => seen.push(`${e.target.id} ${kind} ${e.isTrusted}`))</script>"
    )
    await tab.call("fill_form", fields=[field("#a", "x"), field("#b", "y")])
    events = ["a focusin", "a input", "a change", "a focusout", "b focusin", "b input"]
    assert await tab.sees("seen") == [f"{event} true" for event in events]


async def test_a_field_that_an_earlier_one_brings_is_waited_for(tab: Tab) -> None:
    await tab.show(
        "<input id=a oninput=\"setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<input id=b>'), 50)\">"
    )
    result = await tab.call("fill_form", fields=[field("#a", "x"), field("#b", "y")])
    assert result["observed"] == "2 fields as given"


async def test_a_field_that_fails_names_those_that_are_filled(tab: Tab) -> None:
    await tab.show("<input id=a><input id=b disabled>")
    fields = [field("#a", "x"), field("#b", "y"), field("#c", "z")]
    error = await tab.error("fill_form", fields=fields, timeout=300)
    assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
    assert error["message"].startswith("fields.1: Element matching selector '#b' is disabled")
    assert error["message"].endswith("Filled before: #a.")
    error = await tab.error("fill_form", fields=[fields[0], fields[2]], timeout=300)
    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["message"] == "fields.1: Element matching selector '#c' not found after 300ms. Filled before: #a."


async def test_refs_and_frames_name_fields_too(tab: Tab) -> None:
    await tab.show("<input aria-label=Name id=a><iframe srcdoc='<input id=b>'></iframe>")
    tree = (await tab.call("snapshot"))["snapshot"]
    ref = tree.split('textbox "Name" [ref=')[1].split("]")[0]
    assert (await tab.call("fill_form", fields=[field(ref, "x")]))["fields"] == [field(ref, "x")]
    await tab.call("fill_form", fields=[field("#b", "y")], frame="iframe")
    assert await tab.sees("[a.value, frames[0].document.querySelector('#b').value]") == ["x", "y"]
    error = await tab.error("fill_form", fields=[field("e999", "x")])
    assert (error["code"], error["details"]["context"]["field"]) == ("STALE_REVISION", "fields.0")


async def test_fields_of_several_documents_get_each_its_own_in_any_order(tab: Tab) -> None:
    foreign = tab.site.page("/foreign", "<input aria-label=Foreign>").replace("127.0.0.1", "localhost")
    await tab.show(
        "<input aria-label=Own><iframe srcdoc='<textarea aria-label=Framed></textarea>'></iframe><div id=host></div>"
        "<script>host.attachShadow({mode: 'open'}).innerHTML = '<input aria-label=Shadow>'</script>"
        f"<iframe src={foreign}></iframe>"
    )
    tree = (await tab.call("snapshot"))["snapshot"]
    names = ("Own", "Framed", "Foreign", "Shadow")
    refs = {name: tree.split(f'"{name}"')[1].split("[ref=")[1].split("]")[0] for name in names}
    for order in (names, names[::-1], ("Framed", "Own", "Shadow", "Foreign")):
        fields = [field(refs[name], f"{name} after {order[0]}") for name in order]
        assert (await tab.call("fill_form", fields=fields))["observed"] == "4 fields as given"
        tree = (await tab.call("snapshot"))["snapshot"]
        for each in fields:
            assert f"[ref={each['selector']}]: {each['value']}" in tree


OWN_CONTROLS = """<style>#hidden {opacity: 0; width: 0} .over {position: absolute; inset: 0}</style>
<button id=switch role=switch aria-checked=false onclick="ariaChecked = ariaChecked !== 'true'">Wake me</button>
<div id=slider role=slider tabindex=0 aria-valuenow=20 aria-valuemin=0 aria-valuemax=100>Volume</div>
<label><input type=checkbox id=hidden><i>Drawn</i></label>
<p style="position: relative"><input type=checkbox id=under><label class=over for=under>Over it</label></p>
<label><input type=checkbox id=inside checked><span>Inside</span></label>
<input type=range id=range min=0 max=10 step=3><script>
slider.onkeydown = e => {
  const by = {ArrowRight: 4, ArrowLeft: -4, End: 100, Home: -100}[e.key] ?? 0;
  slider.ariaValueNow = Math.max(0, Math.min(100, +slider.ariaValueNow + by));
};
</script>"""


async def test_switches_sliders_and_boxes_under_their_labels_are_set_as_a_person_would(tab: Tab) -> None:
    await tab.show(OWN_CONTROLS)
    ticks = [field("#switch", YES), field("#hidden", YES), field("#under", YES), field("text=Inside", not YES)]
    for wanted in (64, 0, 100):
        result = await tab.call("fill_form", fields=[*ticks, field("#slider", wanted), field("#range", 6)])
        assert result["observed"].startswith("6 fields as given")
        assert await tab.sees("[slider.ariaValueNow, range.value, inside.checked]") == [str(wanted), "6", False]
        assert await tab.sees("[document.querySelector('#switch').ariaChecked, hidden.checked, under.checked]") == [
            "true",
            True,
            True,
        ]


async def test_a_switch_that_shows_late_what_it_is_counts_as_set(tab: Tab) -> None:
    await tab.show("<b id=a role=switch aria-checked=false onclick='setTimeout(() => ariaChecked = true, 30)'>Wake</b>")
    assert (await tab.call("fill_form", fields=[field("#a", YES)]))["observed"] == "1 field as given"
    await tab.show("<b id=a role=switch aria-checked=false>Wake</b>")
    assert "#a is not checked now" in (await tab.error("fill_form", fields=[field("#a", YES)]))["message"]


async def test_a_slider_that_took_another_value_is_reported_with_its_possible_values(tab: Tab) -> None:
    await tab.show(OWN_CONTROLS)
    for selector, wanted, took in (("#slider", 33, "36"), ("#range", 7, "6")):
        error = await tab.error("fill_form", fields=[field(selector, wanted)])
        assert f"{selector} shows '{took}' instead of '{wanted}'" in error["message"].replace(".0", "")
        assert error["hint"] == "It takes the values of its steps alone, between its ends."
    assert "a number" in (await tab.error("fill_form", fields=[field("#slider", "loud")]))["message"]


COMBOBOXES = """<style>li {height: 20px} .on {background: #ddd}</style>
<p><label for=tags>Tags</label> <b></b><input id=tags role=combobox aria-expanded=false></p>
<p><span id=one role=combobox tabindex=0 aria-haspopup=listbox>none</span></p>
<ul id=list role=listbox hidden></ul><script>
const NAMES = ['Red', 'Green', 'Blue'];
for (const [box, take] of [
  [tags, name => { tags.previousSibling.append(name + ' '); tags.value = ''; }],
  [one, name => { one.textContent = name; }],
]) {
  let at = 0, found = [];
  const draw = text => {
    found = NAMES.filter(name => name.startsWith(text));
    list.hidden = false;
    list.innerHTML = found.map((name, i) => `<li role=option id=o${i}>${name}`).join('');
    box.setAttribute('aria-activedescendant', 'o' + at);
  };
  const close = () => { list.hidden = true; list.innerHTML = ''; };
  box.addEventListener('input', () => setTimeout(() => { at = 0; draw(box.value); }, 60));
  box.addEventListener('keydown', e => {
    if (e.key === 'Enter') { take(found[at] ?? box.value); close(); }
    if (e.key === 'Escape') close();
    if (e.key === 'Home' && box === one) { at = 0; draw(''); }
    if (e.key === 'ArrowDown') { at = list.hidden ? 1 : (at + 1) % found.length; draw(box.value ?? ''); }
  });
}</script>"""


@pytest.mark.thorough
async def test_comboboxes_get_the_options_that_are_listed_and_what_else_they_take(tab: Tab) -> None:
    await tab.show(COMBOBOXES)
    result = await tab.call("fill_form", fields=[field("#tags", ["Red", "fresh", "Blue"]), field("#one", "Green")])
    assert result["observed"].startswith("2 fields as given")
    assert result["fields"] == [field("#tags", ["Red", "fresh", "Blue"]), field("#one", ["Green"])]
    assert await tab.sees("one.textContent") == "Green"
    error = await tab.error("fill_form", fields=[field("#one", "Mauve")])
    assert error["message"].startswith("fields.0: #one shows 'Green', without Mauve.")
    assert (await tab.call("fill_form", fields=[field("#tags", "plain")]))["observed"].startswith("1 field as given")


async def test_a_combobox_that_takes_no_typing_is_chosen_from(tab: Tab) -> None:
    await tab.show(
        COMBOBOXES.replace("<span id=one", "<b id=seen></b><input inputmode=none id=one")
        .replace("none</", "</")
        .replace("one.textContent = name", "seen.textContent = name; one.value = ''")
        .replace("box === one", "true")
    )
    assert "1 field as given" in (await tab.call("fill_form", fields=[field("#one", "Green")]))["observed"]


async def test_a_list_that_is_open_already_is_chosen_from(tab: Tab) -> None:
    await tab.show(
        "<div id=box role=combobox tabindex=0 aria-expanded=false>none</div>"
        "<div id=list role=listbox hidden><p role=option>Red</p><p role=option>Green</p></div><script>"
        "const show = shows => { list.hidden = !shows; box.setAttribute('aria-expanded', shows); };"
        "box.onclick = () => show(list.hidden);"
        "list.onclick = e => { box.textContent = e.target.textContent; show(false); }</script>"
    )
    await tab.call("click", selector="#box")
    assert "1 field as given" in (await tab.call("fill_form", fields=[field("#box", "Green")]))["observed"]


SEARCHED = """<label>City <input id=city type=search role=combobox aria-controls=list> <b id=out></b></label>
<ul role=listbox id=list hidden></ul><input id=next><script>
let at = -1;
const found = () => ['Graz', 'Graz-Umgebung'].filter(each => each.startsWith(city.value));
city.oninput = () => setTimeout(() => {
  at = -1;
  list.hidden = false;
  const shown = each => LINK ? `<a href=/town>${each}</a>` : each;
  list.innerHTML = found().map((each, n) => `<li role=option id=o${n}>${shown(each)}</li>`).join('');
}, 50);
city.onkeydown = e => {
  if (e.key === 'ArrowDown') city.setAttribute('aria-activedescendant', 'o' + ++at);
  if (e.key !== 'Enter') return;
  out.textContent = found()[at];
  city.value = '';
  list.hidden = true;
  city.removeAttribute('aria-activedescendant');
};
city.onblur = () => { city.value = ''; };
</script>"""


async def test_a_search_field_of_a_combobox_chooses_what_leads_nowhere_else(tab: Tab) -> None:
    for more in ([], [field("#next", "x")]):
        await tab.show(f"<script>const LINK = false</script>{SEARCHED}")
        result = await tab.call("fill_form", fields=[field("#city", "Graz"), *more])
        assert result["observed"] == f"{1 + len(more)} field{'s' * len(more)} as given"
        assert await tab.sees("out.textContent") == "Graz"
    await tab.show(f"<script>const LINK = true</script>{SEARCHED}")
    assert (await tab.call("fill_form", fields=[field("#city", "Graz")]))["observed"].startswith("1 field as given")
    assert await tab.sees("out.textContent") == ""


ON_A_SERVER = """<label>City <input id=city role=combobox aria-controls=list></label><ul role=listbox id=list></ul>
<script>let timer;
city.onkeydown = e => { if (e.key === 'Enter') city.value = ''; };
city.oninput = () => { clearTimeout(timer); timer = setTimeout(async () => {
  const found = await (await fetch('/cities?' + city.value)).json();
  list.innerHTML = found.map((each, n) => `<li role=option id=o${n}>${each}</li>`).join(''); }, 200) };
</script>"""


async def test_a_list_that_a_server_searches_names_what_it_offers(tab: Tab) -> None:
    tab.site.routes["/cities"] = Answer('["Paris, France", "Paris, Texas"]')
    await tab.show(ON_A_SERVER)
    error = await tab.error("fill_form", fields=[field("#city", ["Paris"])])
    assert "#city shows 'City', without Paris: its list has 'Paris, France', 'Paris, Texas'" in error["message"]


SLOTTED = """<x-pick><x-tea>Tea</x-tea><x-tea>Mate</x-tea></x-pick><script>
customElements.define('x-tea', class extends HTMLElement {
  connectedCallback() {
    const inner = '<p role=option tabindex=-1><slot></slot></p>';
    this.attachShadow({mode: 'open', delegatesFocus: true}).innerHTML = inner;
  }
});
customElements.define('x-pick', class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({mode: 'open'});
    root.innerHTML = '<b role=combobox tabindex=0>none</b><div role=listbox hidden><slot></slot></div>';
    const [box, list] = root.children, to = n => { list.hidden = false; this.children[n].focus(); };
    this.onkeydown = e => {
      const at = [...this.children].indexOf(document.activeElement);
      if (e.key === 'ArrowDown') to((at + 1) % 2);
      if (e.key === 'Home') to(0);
      if (e.key === 'Enter') { box.textContent = this.children[at].textContent; list.hidden = true; }
    };
  }
});
</script>"""


async def test_an_option_in_another_part_of_a_component_is_chosen(tab: Tab) -> None:
    await tab.show(SLOTTED)
    result = await tab.call("fill_form", fields=[field("role=combobox", "Mate")])
    assert result["observed"].startswith("1 field as given")


TWO_LISTS = """<ul role=listbox><li role=option onclick='other.textContent = "taken"'>Late</li></ul>
<button id=slot type=button aria-haspopup=listbox>Choose</button>
<div id=pop hidden role=listbox><p role=option>Late</p></div><i id=other></i><script>
slot.onclick = () => { pop.hidden = !pop.hidden; slot.ariaExpanded = !pop.hidden; };
pop.firstChild.onclick = () => { slot.textContent = 'Late'; pop.hidden = true; slot.ariaExpanded = false; };
</script>"""


async def test_an_option_of_another_list_is_not_chosen(tab: Tab) -> None:
    await tab.show(TWO_LISTS)
    result = await tab.call("fill_form", fields=[field("#slot", "Late")])
    assert result["observed"].startswith("1 field as given")
    assert await tab.sees("[slot.textContent, other.textContent]") == ["Late", ""]


LIST_OPENED_BY_CLICKS = """<input id=before><button id=shop type=button aria-haspopup=listbox>Choose</button>
<div id=pop hidden><input id=words><ul role=listbox></ul></div><script>
const chosen = [], all = Array.from({length: 99}, (_, n) => 'Shop ' + n), list = pop.querySelector('ul');
const draw = () => {
  list.innerHTML = '';
  for (const name of all.filter(each => each.includes(words.value)).slice(0, 5)) {
    const item = Object.assign(document.createElement('li'), {role: 'option', textContent: name});
    item.onclick = () => { chosen.push(name); shop.textContent = chosen.join(', '); };
    list.append(item);
  }
};
const open = is => { pop.hidden = !is; shop.ariaExpanded = is; words.value = ''; if (is) { draw(); words.focus(); } };
shop.onclick = () => open(pop.hidden);
words.onkeyup = () => setTimeout(draw, 40);
onkeydown = e => { if (e.key === 'Escape') open(false); };
</script>"""


@pytest.mark.thorough
async def test_a_list_that_no_key_opens_is_opened_searched_and_chosen_from_by_clicks(tab: Tab) -> None:
    await tab.show(LIST_OPENED_BY_CLICKS)
    fields = [field("#before", "x"), field("#shop", ["Shop 3", "Shop 77"])]
    assert (await tab.call("fill_form", fields=fields))["observed"] == "2 fields as given"
    assert await tab.sees("[before.value, pop.hidden]") == ["x", True]
    error = await tab.error("fill_form", fields=[field("#shop", "Shop 100")])
    assert "#shop shows 'Shop 3, Shop 77', without Shop 100" in error["message"]


@pytest.mark.thorough
async def test_what_a_list_only_offers_is_not_shown_as_chosen(tab: Tab) -> None:
    await tab.show("<p id=a role=combobox tabindex=0><b role=listbox><i role=option>Tea</i> <i role=option>Mate</p>")
    error = await tab.error("fill_form", fields=[field("#a", "Mate")])
    assert error["message"].startswith("fields.0: #a shows '', without Mate.")


AUTOCOMPLETE = """<label>Film <input id=film role=combobox aria-controls=list autocomplete=off></label>
<label>Year <input id=year></label><ul role=listbox id=list hidden></ul><p id=out>none</p><script>
const films = ['Heat', 'Heat wave', 'Alien']; let at = -1;
const show = () => {
  const found = films.filter(each => each.toLowerCase().includes(film.value.toLowerCase()));
  list.hidden = false;
  list.innerHTML = found.map((each, n) => `<li role=option id=o${n}>${each}</li>`).join('');
  return found;
};
film.oninput = () => { at = -1; setTimeout(show, 500); };
film.onkeydown = e => {
  const found = show();
  if (e.key === 'ArrowDown') film.setAttribute('aria-activedescendant', 'o' + (at = (at + 1) % found.length));
  if (e.key === 'Enter' && at >= 0) { film.value = out.textContent = found[at]; list.hidden = true; }
};
film.onblur = () => { if (out.textContent !== film.value) film.value = ''; list.hidden = true; };
</script>"""


async def test_a_text_for_a_combobox_chooses_the_option_that_is_called_so(tab: Tab) -> None:
    await tab.show(AUTOCOMPLETE)
    fields = [field("#film", "heat"), field("#year", "1995")]
    assert (await tab.call("fill_form", fields=fields))["observed"] == (
        "1 of 2 fields as given; #film is written as 'Heat'"
    )
    assert await tab.sees("out.textContent") == "Heat"
    error = await tab.error("fill_form", fields=[field("#film", "e"), field("#year", "1995")])
    assert "#film shows '' instead of 'e' (its list has 'Heat', 'Heat wave', 'Alien')" in error["message"]
    await tab.show("<label>Day <input id=day onblur=\"this.value = ''\"></label><input id=next>")
    error = await tab.error("fill_form", fields=[field("#day", "5 March"), field("#next", "x")])
    assert '"selector": "#day", "key": "Enter"}' in error["hint"]


async def test_a_page_that_listens_for_keys_alone_hears_of_a_text(tab: Tab) -> None:
    for entering in ("fill", "fill_form"):
        await tab.show("<input id=word onkeyup='out.textContent += `${value};`'><input id=next><p id=out></p>")
        fields = {"fields": [field("#word", "tea"), field("#next", "x")]}
        arguments = fields if entering == "fill_form" else {"selector": "#word", "value": "tea"}
        await tab.call(entering, **arguments)
        assert await tab.sees("out.textContent") == "tea;"

"""The sites on which flows are taught and run: seven applications of other people, and pages of our own.

Each begins with an empty folder, says itself what was done to it, and can get other data under a flow.
"""

import contextlib
import json
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PASSWORD: Final = "Kx7qP2mWz9Lt"  # noqa: S105 - of a site that lasts for minutes
NAME: Final = "ana"
"""What flows are taught with, where a run gives something else."""


@dataclass(frozen=True)
class Taught:
    """A flow: where it begins, and what the agent does, an act a line.

    A line has a tool, its element as CSS or as `role|name|words beside it`, with `@` before it in the window that
    opened, and after `:=` its value. `done` is what the site must tell of it; None if what is read must be right."""

    path: str
    acts: str
    done: str | None = None


@dataclass(frozen=True)
class App:
    """An application, which runs in a virtual environment and a folder of its own."""

    flows: Mapping[str, Taught]
    command: str = "{bin}/python {work}/app.py {port}"
    script: str = ""
    prepare: Callable[[Path, Path], None] = lambda bin_, work: None  # noqa: ARG005 - most need nothing
    told: Callable[[Path], list[str]] = field(default=lambda work: _lines(work / "done.txt"))
    more: Callable[[Path], object] | None = field(default=lambda work: (work / "more").touch())
    sign_in: Taught | None = None


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _sql(file: Path, *statements: str) -> list[str]:
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        return [" ".join(map(str, row)) for each in statements for row in db.execute(each).fetchall()]


_HEAD: Final = """import pathlib, sys
here = pathlib.Path(__file__).parent
more = ['Assam'] if (here / 'more').exists() else []
def done(*words):
    with open(here / 'done.txt', 'a') as file: print(*words, file=file)
"""
_NICEGUI: Final = """from nicegui import ui
@ui.page('/')
def index():
    for each in more: ui.button('Order later', on_click=lambda: done('later'))
    who, tea = ui.input('Name'), ui.select([*more, 'Sencha', 'Matcha'], label='Tea', value='Sencha')
    with ui.dialog() as sure, ui.card():
        ui.button('No', on_click=sure.close)
        ui.button('Yes', on_click=lambda: (done(who.value, tea.value), sure.close(), ui.notify('Ordered')))
    ui.button('Order', on_click=sure.open)
@ui.page('/gift')
def gift():
    for each in more: ui.switch('Wrap it twice')
    with ui.expansion('Gift'):
        card, wrap = ui.textarea('Card'), ui.switch('Wrap it')
        ui.button('Send', on_click=lambda: (done(card.value, wrap.value), ui.notify('Sent')))
ui.run(port=int(sys.argv[1]), host='127.0.0.1', show=False, reload=False)
"""
_STREAMLIT: Final = """import streamlit as st
for each in more:
    if st.button('Order later'): done('later')
with st.form('order'):
    who, gift = st.text_input('Name'), st.checkbox('As a gift')
    if st.form_submit_button('Order'):
        done(who, gift)
        st.success(f'Ordered for {who}')
if said := st.chat_input('Say something'):
    done('said', said)
    st.chat_message('user').write(said)
"""
_GRADIO: Final = """import gradio as gr
def order(who, tea):
    done(who, tea)
    return f'Ordered for {who}'
def back(number, why):
    done(number, why)
    return f'{number} comes back'
given = {order: [gr.Textbox(label='Name'), gr.Radio([*more, 'Sencha', 'Matcha'], label='Tea')],
    back: [gr.Textbox(label='Number'), gr.Dropdown([*more, 'Late', 'Wet'], label='Why')]}
forms = [gr.Interface(each, given[each], gr.Textbox(), flagging_mode='never') for each in given]
gr.TabbedInterface(forms, ['Order', 'Return']).launch(server_name='127.0.0.1', server_port=int(sys.argv[1]))
"""
_REDIRECT: Final = """INSERT INTO wagtailredirects_redirect (old_path, redirect_link, is_permanent,
automatically_created, redirect_page_route_path) VALUES ('/x', '/y', 1, 0, '')"""
_CODE: Final = "print('ana', file=open('done.txt', 'a'))"


def _people(_: Path, work: Path) -> None:
    rows = ", ".join(f"({n}, 'Person {n}', '{('ana', 'bo', 'Graz')[n % 3]}')" for n in range(60))
    _sql(
        work / "data.db",
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name, city)",
        f"INSERT INTO people VALUES {rows}",  # noqa: S608 - our own
    )


def _shop(bin_: Path, work: Path) -> None:
    """Make a site of Wagtail's with a superuser."""
    user = {f"DJANGO_SUPERUSER_{name}": text for name, text in (("USERNAME", "ana"), ("EMAIL", "ana@example.com"))}
    for command in (
        [str(bin_ / "wagtail"), "start", "shop", str(work)],
        [str(bin_ / "python"), str(work / "manage.py"), "migrate", "-v0"],
        [str(bin_ / "python"), str(work / "manage.py"), "createsuperuser", "--noinput"],
    ):
        env = {"PATH": str(bin_), "DJANGO_SUPERUSER_PASSWORD": PASSWORD, **user}
        subprocess.run(command, env=env, check=True, capture_output=True)


def _told_by_shop(work: Path) -> list[str]:
    return _sql(
        work / "db.sqlite3",
        "SELECT old_path FROM wagtailredirects_redirect ORDER BY id",
        "SELECT object_str FROM wagtailcore_revision ORDER BY id",
        "SELECT name FROM auth_group ORDER BY id",
    )


def _tabs(work: Path) -> list[str]:
    file = work / "flows.json"
    nodes = json.loads(file.read_text()) if file.exists() else []
    return [str(each["label"]) for each in nodes if each["type"] == "tab"]


_ORDER: Final = "fill textbox|Name := ana\n"
APPS: Final[Mapping[str, App]] = {
    "datasette": App(
        {
            "filter a table": Taught(
                "/data/people",
                "select_option select[name=_filter_column] := city\nfill input[name=_filter_value] := ana\n"
                "click button|Apply\nextract_table table",
            ),
            "run a query": Taught(
                "/data?sql=select name, city from people where city = :city",
                "fill input[name=city] := ana\nclick button|Run SQL\nextract_table table",
            ),
        },
        "{bin}/datasette {work}/data.db -p {port}",
        prepare=_people,
        told=lambda _: [],
        more=lambda work: _sql(work / "data.db", "INSERT INTO people VALUES (61, 'Another', 'Ulm')"),
    ),
    "wagtail": App(
        {
            "add a redirect": Taught(
                "/admin/redirects/add/",
                "fill textbox|Redirect from* := /ana\nfill textbox|Redirect to any URL := https://shop.example/\n"
                "click button|Create",
                "/ana",
            ),
            "publish a page": Taught(
                "/admin/pages/3/edit/",
                "fill #id_title := ana\nclick button|More actions\nclick button|Publish",
                "ana",
            ),
            "add a group": Taught("/admin/groups/new/", "fill #id_name := ana\npress #id_name := Enter", "ana"),
        },
        "{bin}/python {work}/manage.py runserver --noreload 127.0.0.1:{port}",
        prepare=_shop,
        told=_told_by_shop,
        more=lambda work: _sql(work / "db.sqlite3", _REDIRECT),
        sign_in=Taught(
            "/admin/login/", f"fill #id_username := ana\nfill #id_password := {PASSWORD}\npress #id_password := Enter"
        ),
    ),
    "nicegui": App(
        {
            "order": Taught("/", f"{_ORDER}click button|Order\nclick button|Yes", "ana Sencha"),
            "send a gift": Taught(
                "/gift",
                "click text=Gift\nfill textbox|Card := ana\ncheck switch|Wrap it\nclick button|Send",
                "ana True",
            ),
        },
        script=_HEAD + _NICEGUI,
    ),
    "streamlit": App(
        {
            "order": Taught("/", f'{_ORDER}click label:has-text("As a gift")\nclick button|Order', "ana True"),
            "say": Taught("/", "fill textbox|Say something := ana\npress textbox|Say something := Enter", "said ana"),
        },
        "{bin}/streamlit run {work}/app.py --server.port={port} --server.address=127.0.0.1 --server.headless=true "
        "--browser.gatherUsageStats=false",
        _HEAD + _STREAMLIT,
    ),
    "gradio": App(
        {
            "order": Taught("/", f"{_ORDER}check radio|Matcha\nclick button|Submit", "ana Matcha"),
            "return": Taught(
                "/",
                "click tab|Return\nfill textbox|Number := ana\nclick combobox|Why\nclick option|Wet\n"
                "click button|Submit",
                "ana Wet",
            ),
        },
        script=_HEAD + _GRADIO,
    ),
    "jupyterlab": App(
        {
            "run a cell": Taught(
                "/lab?reset",
                "click button|Python 3 (ipykernel) Python 3 (ipykernel)|Notebook\n"
                f"type .jp-Notebook .cm-content := {_CODE}\n"
                "press .jp-Notebook .cm-content := Shift+Enter\nwait_for_selector text=[1]:",
                "ana",
            ),
            "ask a console": Taught(
                "/lab?reset",
                "click button|Python 3 (ipykernel) Python 3 (ipykernel)|Console\n"
                f"type .jp-CodeConsole-promptCell .cm-content := {_CODE}\n"
                "press .jp-CodeConsole-promptCell .cm-content := Shift+Enter\nwait_for_selector text=[1]:",
                "ana",
            ),
        },
        "{bin}/jupyter-lab --no-browser --allow-root --port={port} --IdentityProvider.token= --LabApp.news_url= "
        "--ServerApp.root_dir={work} --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        more=lambda work: (work / "Another.txt").touch(),
    ),
    "node-red": App(
        {
            "import a flow": Taught(
                "/",
                "click #red-ui-header-button-sidemenu\nclick #menu-item-import\n"
                'type #red-ui-clipboard-dialog-import-text := [{"id": "ana", "type": "tab", "label": "ana"}]\n'
                "click #red-ui-clipboard-dialog-ok\nclick #red-ui-header-button-deploy",
                "ana",
            )
        },
        "{bin}/node-red --port {port} --userDir {work} -D uiHost=127.0.0.1 -D editorTheme.tours=false "
        "-D telemetry.enabled=false -D flowFile=flows.json",
        told=_tabs,
        more=None,
    ),
}

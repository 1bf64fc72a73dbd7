"""Writes a flow as plain Playwright, for whoever runs it without this service."""

import json
import keyword
import re
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Final

from pydantic import JsonValue

from browse_together.contract.flows import Flow, Step, message, placeholders, unquoted
from browse_together.contract.model import object_at
from browser_service.flows.running import tried
from browser_service.rules.tool_schemas import wants_text

_HEAD: Final = '"""{about}"""\n\nimport re\n\nfrom playwright.sync_api import Page, expect'
_PLAIN: Final = ("click", "hover", "check", "uncheck", "focus", "blur")
_OPTIONS: Final = {"clickCount": "click_count", **{name: name for name in ("button", "modifiers", "position", "force")}}
"""What a pointer's act may have, here and in Playwright."""
_CELLS: Final = "e => [...e.rows].map(row => [...row.cells].map(cell => cell.innerText))"
_BY_ROLE: Final = re.compile(r'role=([a-z]+)\[name="((?:[^"\\]|\\.)*)"\]')
_BY_TEXT: Final = re.compile(r'text="((?:[^"\\]|\\.)*)"')
_TAKEN: Final = re.compile(r"page\d*|opened|dialog|outputs|json|os|re|expect|str|dict|object")
"""Names that the written code has itself."""
_OF_PAGE: Final = {"go_back": "go_back()", "go_forward": "go_forward()", "reload_page": "reload()"}


Arguments = dict[str, JsonValue]
Writer = Callable[[Arguments, str, Step], list[str] | None]


def as_python(flow: Flow) -> str:
    """Return a program that takes the parameters as options."""
    options = "\n".join(
        f"    options.add_argument({_text(f'--{name}')}, dest={_named(name)!r}, "
        + ("required=True)" if each.default is None else f"default={_text(each.default)})")
        for name, each in flow.parameters.items()
    )
    lines = [
        _head(flow)
        .replace("import re\n", "import argparse\nimport re\n")
        .replace("Page, expect", "Page, expect, sync_playwright"),
        _function(flow, "run"),
        "def main() -> None:",
        "    options = argparse.ArgumentParser()",
        options,
        "    given = vars(options.parse_args())",
        "    with sync_playwright() as playwright:",
        f"        browser = playwright.chromium.launch({_switches(flow)})",
        "        print(run(browser.new_page(), **given))",
        "        browser.close()",
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
    ]
    return _with_imports("\n".join(line for line in lines if line is not options or options))


def _switches(flow: Flow) -> str:
    has_tools = any(step.action == "call_page_tool" for step in flow.steps)
    return "args=['--enable-features=WebMCP']" if has_tools else ""


def as_pytest(flow: Flow) -> str:
    """Return a test for pytest-playwright. Parameters without a default are left to be filled in."""
    values = {name: each.default if each.default is not None else f"<{name}>" for name, each in flow.parameters.items()}
    given = "".join(f", {_named(name)}={_text(value)}" for name, value in values.items())
    name = _named(flow.name.replace("-", "_"))
    lines = [_head(flow), _function(flow, name), f"def test_{name}(page: Page) -> None:", f"    {name}(page{given})"]
    return _with_imports("\n".join(lines))


def _with_imports(text: str) -> str:
    named = [name for name, use in (("json", "json.loads("), ("os", "os.environ[")) if use in text]
    return text.replace("import re\n", "".join(f"import {name}\n" for name in [*named, "re"]), 1)


def _head(flow: Flow) -> str:
    about = (flow.description or f"The flow {flow.name}.").replace("\\", "").replace('"', "'")
    return _HEAD.format(about=about)


def _function(flow: Flow, name: str) -> str:
    """Write the steps. A window that is left may close by itself, so what its last step shows is not checked."""
    parameters = "".join(f", {_named(each)}: str" for each in flow.parameters)
    named, steps = {flow.steps[0].page: "page"}, list[str]()
    for number, (step, following) in enumerate(zip_longest(flow.steps, flow.steps[1:]), 1):
        if step.page not in named:
            named[step.page] = f"page{len(named) + 1}"
            steps.append(f"{named[step.page]} = page.context.new_page()")
        if following and following.action == "handle_dialog":
            steps.append(f"{named[step.page]}.once('dialog', {_answer(following.arguments)})")
        is_left = step.page != flow.steps[0].page and step.page not in {each.page for each in flow.steps[number:]}
        written = _step(step.model_copy(update={"expect": None}) if is_left else step, named[step.page])
        if len(step.opens) == 1:
            written = [f"with {named[step.page]}.expect_popup() as opened:", *(f"    {line}" for line in written)]
            named[step.opens[0]] = f"page{len(named) + 1}"
            written.append(f"{named[step.opens[0]]} = opened.value")
        steps += written
    body = "\n".join(f"    {line}" for line in ["outputs: dict[str, object] = {}", *steps, "return outputs"])
    return f"\n\ndef {name}(page: Page{parameters}) -> dict[str, object]:\n{body}\n\n"


def _answer(arguments: Arguments) -> str:
    accepts = arguments.get("accept") is True or arguments.get("policy") == "accept"
    prompt = _text(arguments["promptText"]) if "promptText" in arguments else ""
    return f"lambda dialog: dialog.{f'accept({prompt})' if accepts else 'dismiss()'}"


def _step(step: Step, page: str) -> list[str]:
    """Return the lines of a step. What plain Playwright has no call for is left as a note that fails."""
    arguments, action = step.arguments, step.action
    write = next((each for name, each in _WRITERS.items() if name == action), None)
    lines = write(arguments, page, step) if write and len(step.opens) <= 1 else None
    if lines is None:
        return [f"raise NotImplementedError({_text(f'{action}: {json.dumps(arguments)}')})"]
    if step.expect and step.expect.url:
        pattern = ".*".join(map(_escaped, step.expect.url.split("*")))
        lines.append(f"expect({page}).to_have_url(re.compile({_text(f'^{pattern}$')}))")
    for words in step.expect.shows if step.expect else []:
        said = f"locator({message(words)!r})" if "*" in words else f"get_by_text({words!r})"
        lines.append(f"expect({page}.{said}.filter(visible=True).first).to_be_visible()")
    return lines


def _locator(value: JsonValue, page: str) -> str:
    selectors = tried([str(each) for each in value]) if isinstance(value, list) else [str(value)]
    if by_role := _BY_ROLE.fullmatch(selectors[0]):
        return f"{page}.get_by_role({by_role[1]!r}, name={_text(unquoted(by_role[2]))}, exact=True)"
    if by_text := _BY_TEXT.fullmatch(selectors[0]):
        return f"{page}.get_by_text({_text(unquoted(by_text[1]))}, exact=True)"
    return f"{page}.locator({_text(selectors[0])})"


def _is_secret(value: JsonValue) -> bool:
    return isinstance(value, dict) and [*value] == ["secret"]


def _on_element(call: Callable[[Arguments], str]) -> Writer:
    return lambda arguments, page, _: [f"{_locator(arguments.get('selector'), page)}.{call(arguments)}"]


def _by_keys(on_element: str, on_page: str, argument: str) -> Writer:
    """Write what goes to an element, or where the focus is."""

    def write(arguments: Arguments, page: str, _: Step) -> list[str]:
        given, selector = _text(arguments.get(argument)), arguments.get("selector")
        there = f"{_locator(selector, page)}.{on_element}" if selector else f"{page}.keyboard.{on_page}"
        return [f"{there}({given})"]

    return write


def _pointed(name: str, arguments: Arguments) -> str:
    given = [f"{theirs}={arguments[ours]!r}" for ours, theirs in _OPTIONS.items() if ours in arguments]
    return f"{name}({', '.join(given)})"


def _choice(arguments: Arguments) -> str:
    """Write what is chosen. A parameter is a text, and a position a number."""
    given = [(name, arguments[name]) for name in ("value", "label", "index") if arguments.get(name) is not None]
    written = [
        (name, f"int({_text(each)})" if name == "index" and isinstance(each, str) else _text(each))
        for name, each in given
    ]
    return ", ".join(text if name == "value" else f"{name}={text}" for name, text in written)


def _fields(arguments: Arguments, page: str, _: Step) -> list[str] | None:
    lines = []
    fields = arguments.get("fields")
    for each in fields if isinstance(fields, list) else []:
        if not isinstance(each, dict) or not (isinstance(each["value"], str | bool) or _is_secret(each["value"])):
            return None
        value, found = each["value"], _locator(each.get("selector"), page)
        call = "select_option" if re.search(r"role(?:=|\(')(combobox|listbox)\b", found) else "fill"
        lines.append(f"{found}.set_checked({value})" if isinstance(value, bool) else f"{found}.{call}({_text(value)})")
    return [*lines, *([f"{_locator(arguments['submit'], page)}.click()"] if arguments.get("submit") else [])]


def _page_tool(arguments: Arguments, page: str, step: Step) -> list[str]:
    """Write the call of a tool that the page declares. A value that its schema does not want as a text is JSON."""
    properties = object_at(object_at(arguments, "schema"), "properties")
    given = {
        name: f"json.loads({_text(each)})"
        if isinstance(each, str) and any(placeholders(each)) and not wants_text(object_at(properties, name))
        else _text(each)
        for name, each in object_at(arguments, "arguments").items()
    }
    frame = arguments.get("frame")
    there = f"{_locator(frame, page)}.element_handle().content_frame()" if frame else page
    written = ", ".join(f"{name!r}: {value}" for name, value in given.items())
    called = f"{there}.webmcp.call_tool({_text(arguments.get('name'))}, {{{written}}})"
    return [f"outputs[{_text(step.output)}] = {called}" if step.output else called]


_WRITERS: Final[dict[str, Writer]] = {
    **{name: _on_element(partial(_pointed, name)) for name in _PLAIN},
    "goto": lambda arguments, page, _: [f"{page}.goto({_text(arguments.get('url'))})"],
    **{name: lambda _, page, __, call=call: [f"{page}.{call}"] for name, call in _OF_PAGE.items()},  # type: ignore[misc] # bound now
    "fill": _on_element(lambda arguments: f"fill({_text(arguments.get('value', arguments.get('text')))})"),
    "type": _by_keys("press_sequentially", "type", "text"),
    "select_option": _on_element(lambda arguments: f"select_option({_choice(arguments)})"),
    "fill_form": _fields,
    "press": _by_keys("press", "press", "key"),
    "call_page_tool": _page_tool,
    "handle_dialog": lambda _, __, ___: [],  # answered where the act before it asks
    "set_dialog_policy": lambda arguments, page, _: (
        [f"{page}.on('dialog', {_answer(arguments)})"] if arguments.get("policy") != "ask" else None
    ),
    "extract_text": lambda arguments, page, step: _read(
        step, _locator(arguments.get("selector"), page), "inner_text()"
    ),
    "extract_table": lambda arguments, page, step: _read(
        step, _locator(arguments.get("selector") or "table", page), f"evaluate({_CELLS!r})"
    ),
}


def _read(step: Step, locator: str, call: str) -> list[str]:
    return [f"outputs[{_text(step.output)}] = {locator}.first.{call}"]


def _named(name: str) -> str:
    """Return a name that Python takes, and that the code does not use itself."""
    is_free = name.isidentifier() and not keyword.iskeyword(name) and not _TAKEN.fullmatch(name)
    return name if is_free else f"flow_{name}"


def _text(value: object) -> str:
    """Write a value as Python: a text with parameters as an f-string, a secret as a variable of the environment."""
    if isinstance(value, dict) and _is_secret(value):
        return f"os.environ[{re.sub(r'[^A-Z0-9]', '_', str(value['secret']).upper())!r}]"
    if not isinstance(value, str) or not (names := [*placeholders(value)]):
        return repr(value)
    if value.strip("{} ") in names and value.startswith("{{") and value.count("{{") == 1 and value.endswith("}}"):
        return _named(names[0])
    escaped = value.replace("{", "{{").replace("}", "}}")
    for name in names:
        escaped = re.sub(rf"\{{{{4}} ?{name} ?\}}{{4}}", f"{{{_named(name)}}}", escaped)
    return f"f{escaped!r}"


def _escaped(text: str) -> str:
    return "".join(each if each.isalnum() or each in "/:_-" else f"\\{each}" for each in text)

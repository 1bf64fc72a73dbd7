"""The prompts: tasks that a person picks in the chat, and that a model gets as text."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, cast

from pydantic import JsonValue

from browse_together.contract.errors import ValidationFailed
from browse_together.contract.json_lines import strict
from browse_together.contract.model import Json
from browse_together.contract.similarity import nearest

Kind = Literal["string", "array", "object", "boolean", "number"]


class Argument(NamedTuple):
    """An argument. Hosts send all of them as text, so an array or an object comes as JSON."""

    name: str
    description: str
    kind: Kind = "string"
    required: bool = False
    default: JsonValue = None
    choices: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """Return every possible value of the argument, if they are few."""
        return self.choices or (("true", "false") if self.kind == "boolean" else ())


class Prompt(NamedTuple):
    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    write: Callable[[Json], str]
    needs: tuple[str, ...]
    """The tools that a model needs for the task."""

    def text(self, given: Mapping[str, str]) -> str:
        """Return the text for these arguments. Raises ValidationFailed, which names the wrong argument."""
        known = {argument.name: argument for argument in self.arguments}
        if unknown := [name for name in given if name not in known]:
            raise _invalid(self.name, unknown[0], f"is unknown; it takes {', '.join(known)}.")
        return self.write({name: _value(self, known[name], given.get(name)) for name in known})


def _scrape_website(given: Json) -> str:
    url, fields = (
        _text(given, "url"),
        "".join(
            f"- {_text(each, 'name')}: {_text(each, 'description')} (selector: {_text(each, 'selector')})\n"
            for each in _objects(given, "fields")
        ),
    )
    pagination = ""
    if _is_true(pages := given["pagination"]):
        pagination = f"""Also handle pagination:
- Next page selector: {_text(pages, "nextSelector")}
- Max pages: {_text(pages, "maxPages")}
"""
    return f"""I need to scrape data from {url}.

The data I need:
{fields}
Please:
1. Navigate to {url}
2. Wait for the page to load completely
3. Extract each field using the provided selectors
4. Format the results as JSON
5. Handle any errors gracefully

{pagination}"""


def _fill_form(given: Json) -> str:
    fields = "".join(
        f"- {_text(each, 'label')}: {_text(each, 'value')} "
        f"(type: {_text(each, 'type')}, selector: {_text(each, 'selector')})\n"
        for each in _objects(given, "fields")
    )
    sending = steps = ""
    if _is_true(submit := given["submit"]):
        sending = f"After filling, click the submit button: {_text(submit, 'selector')}\n"
        if _is_true(_value_at(submit, "waitForNavigation")):
            sending += "Wait for navigation after submit.\n"
        steps = "5. Submit the form\n6. Capture the result page\n"
    return f"""I need to fill out a form at {_text(given, "url")}.

Form fields:
{fields}
{sending}
Please:
1. Navigate to the form page
2. Wait for all form fields to be visible
3. Fill each field carefully
4. Verify the values were set correctly
{steps}"""


def _capture_screenshots(given: Json) -> str:
    what = "Viewport screenshot"
    if _is_true(given["fullPage"]):
        what = "Full page screenshot (scrolling)"
    elif _is_true(given["selector"]):
        what = f"Element screenshot: {_text(given, 'selector')}"
    size = wait = ""
    if _is_true(viewport := given["viewport"]):
        size = f"Viewport: {_text(viewport, 'width')}x{_text(viewport, 'height')}\n"
    if _is_true(until := given["waitFor"]):
        wait = f"Wait for: {_text(until, 'selector')} (timeout: {_text(until, 'timeout')}ms)\n"
    return f"""I need screenshots from {_text(given, "url")}.

Capture requirements:
- {what}

{size}
{wait}
Image format: {_text(given, "format")} (quality: {_text(given, "quality")})"""


def _is_true(value: JsonValue) -> bool:
    """Return whether a value is true in JavaScript, as an empty object is."""
    return bool(value) or isinstance(value, dict)


def _objects(arguments: Json, name: str) -> list[Json]:
    return cast("list[Json]", arguments[name])  # the argument's kind was checked


def _value_at(value: JsonValue, name: str) -> JsonValue:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: JsonValue, name: str) -> str:
    return _as_javascript(_value_at(value, name))


def _as_javascript(value: JsonValue) -> str:
    """Write a value as JavaScript does."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ",".join(map(_as_javascript, value))
    return "[object Object]" if isinstance(value, dict) else str(value)


SCRAPE_WEBSITE: Final = Prompt(
    "scrape_website",
    "Scrape a website",
    "Extract structured data from a website",
    (
        Argument("url", "URL to scrape", required=True),
        Argument("fields", "Fields to extract: JSON list of {name, description, selector}", "array", required=True),
        Argument("pagination", "Pagination settings: JSON object of nextSelector, maxPages", "object"),
    ),
    _scrape_website,
    ("goto", "extract_data"),
)

FILL_FORM: Final = Prompt(
    "fill_form",
    "Fill a form",
    "Automate form filling and submission",
    (
        Argument("url", "Form URL", required=True),
        Argument("fields", "Form fields to fill: JSON list of {label, value, type, selector}", "array", required=True),
        Argument("submit", "Submit button configuration: JSON object of selector, waitForNavigation", "object"),
    ),
    _fill_form,
    ("goto", "fill_form"),
)

CAPTURE_SCREENSHOTS: Final = Prompt(
    "capture_screenshots",
    "Capture screenshots",
    "Capture screenshots of pages or elements",
    (
        Argument("url", "URL to capture", required=True),
        Argument("fullPage", "The whole scrollable page: true or false", "boolean", default=False),
        Argument("selector", "Only this element"),
        Argument("format", "png or jpeg", default="png", choices=("png", "jpeg")),
        Argument("quality", "0 to 100", "number", default=80),
        Argument("viewport", "JSON object of width, height", "object"),
        Argument("waitFor", "What to wait for first: JSON object of selector, timeout (ms)", "object"),
    ),
    _capture_screenshots,
    ("goto", "screenshot"),
)

PROMPTS: Final = MappingProxyType({prompt.name: prompt for prompt in (SCRAPE_WEBSITE, FILL_FORM, CAPTURE_SCREENSHOTS)})


def named(name: str) -> Prompt:
    """Return the prompt with that name. Raises ValidationFailed."""
    if name not in PROMPTS:
        near = nearest(name, PROMPTS)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(PROMPTS)}."
        raise ValidationFailed(f"Prompt not found: {name}. {hint}", details={"availablePrompts": [*PROMPTS]})
    return PROMPTS[name]


def _value(prompt: Prompt, argument: Argument, given: str | None) -> JsonValue:
    if given is None or (not given.strip() and not argument.required):
        if argument.required:
            raise _invalid(prompt.name, argument.name, f"is missing: {argument.description}.")
        return argument.default
    if argument.choices and given not in argument.choices:
        raise _invalid(prompt.name, argument.name, f"must be one of {', '.join(argument.choices)}, not {given!r}.")
    return given if argument.kind == "string" else _parsed(prompt, argument, given)


def _parsed(prompt: Prompt, argument: Argument, given: str) -> JsonValue:
    try:
        value = cast("JsonValue", strict.loads(given.encode()))  # it parses nothing else
    except ValueError as error:
        raise _invalid(prompt.name, argument.name, f"must be {_KIND_WORDS[argument.kind]} as JSON: {error}") from None
    if not _IS_KIND[argument.kind](value):
        raise _invalid(prompt.name, argument.name, f"must be {_KIND_WORDS[argument.kind]}, not {given[:80]}")
    return value


_KIND_WORDS: Final = {
    "array": "a list of objects",
    "object": "an object",
    "boolean": "true or false",
    "number": "a number",
}
_IS_KIND: Final = {
    "array": lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    "object": lambda value: isinstance(value, dict),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


def _invalid(prompt: str, argument: str, problem: str) -> ValidationFailed:
    return ValidationFailed(f"{argument} of {prompt} {problem}", details={"prompt": prompt, "argument": argument})

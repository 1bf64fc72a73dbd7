"""Says what a page's JSON Schema has against values. The schema may be anything, so that nothing of it takes long."""

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import create
from referencing import Registry

from browse_together.contract.model import Json
from browse_together.contract.quoting import quoted

_Check: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]
"""How jsonschema checks a keyword: by a validator, the keyword's value, an instance, and the schema around, of which
all but the first may be any JSON."""

_WITHIN_S: Final = 0.1
"""CPU time, in which all calls of the service wait."""
_MOST_PATTERN: Final = 500
_COUNT: Final = re.compile(r"\{(\d+)")
_MOST_REPEATED: Final = 500_000
"""An expression is compiled with all that it counts, as often as it counts it, which nothing can interrupt."""
_UNCHECKED: Final = frozenset(
    {"$dynamicRef", "format", "pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties"}
) | {"uniqueItems"}
"""Keywords that take long in one step, as expressions and comparisons of all with all do, and `format`, of which each
library knows others."""


class _Slow(Exception):
    """Raised for a check that takes too long."""


def refusals(schema: Json, given: Json, most: int) -> list[str]:
    """Return what a schema has against arguments, at most so much."""
    plain = json.loads(json.dumps(schema), object_hook=_without_dialect)
    until = time.thread_time() + _WITHIN_S
    checks = {name: check for name, check in Draft202012Validator.VALIDATORS.items() if name not in _UNCHECKED}
    checks |= {"pattern": _pattern, "additionalProperties": _additional, "required": _required}
    bounded = create({}, {name: _bounded(check, until) for name, check in checks.items()})
    try:
        errors = bounded(plain, registry=Registry()).iter_errors(given)  # it fetches nothing
        return [_said(error) for error in islice(errors, most)]
    except (_Slow, TimeoutError):
        return ["its schema takes too long to check"]
    except Exception:  # noqa: BLE001 - of what a page calls a schema, anything may be anything
        return ["its schema cannot be checked"]


def _without_dialect(part: Json) -> Json:
    """Leave out the keyword for which the library takes other checks than ours."""
    return {name: value for name, value in part.items() if name != "$schema"}


def _bounded(check: _Check, until: float) -> _Check:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if time.thread_time() > until:
            raise _Slow
        yield from check(validator, value, instance, schema)

    return checked


def _pattern(_: Any, pattern: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, str) or len(pattern) > _MOST_PATTERN:
        return
    if len(pattern) * math.prod(map(int, _COUNT.findall(pattern))) > _MOST_REPEATED:
        return
    try:
        found = regex.compile(pattern, cache_pattern=False).search(instance, timeout=_WITHIN_S)
    except regex.error:  # JavaScript's, perhaps
        return
    if not found:
        yield ValidationError("")


def _additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if "patternProperties" not in schema:
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, value, instance, schema)


def _required(_: Any, names: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Tell which name is missing: the library's own errors tell it in a sentence alone."""
    if isinstance(instance, dict):
        yield from (ValidationError(name) for name in names if name not in instance)


def _said(error: ValidationError) -> str:
    where: list[str] = [str(part) for part in error.absolute_path]
    name, value = error.validator, cast("Any", error.validator_value)
    if name == "required":
        return f"{quoted('.'.join([*where, error.message]))} is required now"
    rule = f"{name} {quoted(json.dumps(value))}" if isinstance(name, str) else "the schema"
    return f"{quoted('.'.join(where)) if where else 'what is given'} does not fit {rule}"

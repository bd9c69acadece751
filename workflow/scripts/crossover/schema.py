"""The raw config against workflow/schemas/config.schema.yaml: normalised, filled, validated.

The schema decides everything here; a new key is an edit of the schema alone. jsonschema's own
messages ("-1 is less than the minimum of 1") name neither the key nor what is allowed, so its
errors are put into the words of the schema's titles and descriptions.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

from crossover.plugin import PACKAGE
from crossover.spelling import choices, dotted, is_finite, nearest, number, show, whole

FILE = PACKAGE.parents[1] / "schemas" / "config.schema.yaml"


class Problem(NamedTuple):
    """One thing that is wrong: the keys that lead to it, and the line that says so."""

    path: tuple[Any, ...]
    line: str


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The schema with every $ref replaced, so that each place has a title of its own."""
    import yaml

    whole_schema = yaml.load(
        FILE.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )

    def expand(part: Any) -> Any:
        if isinstance(part, list):
            return [expand(item) for item in part]
        if not isinstance(part, dict):
            return part
        own = {key: expand(item) for key, item in part.items() if key not in ("$ref", "$defs")}
        if "$ref" in part:
            return expand(whole_schema["$defs"][part["$ref"].rsplit("/", 1)[1]]) | own
        return own

    expanded: dict[str, Any] = expand(whole_schema)
    return expanded


def check(raw: Any) -> tuple[Any, list[Problem]]:
    """The config in one spelling with its defaults filled in, and all that the schema refuses.

    `raw` itself is not changed.
    """
    problems: list[Problem] = []
    value = _normal(schema(), raw, (), problems)
    for error in sorted(_validator().iter_errors(value), key=lambda one: _place(one, value)):
        problems.extend(_explain(error, {problem.path for problem in problems}))
    return value, problems


def _place(error: Any, value: Any) -> list[int]:
    """Where in the config it is, to tell errors in the order in which one reads: jsonschema's own
    goes by sets of keys, and is another one each time."""
    found = []
    for key in error.absolute_path:
        found.append(key if isinstance(key, int) else list(value).index(key))
        value = value[key]
    return found


class Odd:
    """A stand-in, for jsonschema, of a value that is no plain text or number where one is due.

    jsonschema prints what it refuses, in full: a few YAML aliases of aliases have billions of
    characters, and Python refuses to print an int of 5,000 digits.
    """

    def __init__(self, value: Any) -> None:
        self.words = show(value)

    def __repr__(self) -> str:
        return self.words


def _normal(
    rule: dict[str, Any], value: Any, path: tuple[Any, ...], problems: list[Problem]
) -> Any:
    """The one spelling of a value; what cannot be read stays, or is an Odd, and is refused."""
    if "anyOf" in rule:
        for option in rule["anyOf"]:
            value = _normal(option, value, path, problems)
        return value
    kind = rule.get("type")
    if kind == "array":
        return _normal_list(rule, value, path, problems)
    if kind == "object":
        # `numpy:` with nothing behind it, or with comments only, is an empty mapping.
        value = {} if value is None and path else value
        if isinstance(value, Mapping):
            return _normal_map(rule, value, path, problems)
    elif kind in ("integer", "number"):
        value = whole(value) if kind == "integer" else number(value)
    if value is None or isinstance(value, str | float | Odd):
        return value
    return value if isinstance(value, int) and abs(value) < 10**100 else Odd(value)


def _normal_list(
    rule: dict[str, Any], value: Any, path: tuple[Any, ...], problems: list[Problem]
) -> Any:
    """One value is a list of one, '1000,2000' (from `--config`) a list of two; each item once."""
    if isinstance(value, str) and "," in value:
        value = [part.strip() for part in value.split(",")]
    items = list(value) if isinstance(value, list | tuple) else [value]
    items = [_normal(rule["items"], item, path, problems) for item in items]
    if all(type(item) is int for item in items):  # not isinstance: True is no 1
        return sorted(set(items))
    if all(isinstance(item, str) for item in items):
        return list(dict.fromkeys(items))
    return items


def _normal_map(
    rule: dict[str, Any], value: Mapping[Any, Any], path: tuple[Any, ...], problems: list[Problem]
) -> dict[str, Any]:
    """A mapping with texts as keys only, each value normalised, and the defaults filled in."""
    known = rule.get("properties", {})
    rest = rule.get("additionalProperties")
    found = {}
    for key, item in value.items():
        if not isinstance(key, str):
            where = f"{dotted(path)}: " if path else ""
            problems.append(
                Problem(
                    path,
                    f"{where}the key {show(key)} is not a text (YAML reads no, on, null, 1 as "
                    "something else); quote it, such as 'no'",
                )
            )
        elif key in known:
            found[key] = _normal(known[key], item, (*path, key), problems)
        elif isinstance(rest, dict):
            found[key] = _normal(rest, item, (*path, key), problems)
        else:
            found[key] = None  # an unknown key, whatever it holds
    for key, part in known.items():
        if key not in found and "default" in part:
            found[key] = _normal(part, deepcopy(part["default"]), (*path, key), problems)
    return found


def _validator() -> Any:
    # Imported here: it costs 0.1 s, which whoever imports only the dataclasses need not pay.
    from jsonschema import validators

    def is_int(_: Any, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def is_number(_: Any, value: Any) -> bool:
        return is_finite(value)

    draft: Any = validators.Draft202012Validator
    extend: Any = validators.extend
    types = draft.TYPE_CHECKER.redefine("integer", is_int)
    types = types.redefine("number", is_number)
    return extend(draft, type_checker=types)(schema())


def _explain(error: Any, known_bad: set[tuple[Any, ...]]) -> Iterator[Problem]:
    """One error of jsonschema in plain words, as no, one or (unknown keys) several lines.

    `known_bad` are the paths that have a line already: what follows from that is not said again.
    """
    path = tuple(key for key in error.absolute_path if not isinstance(key, int))
    at = f"{dotted(path)}: " if path else ""
    rule, value = error.schema, error.instance
    match error.validator:
        case "additionalProperties":
            for key in value:
                if key not in rule["properties"]:
                    line = (
                        f"{dotted((*path, key))}: unknown key; {choices(key, rule['properties'])}"
                    )
                    yield Problem((*path, key), line)
        case "required":
            for key in error.validator_value:
                mistyped = any(nearest(other, [key]) for other in value)
                if key not in value and (*path, key) not in known_bad and not mistyped:
                    words = rule["properties"][key]["description"]
                    yield Problem((*path, key), f"{dotted((*path, key))}: missing; {words}")
        case "minItems" | "minProperties":
            if path not in known_bad:
                yield Problem(path, f"{at}is empty; {rule['description']}")
        case "enum":
            allowed = choices(value, error.validator_value)
            yield Problem(path, f"{at}{show(value)} is not {rule['title']}; {allowed}")
        case validator:
            if "propertyNames" in error.absolute_schema_path:
                path = (*path, value)
            limit = f", and at most {error.validator_value}" if validator == "maximum" else ""
            line = f"{at}{show(value)} is not {rule['title']}; {rule['description']}{limit}"
            yield Problem(path, line)

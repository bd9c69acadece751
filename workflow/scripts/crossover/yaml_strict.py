"""YAML without its guesses. Each of them would change what is measured, silently:

a key given twice keeps the last value, `010` is 8, `1:30` is 90, `no` as a name is false.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from crossover.spelling import dotted, show

INT, FLOAT, STR = (f"tag:yaml.org,2002:{name}" for name in ("int", "float", "str"))
TIMESTAMP, MERGE = "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:merge"
DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9_]*)")


class ConfigError(Exception):
    """Everything that is wrong with a config; `lines` holds one complete line for each problem."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class StrictLoader(yaml.SafeLoader):
    """A SafeLoader that finds the spellings that YAML would guess about."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.walked: set[int] = set()

    def strict(self) -> tuple[Any, list[str]]:
        """The document and the lines about it; the document is None where there are any."""
        node = self.get_single_node()
        if node is None:
            return None, ["is empty; it needs at least the keys workloads and backends"]
        lines = list(self._problems(node, (), frozenset()))
        return (None, lines) if lines else (self.construct_document(node), [])

    def _problems(self, node: Any, path: tuple[str, ...], above: frozenset[int]) -> Iterator[str]:
        if id(node) in above:
            yield f"{_line(node)}: {_at(path)}the alias contains itself"
        elif id(node) in self.walked:
            return  # an alias; a few of aliases of aliases stand for billions of nodes
        elif isinstance(node, yaml.MappingNode):
            yield from self._key_problems(node, path)
            for key, value in node.value:
                step = key.value if isinstance(key, yaml.ScalarNode) else "?"
                yield from self._problems(value, (*path, step), above | {id(node)})
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from self._problems(item, path, above | {id(node)})
        else:
            yield from self._spelling_problems(node, path)
        self.walked.add(id(node))

    def _key_problems(self, node: Any, path: tuple[str, ...]) -> Iterator[str]:
        first: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield f"{_line(key)}: {_at(path)}a list or mapping cannot be a key"
            elif key.tag not in (STR, MERGE):
                kind = key.tag.rsplit(":", 1)[-1]
                quoted = f"quote it: {key.value!r}" if key.value else "give it a name"
                yield f"{_line(key)}: {_at(path)}YAML reads the key {key.value} as {kind}; {quoted}"
            elif key.value in first:
                yield (
                    f"{_line(key)}: {dotted((*path, key.value))}: key given twice, in lines "
                    f"{first[key.value]} and {key.start_mark.line + 1}; keep one"
                )
            else:
                first[key.value] = key.start_mark.line + 1

    def _spelling_problems(self, node: Any, path: tuple[str, ...]) -> Iterator[str]:
        at, text = f"{_line(node)}: {_at(path)}", node.value
        if node.tag == TIMESTAMP and node.style is None:
            yield f"{at}YAML reads {show(text)} as a date; quote it: {text!r}"
        elif node.tag == FLOAT and ":" in text:
            yield f"{at}YAML reads {show(text)} in base 60; write a decimal number"
        elif node.tag == INT and not DECIMAL.fullmatch(text):
            try:
                meant = show(self.construct_yaml_int(node))
            except ValueError:  # only with a tag, as in `!!int abc`
                yield f"{at}{show(text)} is not a whole number"
                return
            # Whoever writes 010 may as well have meant 10.
            plain, sign = text.lstrip("+-0_"), "-" if text.startswith("-") else ""
            other = f" or {sign}{plain}" if plain and text.lstrip("+-").isdigit() else ""
            yield f"{at}YAML reads {text} as {meant} ({_base(text)}); write {meant}{other}"


def _base(text: str) -> str:
    digits = text.lstrip("+-").lower()
    if ":" in digits:
        return "base 60"
    return {"0x": "hexadecimal", "0b": "binary"}.get(digits[:2], "octal")


def _line(node: Any) -> str:
    return f"line {node.start_mark.line + 1}"


def _at(path: tuple[str, ...]) -> str:
    return f"{dotted(path)}: " if path else ""


def read_yaml(path: Path | str) -> dict[Any, Any]:
    """The mapping in a YAML file, read strictly; raises ConfigError, a line for each problem."""
    try:
        found, lines = _read(Path(path))
    except OSError as error:
        reason = {FileNotFoundError: "not there", IsADirectoryError: "a folder, not a YAML file"}
        found, lines = None, [reason.get(type(error), f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError as error:
        found, lines = None, [f"not UTF-8 text (byte {error.start + 1}); save it as UTF-8"]
    except ValueError:  # a zero byte
        found, lines = None, ["not a path"]
    if not lines and not isinstance(found, dict):
        kind = "a list" if isinstance(found, list) else "one value" if found is not None else "null"
        lines = [f"holds {kind}, not keys with values such as 'rounds: 3'"]
    if lines:
        raise ConfigError([f"{path}: {line}" for line in lines])
    assert isinstance(found, dict)
    return found


def _read(path: Path) -> tuple[Any, list[str]]:
    text = path.read_text(encoding="utf-8")
    try:
        loader = StrictLoader(text)
        try:
            return loader.strict()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        words = ", ".join(part for part in (error.problem, error.context) if part)
        return None, [f"{where}not YAML: {' '.join(words.split())}"]
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        return None, [f"line {line}: not YAML: {error.reason} (character {error.character:#x})"]
    except RecursionError:
        return None, ["not a config: nested too deeply"]
    except ValueError as error:  # a value that does not fit its tag, such as `!!int abc`
        return None, [f"not YAML: {' '.join(str(error).split())}"]

"""Workloads and backends are single files, ours and the user's alike.

Planning must not import what they import (torch takes seconds), so the constants that planning
needs are read from the source text; only the process that measures executes the file.
"""

import ast
import errno
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

COMPUTED = object()
PACKAGE = Path(__file__).resolve().parent


def builtin(kind: str) -> dict[str, Path]:
    """The files that ship with Crossover, by name; `kind` is 'workloads' or 'backends'."""
    return {
        path.stem: path
        for path in sorted((PACKAGE / kind).glob("*.py"))
        if not path.stem.startswith("_")
    }


def shipped_name(kind: str, path: Path) -> str:
    """The name of a file that ships with Crossover, '' of any other one."""
    return path.stem if builtin(kind).get(path.stem) == path.resolve() else ""


def declared(path: Path) -> dict[str, Any]:
    """The UPPER_CASE constants of a file's top level, COMPUTED where they are no plain literal.

    Raises OSError where the file cannot be read and SyntaxError where it is not Python.
    """
    constants = {}
    for node in _parsed(path).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name.isupper():
            constants[name] = COMPUTED
            with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                constants[name] = ast.literal_eval(value)
    return constants


def functions(path: Path) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """The functions and classes that a file defines at its top level, by name; raises as
    `declared`."""
    body = _parsed(path).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _parsed(path: Path) -> ast.Module:
    if path.exists() and not path.is_dir() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no plain file")  # a pipe would be waited for
    return ast.parse(path.read_bytes(), filename=str(path))


def load(path: Path) -> ModuleType:
    """Execute a workload or backend file and return it as a module.

    From its source each time: Python's own cache goes by date and length, so that of two edits in
    one second it could miss the second.
    """
    module = ModuleType(f"crossover_plugin_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickles look their module up
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module

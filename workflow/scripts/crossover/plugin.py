"""Workloads and backends are single files, ours and the user's alike.

Planning must not import what they import (torch takes seconds), so the constants that planning
needs are read from the source text; only the process that measures executes the file.
"""

import ast
import importlib.util
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
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    constants = {}
    for node in tree.body:
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


def functions(path: Path) -> set[str]:
    """The names of the functions and classes that a file defines at its top level."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def load(path: Path) -> ModuleType:
    """Execute a workload or backend file and return it as a module."""
    spec = importlib.util.spec_from_file_location(f"crossover_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickles look their module up
    spec.loader.exec_module(module)
    return module

"""Workloads and backends are single files, ours and the user's alike.

Planning must not import what they import (torch takes seconds), so the constants that planning
needs are read from the source text; only the process that measures executes the file.
"""

import ast
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).resolve().parent


def builtin(kind: str) -> dict[str, Path]:
    """The files that ship with Crossover, by name; `kind` is 'workloads' or 'backends'."""
    return {
        path.stem: path
        for path in sorted((PACKAGE / kind).glob("*.py"))
        if not path.stem.startswith("_")
    }


def declared(path: Path) -> dict[str, Any]:
    """The UPPER_CASE constants that a file assigns a plain literal at its top level.

    Raises OSError where the file cannot be read and SyntaxError where it is not Python.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    constants = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id.isupper():
                try:
                    constants[target.id] = ast.literal_eval(node.value)
                except ValueError:
                    continue  # computed, so for the file's own use
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
    spec.loader.exec_module(module)
    return module

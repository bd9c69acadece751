"""Everything public of the library says what it is: a docstring, unless it is plain without one.

Plain without one is

- a function of one statement whose parameters and result have types: its name and types say it all;
- in a file of backends/ or workloads/, what the interface beside it documents for all of them
  (`Host` and `Events`; the list at the top of workloads/__init__.py).
"""

import ast
from collections.abc import Iterator

import pytest

from conftest import ROOT
from crossover import workloads
from crossover.backends import Host
from crossover.clock import Events

SCRIPTS = ROOT / "workflow/scripts"
FILES = sorted(SCRIPTS.rglob("*.py"))
# What the interfaces have, each of which this test looks at where it is defined.
INTERFACE = {
    "backends": {*vars(Host), *vars(Events), "Backend"},
    "workloads": {*workloads.TAKES, "compute"},
}
Definition = ast.FunctionDef | ast.ClassDef


def public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """The definitions that others may use, those in classes too, by their names with dots."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{prefix}{node.name}.")


def is_plain(node: Definition) -> bool:
    """By the rule above."""
    if isinstance(node, ast.ClassDef) or len(node.body) > 1 or hasattr(node.body[0], "body"):
        return False
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    typed = all(one.annotation or one.arg in ("self", "cls") for one in arguments)
    return typed and node.returns is not None


def silent(code: str, folder: str = "") -> list[str]:
    """The public names of a source that need a docstring and have none."""
    tree = ast.parse(code)
    return ([] if ast.get_docstring(tree) else ["the file"]) + [
        name
        for name, node in public(tree.body)
        if not (ast.get_docstring(node) or is_plain(node))
        and node.name not in INTERFACE.get(folder, ())
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SCRIPTS)))
def test_everything_public_says_what_it_is(path):
    folder = "" if path.name == "__init__.py" else path.parent.name
    assert silent(path.read_text(), folder) == []


@pytest.mark.parametrize("interface", [Host, Events], ids=lambda one: one.__name__)
def test_an_interface_says_it_for_every_backend(interface):
    for name, member in vars(interface).items():
        assert name.startswith("_") or not callable(member) or member.__doc__, name


def test_what_says_nothing_is_seen():
    code = """
def a(x: int) -> int:
    return x
def b(x):
    return x
def c(x: int) -> int:
    y = x
    return y
def d(x: int) -> int:
    for _ in range(x):
        return x
def _d(x):
    return x
class E:
    x: int
    def f(self, *, x) -> int:
        return x
def compute(x):
    return x
"""
    assert silent(code) == ["the file", "b", "c", "d", "E", "E.f", "compute"]
    assert silent(code, "workloads") == ["the file", "b", "c", "d", "E", "E.f"]

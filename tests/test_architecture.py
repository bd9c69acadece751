"""docs/architecture.md against the imports of the code, read as text: nothing is run."""

import ast
import re
from functools import cache

import pytest

from conftest import ROOT

SCRIPTS = ROOT / "workflow/scripts"
PAGE = (ROOT / "docs/architecture.md").read_text()
ARROW = re.compile(r"^ +(\w+) --> (\w+)$", re.MULTILINE)
NAMES = re.compile(r"`(\w+)/?`")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first heading is this."""
    _, table = PAGE.split(f"| {heading} |")
    lines = table.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def drawn() -> set[tuple[str, str]]:
    return set(ARROW.findall(PAGE))


def parts() -> dict[str, str]:
    """By module (a folder is one), the part that it belongs to."""
    named = [(module, part) for part, _, files in rows("part") for module in NAMES.findall(files)]
    assert len(dict(named)) == len(named), "a file in two parts"
    return dict(named)


def scripts() -> dict[str, str]:
    """By script, the part that it calls."""
    lines = rows("scripts, in the order of the data")
    return {name: part for names, _, part, _ in lines for name in NAMES.findall(names)}


def reachable(arrows: set[tuple[str, str]], start: str) -> set[str]:
    """What may be imported from a part: its own, and what arrows lead to."""
    found, new = set(), {start}
    while new:
        found |= new
        new = {to for origin, to in arrows if origin in found} - found
    return found


def modules(code: str) -> set[str]:
    """The library's modules that a source imports, at its top or in a function; a folder is one."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are written in full"
            above, *below = str(node.module).split(".")
            names = below[:1] or [name.name for name in node.names]
        elif isinstance(node, ast.Import):
            above, names = (
                "crossover",
                [
                    alias.name.split(".")[1]
                    for alias in node.names
                    if alias.name.startswith("crossover.")
                ],
            )
        else:
            continue
        found |= set(names) - {"__version__"} if above == "crossover" else set()
    return found


@cache
def library() -> dict[str, set[str]]:
    """By module of the library, what it imports from the library; a folder is one module."""
    found: dict[str, set[str]] = {}
    for path in sorted(SCRIPTS.glob("crossover/**/*.py")):
        name = path.relative_to(SCRIPTS / "crossover").parts[0].removesuffix(".py")
        if name != "__init__":
            found.setdefault(name, set()).update(modules(path.read_text()) - {name})
    return found


def wrong(imports: dict[str, set[str]], part_of: dict[str, str], arrows) -> list[str]:
    """The imports that no arrow allows, in words."""
    return [
        f"{module} ({part_of[module]}) imports {other} ({part_of[other]})"
        for module, others in imports.items()
        for other in sorted(others)
        if part_of[other] not in reachable(arrows, part_of[module])
    ]


def needed(imports: dict[str, set[str]], part_of: dict[str, str]) -> set[tuple[str, str]]:
    """The fewest arrows that allow every import: no arrow where others lead there anyway."""
    direct = {
        (part_of[module], part_of[other])
        for module, others in imports.items()
        for other in others
        if part_of[module] != part_of[other]
    }
    return {one for one in direct if one[1] not in reachable(direct - {one}, one[0])}


def test_every_file_is_in_one_part():
    assert set(parts()) == set(library())


def test_nothing_is_imported_that_no_arrow_allows():
    assert wrong(library(), parts(), drawn()) == []


def test_the_arrows_are_the_fewest_that_allow_what_is_imported():
    assert drawn() == needed(library(), parts())


def test_no_arrow_leads_back():
    for part in parts().values():
        assert all(part not in reachable(drawn(), to) for origin, to in drawn() if origin == part)


def test_every_script_calls_the_part_that_the_page_says():
    assert set(scripts()) == {path.stem for path in SCRIPTS.glob("*.py")}
    part_of, arrows = parts(), drawn()
    for name, part in scripts().items():
        called = {part_of[module] for module in modules((SCRIPTS / f"{name}.py").read_text())}
        assert part in called <= reachable(arrows, part), name


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("record", "from crossover import config"),
        ("measurement", "from crossover.verdict import lines"),
        ("child", "def later():\n    from crossover import charts"),
        ("summary", "import crossover.measurement"),
        ("workloads", "from crossover.backends import Host"),
        ("doctor", "from crossover import closing, status"),
    ],
)
def test_a_wrong_import_is_seen(module, code):
    (line,) = wrong(library() | {module: modules(code)}, parts(), drawn())
    assert line.startswith(f"{module} (")


def test_an_arrow_that_nothing_stands_behind_is_seen():
    without = {name: others - {"raster"} for name, others in library().items()}
    assert drawn() - needed(without, parts()) == {("measuring", "drawing")}

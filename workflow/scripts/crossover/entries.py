"""The workloads and backends of a config, each with its file, as frozen values.

Whether a device, an option or a dtype makes sense is written in the file that defines the workload
or backend; it is read there as text, and nothing is imported.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from crossover import plugin
from crossover.schema import Problem
from crossover.spelling import choices, dotted, show
from crossover.workloads import COMPUTE_TAKES, REGIMES, TAKES

# What such a file must define: the form is described in workloads/ and backends/ of this package.
WORKLOAD = ("inputs", "compute")
BACKEND = ("Backend",)
PICTURES = (".png", ".svg")  # which lie beside the workloads' folders
LARGEST_FILE = 1_000_000  # bytes: Snakemake does not see what was edited in larger ones
# Names are wildcards of Snakemake's, which takes such an end for a rule that never ends.
REPEATED_END = re.compile(r"(.{1,5})\1{19}$")


@dataclass(frozen=True)
class Workload:
    """What is computed, and for which sizes (ascending, each once) and dtypes. `added` are more
    sizes by dtype, from refine.yaml."""

    name: str
    file: Path
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]
    added: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def sizes_in(self, dtype: str) -> tuple[int, ...]:
        """All that are measured in this dtype."""
        return tuple(sorted({*self.sizes, *dict(self.added).get(dtype, ())}))

    @cached_property
    def is_curve(self) -> bool:
        """Whether its output is x and y of a curve, which is drawn."""
        return bool(plugin.declared(self.file).get("CURVE"))

    @cached_property
    def regime(self) -> str:
        """Which kind of work it is, one of REGIMES; '' where its file does not say."""
        return str(plugin.declared(self.file).get("REGIME", ""))


@dataclass(frozen=True)
class Backend:
    """How it is computed: a library's file, a device, threads (None: all), options by name, and
    whether freed memory goes back to the system (`fresh`) or is used again (`recycled`). `baseline`
    is one of its own to compare it with, where it has one; `price_per_hour` what its machine costs,
    where that is known.

    On a cluster: what its jobs ask for, and whether a host backend shares a device's node."""

    name: str
    library: str
    file: Path
    device: str
    threads: int | None
    memory: str
    options: tuple[tuple[str, Any], ...]
    baseline: str | None = None
    node: str = "same"
    resources: tuple[tuple[str, Any], ...] = ()
    price_per_hour: float | None = None


def _entries(
    values: dict[str, Any], kind: str, problems: list[Problem]
) -> Iterator[tuple[str, dict[str, Any], set[Any]]]:
    """Name, entry and keys with a problem, for each workload or backend that is worth a look.

    An entry that is refused as a whole is left out: more lines about it would mislead.
    """
    entries = values.get(kind)
    if not isinstance(entries, dict):
        return
    bad = {problem.path for problem in problems}
    by_folded: dict[str, str] = {}
    for name, entry in entries.items():
        twin = by_folded.setdefault(name.casefold(), name)
        if twin != name:
            line = f"{kind}: {twin!r} and {name!r} differ only in case; not every disk can tell"
            problems.append(Problem((kind, name), f"{line} such folders apart, so rename one"))
        elif (kind, name) in bad:
            continue
        elif repeated := REPEATED_END.search(name):
            line = f"{kind}: {show(name)} ends in {repeated[1]!r} 20 times or more, "
            line += "which Snakemake takes for a loop; any other end will do"
            problems.append(Problem((kind, name), line))
        else:
            yield name, entry, {path[2] for path in bad if path[:2] == (kind, name)}


def resolve_workloads(
    values: dict[str, Any], base: Path, problems: list[Problem]
) -> dict[str, Workload]:
    """The workloads without problems; the problems of the others are appended."""
    found = {}
    for name, entry, bad in _entries(values, "workloads", problems):
        at = ("workloads", name)
        if not bad <= {"sizes", "dtypes"}:
            continue  # with a mistyped key, it is not known which others are missing
        # The top-level sizes come from the command line, for a try of everything at other sizes.
        sizes = values.get("sizes", entry.get("sizes"))
        if sizes is None:
            words = "sizes are whole numbers of at least 1, such as 1000 or 1e6"
            problems.append(Problem(at, f"{dotted((*at, 'sizes'))}: missing; {words}"))
        ours = plugin.builtin("workloads")
        if "file" not in entry and name not in ours:
            line = f"{dotted(at)}: unknown workload; {choices(name, ours)}"
            problems.append(Problem(at, f"{line}; one of your own needs the key file"))
            continue
        if taken := _taken(name, entry, ours):
            problems.append(Problem(at, f"{dotted(at)}: {taken}"))
            continue
        file = _path(base, entry["file"]) if "file" in entry else ours[name]
        constants = _constants(file, WORKLOAD, at, entry, problems)
        if constants is None or bad:
            continue
        able = _names(constants, "DTYPES", file, at, problems)
        if (regime := constants.get("REGIME", "")) not in ("", *REGIMES):
            line = f"{dotted(at)}: REGIME in {file.name}: {show(regime)} is no kind of work; "
            problems.append(Problem(at, line + choices(regime, REGIMES)))
        dtypes = _dtypes(values, entry, able, at, problems)
        found[name] = Workload(name, file, tuple(sizes or ()), tuple(dtypes))
    return found


def _taken(name: str, entry: dict[str, Any], ours: dict[str, Path]) -> str:
    """Why a workload cannot have that name, '' where it can."""
    if "file" in entry and name.casefold() in ours:
        return "the name is taken by a workload that ships with Crossover; any other name"
    if name.casefold().endswith(PICTURES):
        return "the name is taken by a picture in results/; any that does not end in .png or .svg"
    return ""


def _dtypes(
    values: dict[str, Any],
    entry: dict[str, Any],
    able: tuple[str, ...] | None,
    at: tuple[str, str],
    problems: list[Problem],
) -> list[str]:
    """The dtypes to measure: what the entry names, or what it can do of the top-level ones."""
    asked: list[str] = entry.get("dtypes", values["dtypes"])
    if able is None:
        return asked
    can = [dtype for dtype in asked if dtype in able]
    path = (*at, "dtypes")
    words = f"{at[1]} can do: {', '.join(able) or 'none'}"
    if "dtypes" in entry:
        for dtype in asked:
            if dtype not in able:
                problems.append(
                    Problem(path, f"{dotted(path)}: {show(dtype)} is not possible; {words}")
                )
    elif not can and ("dtypes",) not in {problem.path for problem in problems}:
        line = f"{dotted(path)}: missing, and the top-level dtypes ({', '.join(asked)}) do not fit"
        problems.append(Problem(path, f"{line}; {words}"))
    return can


def resolve_backends(
    values: dict[str, Any], base: Path, problems: list[Problem]
) -> dict[str, Backend]:
    """The backends without problems; the problems of the others are appended."""
    found = {}
    for name, entry, bad in _entries(values, "backends", problems):
        at = ("backends", name)
        ours = plugin.builtin("backends")
        if not bad <= {
            *("device", "threads", "memory", "options"),
            *("baseline", "node", "resources", "price_per_hour"),
        }:
            continue  # with a mistyped key, it is not known which others are missing
        if "file" in entry:
            file = _path(base, entry["file"])
            library = entry.get("library", file.stem)
        else:
            library = entry.get("library", name)
            if library not in ours:
                given = "library" in entry
                path = dotted((*at, "library") if given else at)
                which = "" if given else " (the entry's own name, as it has no key library)"
                line = f"{path}: unknown library {show(library)}{which}; "
                line += f"{choices(library, ours)}; one of your own needs the key file"
                problems.append(Problem(at, line))
                continue
            file = ours[library]
        constants = _constants(file, BACKEND, at, entry, problems)
        if constants is None or bad:
            continue
        _names(constants, "LIBRARIES", file, at, problems)
        problems += _device_problems(entry["device"], constants, file, at)
        problems += _option_problems(entry["options"], constants, file, at)
        threads = entry.get("threads", values["threads"])
        found[name] = Backend(
            name=name,
            library=library,
            file=file,
            device=entry["device"],
            threads=None if threads == "all" else threads,
            memory=entry["memory"],
            options=tuple(sorted(entry["options"].items())),
            baseline=entry.get("baseline"),
            node=entry["node"],
            resources=tuple(sorted(entry["resources"].items())),
            price_per_hour=entry.get("price_per_hour", values.get("price_per_hour")),
        )
    return found


def _device_problems(
    device: str, constants: dict[str, Any], file: Path, at: tuple[str, str]
) -> list[Problem]:
    problems: list[Problem] = []
    kinds = _names(constants, "DEVICES", file, at, problems)
    kinds = ("cpu",) if kinds is None else kinds
    kind, _, index = device.partition(":")
    if not problems and kind not in kinds:
        line = f"{dotted((*at, 'device'))}: {show(device)} is no device of {file.name}; "
        line += choices(kind, kinds, "Kinds of device there")
        problems.append(Problem(at, f"{line}; one of several is written as cuda:1"))
    elif not problems and kind == "cpu" and index:
        line = (
            f"{dotted((*at, 'device'))}: {show(device)}: there is one cpu, written without a number"
        )
        problems.append(Problem(at, line))
    return problems


def _option_problems(
    options: dict[str, Any], constants: dict[str, Any], file: Path, at: tuple[str, str]
) -> list[Problem]:
    problems: list[Problem] = []
    known = _names(constants, "OPTIONS", file, at, problems) or ()
    for key in options if not problems else ():
        if key not in known:
            line = f"{dotted((*at, 'options', key))}: unknown option; "
            problems.append(Problem(at, line + choices(key, known, f"Known to {file.name}")))
    if not problems and isinstance(constants["OPTIONS"] if options else None, dict):
        problems += _value_problems(options, constants["OPTIONS"], file, at)
    return problems


def _value_problems(
    options: dict[str, Any], allowed: dict[str, Any], file: Path, at: tuple[str, str]
) -> Iterator[Problem]:
    """Of options whose file has a tuple of the values that they may have."""
    for key, value in options.items():
        values = allowed[key]
        if not isinstance(values, tuple | list):
            continue
        if not any(value == one and type(value) is type(one) for one in values):
            line = f"{dotted((*at, 'options', key))}: {show(value)} is not possible; "
            words = [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
            yield Problem(at, line + choices(value, words, f"Known to {file.name}"))


def _path(base: Path, file: str) -> Path:
    return (base / file).absolute()


def _constants(
    file: Path,
    needed: tuple[str, ...],
    at: tuple[str, str],
    entry: dict[str, Any],
    problems: list[Problem],
) -> dict[str, Any] | None:
    """The constants that a workload or backend file declares; None, and a line, where it is bad."""
    path = dotted((*at, "file") if "file" in entry else at)
    if {"{", "}"} & set(entry.get("file", "")):
        words = "has { or } in its path, where Snakemake reads wildcards; rename it"
        problems.append(Problem(at, f"{path}: {show(str(file))} {words}"))
        return None
    try:
        if not (words := _lacks(file, needed)):
            return plugin.declared(file)
    except FileNotFoundError:
        words = "is not there"
    except IsADirectoryError:
        words = "is a folder, not a Python file"
    except OSError as error:
        words = f"cannot be read: {error.strerror}"
    except SyntaxError as error:
        words = f"is not Python: line {error.lineno or 1}: {' '.join(str(error.msg).split())}"
    except (ValueError, RecursionError, MemoryError) as error:  # zero bytes, not UTF-8, a bomb
        words = f"is not Python: {' '.join(str(error).split())}"
    problems.append(Problem(at, f"{path}: {show(str(file))} {words}"))
    return None


def _lacks(file: Path, needed: tuple[str, ...]) -> str:
    """Why a file is none that can be measured, '' where it is one; raises as plugin.declared."""
    there = plugin.functions(file)
    kind, kinds = ("class", ast.stmt) if needed == BACKEND else ("function", ast.FunctionDef)
    if missing := [name for name in needed if not isinstance(there.get(name), kinds)]:
        return f"has no {kind} {', '.join(missing)}"
    if file.stat().st_size > LARGEST_FILE:
        return f"has more than {LARGEST_FILE:,} bytes; data can be in files that it reads"
    return "; ".join(_cannot_be_called(there)) if needed == WORKLOAD else ""


def _cannot_be_called(there: Mapping[str, ast.FunctionDef | ast.ClassDef]) -> Iterator[str]:
    """What functions of a workload ask for that nobody gives them. A decorator may."""
    for name, known in {**TAKES, "compute": COMPUTE_TAKES}.items():
        node = there.get(name)
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            continue
        given = node.args
        places = [*given.posonlyargs, *given.args]
        asked = places[: len(places) - len(given.defaults)] if name != "compute" else []
        asked += [a for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is None]
        if unknown := [each.arg for each in asked if each.arg not in known]:
            words = f"line {node.lineno}: {name} asks for {', '.join(unknown)}, but can have"
            yield f"{words} {', '.join(known)}" + (" by name" if name == "compute" else "")


def _names(
    constants: dict[str, Any], key: str, file: Path, at: tuple[str, str], problems: list[Problem]
) -> tuple[str, ...] | None:
    """A constant that is a tuple of names (or a dict by name); None where the file has none."""
    if key not in constants:
        return None
    names = constants[key]
    if isinstance(names, tuple | list | dict) and all(isinstance(name, str) for name in names):
        return tuple(names)
    line = f"{dotted(at)}: {key} in {file.name} is not a tuple of names, such as ('cpu', 'cuda')"
    problems.append(Problem(at, line))
    return None

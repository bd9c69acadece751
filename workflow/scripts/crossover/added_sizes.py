"""refine.yaml: the sizes that `make refine` added to a config's own, by workload and dtype.

It lies beside the summary, is read with the config by every run, and leaves the config's own file
as it is. A workload or dtype that is not in the config any more is passed over.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crossover import record
from crossover.schema import schema
from crossover.spelling import LARGEST, choices, dotted, show, whole
from crossover.yaml_strict import ConfigError, read_yaml

NAME = "refine.yaml"
CURE = "'make refine' made this file, so remove it to do without those sizes"

Added = Mapping[str, Mapping[str, Sequence[int]]]  # workload -> dtype -> sizes

HEAD = """\
# Sizes that `make refine` added where a backend begins, or ceases, to be faster (break_even.csv).
# Every run of this config measures them beside the sizes in its own file, which stays as it is.
# To undo: remove this file, or `make refine UNDO=1`. What was measured is kept in results/cells/.
"""


def read(path: Path) -> Added:
    """What was added, nothing where there is no such file. Raises ConfigError, with one line for
    each fault, for anything that `write` would not have written."""
    if not path.exists():
        return {}
    try:
        raw = read_yaml(path)
    except ConfigError as error:
        # Behind a semicolon is how a config should be written, which this is not.
        faults = [line.partition("; ")[0] for line in error.lines]
        raise ConfigError([f"{fault}; {CURE}" for fault in faults]) from None
    if faults := list(_faults(raw)):
        raise ConfigError([f"{path}: {fault}; {CURE}" for fault in faults])
    return {
        workload: {dtype: tuple(sorted(map(whole, sizes))) for dtype, sizes in dtypes.items()}
        for workload, dtypes in raw.items()
    }


def write(path: Path, added: Added) -> None:
    """All of it or nothing; raises record.NotWritten."""
    lines = [HEAD.rstrip()]
    for workload, dtypes in added.items():
        lines.append(f"{_key(workload)}:")
        lines += [f"  {dtype}: [{', '.join(map(str, sorted(s)))}]" for dtype, s in dtypes.items()]
    record.replace(path, "".join(f"{line}\n" for line in lines).encode())


def joined(added: Added, more: Added) -> Added:
    """Both, each size once."""
    found = {name: {dtype: set(sizes) for dtype, sizes in d.items()} for name, d in added.items()}
    for name, dtypes in more.items():
        for dtype, sizes in dtypes.items():
            found.setdefault(name, {}).setdefault(dtype, set()).update(sizes)
    return {
        name: {dtype: tuple(sorted(sizes)) for dtype, sizes in dtypes.items()}
        for name, dtypes in found.items()
    }


def _key(name: str) -> str:
    """Quoted: YAML reads a workload `no`, or `1e3`, as something else than a name."""
    return f"'{name}'"


def _faults(raw: Mapping[Any, Any]) -> Iterator[str]:
    known = schema()["properties"]["dtypes"]["items"]["enum"]
    for name, dtypes in raw.items():
        if not isinstance(dtypes, dict):
            yield f"{dotted([name])}: {show(dtypes)} is not a map of dtypes to sizes"
            continue
        for dtype, sizes in dtypes.items():
            if dtype not in known:
                yield f"{dotted([name, dtype])}: unknown dtype, {choices(dtype, known)}"
            elif not isinstance(sizes, list) or not all(map(_is_size, sizes)):
                at = dotted([name, dtype])
                yield f"{at}: {show(sizes)} is not a list of whole numbers of at least 1"


def _is_size(value: Any) -> bool:
    size = whole(value)
    return isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= LARGEST

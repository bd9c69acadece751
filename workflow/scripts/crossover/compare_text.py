"""What `make compare` says: whose times, what is not the same, which differences are real."""

from collections.abc import Iterable, Mapping, Sequence

from crossover import grades, rows
from crossover.archive import Archive
from crossover.cells import Cell
from crossover.compare import Pair, Side, sides
from crossover.intervals import FASTER, NO_DIFFERENCE, SLOWER
from crossover.status import OK
from crossover.style import size_words
from crossover.welch import MAYBE
from crossover.words import count, listed, plain, times

ONE_ROUND = "no interval"
MOST_REASONS = 6
HOW = (
    "Ratios are of the same cell on both, above 1 faster than {first}: geometric means over rounds "
    "that are no pairs, with Welch's 95 % interval on logarithms. Called faster or slower is what "
    "holds among all {number} (Benjamini and Hochberg: of those, 1 in 20 at most is expected to be "
    "chance); '{maybe}' is what would on its own. No interval knows what all rounds of one sweep "
    "share, such as a warmer day."
)


def lines(archives: Mapping[str, Archive], pairs: Sequence[Pair]) -> list[str]:
    """The whole text: who was measured, then each other archive against the first."""
    first, *others = archives
    found = [_archive(name, archive) for name, archive in archives.items()]
    for name in others:
        mine = [pair for pair in pairs if pair.archive == name]
        found += ["", *_against(name, first, archives, mine)]
    known = sum(pair.difference is not None for pair in pairs)
    return [*found, "", HOW.format(first=first, number=count(known, "comparison"), maybe=MAYBE)]


def machine(name: str, archive: Archive) -> str:
    """'new: Intel Xeon, 2 cores'."""
    ok = _ok(archive)
    hosts = list(dict.fromkeys(rows.machines(ok).values())) or ["unknown machine"]
    devices = sorted({row["device"] for row in ok if rows.is_device(row)})
    return plain(f"{name}: {' and '.join([*hosts, *devices])}")


def _archive(name: str, archive: Archive) -> str:
    """'new: Intel Xeon, 2 cores; numpy 2.4.6; 12 of 16 cells ok; packed by Crossover 0.1.0'."""
    ok = _ok(archive)
    versions = sorted({f"{r['library']} {r['version']}".strip() for r in ok if r["library"]})
    parts = (
        machine(name, archive),
        ", ".join(versions),
        f"{len(set(map(_cell, ok)))} of {count(len(_cells(archive)), 'cell')} ok",
        f"packed by Crossover {archive.version}",
    )
    return plain("; ".join(filter(None, parts)))


def _hosts(archive: Archive) -> set[str]:
    """The hashes of its machines' names. Where they differ it may be one machine still: where an
    archive was packed decides their key."""
    return {str(probe["host"]) for probe in archive.machine.values() if probe.get("host")}


def _ok(archive: Archive) -> list[rows.Row]:
    """Of several machines each has a row."""
    return [row for row in archive.rows if row["scope"] == Cell.scope and row["status"] == OK]


def _cell(row: rows.Row) -> tuple[str, ...]:
    return row["workload"], row["backend"], row["dtype"], row["size"]


def _against(
    name: str, first: str, archives: Mapping[str, Archive], pairs: Sequence[Pair]
) -> list[str]:
    title = f"{name} against {first}"
    if not pairs:
        return [f"{title}: nothing to compare, no cell is ok in both", *_missing(archives, name)]
    found = [f"{title}: {same}" for same in differing(pairs)]
    if _hosts(archives[name]) == _hosts(archives[first]) != set():
        found.insert(0, f"{title}: the same machine, by its name's hash")
    kinds = {kind: [p for p in pairs if _kind(p) == kind] for kind in
             (FASTER, SLOWER, MAYBE, NO_DIFFERENCE, ONE_ROUND)}  # fmt: skip
    counts = ", ".join(f"{len(some)} {kind}" for kind, some in kinds.items() if some)
    found.append(f"{title}: {count(len(pairs), 'comparison')}: {counts}")
    groups: dict[tuple[str, str, str, str], list[Pair]] = {}
    for pair in pairs:
        cell = pair.cell
        key = cell.workload, cell.backend, cell.dtype, pair.scope.replace("_", " ")
        groups.setdefault(key, []).append(pair)
    found += [f"  {', '.join(key)}: {_group(group)}" for key, group in groups.items()]
    return [*found, *_missing(archives, name)]


def differing(pairs: Sequence[Pair]) -> list[str]:
    """Whether code and settings are the same, and if not which, and of how many comparisons."""
    found = []
    for word, differences in (
        ("code", [pair.other_code for pair in pairs]),
        ("settings", [pair.other_settings for pair in pairs]),
    ):
        counted: dict[str, int] = {}
        for name in (name for one in differences for name in one):
            counted[name] = 1 + counted.get(name, 0)
        if not counted:
            continue
        each = [
            name if number == len(pairs) else f"{name} ({number} of {len(pairs)} comparisons)"
            for name, number in counted.items()
        ]
        found.append(plain(f"NOT the same {word}: {listed(each, MOST_REASONS)}"))
    return found or ["the same code and the same settings"]


def _kind(pair: Pair) -> str:
    return pair.finding or ONE_ROUND


def _group(pairs: Sequence[Pair]) -> str:
    """'faster at n = 1e4, 1e5 (1.8x to 2.1x); no difference seen at n = 1e6'."""
    found: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: pair.cell.size):
        found.setdefault(pair.refused or _kind(pair), []).append(pair)
    return "; ".join(
        f"{kind} {_sizes(some, pairs)}{_ratios(kind, some)}{_doubts(some)}"
        for kind, some in found.items()
    )


def _sizes(pairs: Sequence[Pair], every: Sequence[Pair]) -> str:
    if len(pairs) == len(every) > 1:
        return f"at all {len(every)} sizes"
    return f"at n = {listed([size_words(pair.cell.size) for pair in pairs], 8, last=', ')}"


def _ratios(kind: str, pairs: Sequence[Pair]) -> str:
    """The points, from the smallest to the largest; of one comparison, and where no difference was
    seen, the intervals: how large it might be."""
    known = [pair.difference.speedup for pair in pairs if pair.difference]
    if not known:
        return ""
    ends = f"{times(min(one.low for one in known))} to {times(max(one.high for one in known))}"
    if kind == NO_DIFFERENCE:
        return f" (anything from {ends})"
    if len(known) == 1:
        return f" ({times(known[0].point)}, {ends})"
    points = sorted(one.point for one in known)
    return f" ({times(points[0])} to {times(points[-1])})"


def _doubts(pairs: Sequence[Pair]) -> str:
    """Why rounds of either side are trusted less."""
    found = {
        grade
        for pair in pairs
        for side in (pair.ours, pair.theirs)
        for grade in grades.parts(side.row["grade"])
        if grade in grades.CURE and grade != grades.NOT_PAIRED
    }
    named = [grade.replace("_", " ") for grade in grades.MEANING if grade in found]
    return f" [trusted less: {', '.join(named)}]" if named else ""


def _missing(archives: Mapping[str, Archive], name: str) -> list[str]:
    """Cells that cannot be compared: those that failed on either side, and those of one side."""
    first = next(iter(archives))
    ours, theirs = _cells(archives[name]), _cells(archives[first])
    found: dict[str, int] = {}
    for cell in dict.fromkeys([*ours, *theirs]):
        why = {
            label: rows.why(cells[cell].row) if cell in cells else "not there"
            for label, cells in ((name, ours), (first, theirs))
            if cell not in cells or cells[cell].row["status"] != OK
        }
        if len(set(why.values())) < len(why):  # for the same reason
            why = {"both": why[name]}
        for label, words in why.items():
            key = f"{cell.backend} in {label}: {words}"
            found[key] = 1 + found.get(key, 0)
    return [f"  not compared: {_counted(found.items())}"] if found else []


def _counted(found: Iterable[tuple[str, int]]) -> str:
    return plain(listed([f"{number} x {words}" for words, number in found], MOST_REASONS, "; "))


def _cells(archive: Archive) -> dict[Cell, Side]:
    return {cell: side for (cell, scope), side in sides(archive).items() if scope == cell.scope}

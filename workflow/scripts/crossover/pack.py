"""`make pack`: the last sweep as one small file to hand on, without who and where."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from crossover import archive, outcomes, privacy, record, table
from crossover.cells import END_TO_END, Cell, probe_json
from crossover.config import Config
from crossover.outcomes import Round
from crossover.privacy import Private
from crossover.record import Part
from crossover.status import OK
from crossover.words import count

NAME = "pack.zip"
# Columns that hold a name from the config or a figure, and no free text. A user may be called cpu.
NAMES = {
    *("workload", "backend", "dtype", "size", "scope", "baseline", "status", "grade", "finding"),
    *("device", "driver", "machine", "cpu", "library", "version"),
}


class NotPacked(ValueError):
    """Results that are not those of one sweep; the message says what to do."""


def pack(config: Config, path: Path | None, show_hosts: bool) -> list[str]:
    """Write the archive, all of it or nothing; what to say of it. Raises FileNotFoundError,
    NotPacked, record.Damaged and record.NotWritten."""
    out = path or config.folder / NAME
    private = privacy.here(show_hosts)
    summary = config.folder / "summary.csv"
    rows = table.read(summary)
    parts = list(_parts(config, rows, summary))
    try:
        content = archive.packed(
            [_without(private, row) for row in rows],
            [Part(_without(private, part.facts), part.own) for part in parts],
            private.anything(_plain(asdict(config))),
            private.anything(_probes(config)),
        )
    except ValueError as error:
        raise NotPacked(str(error)) from None
    record.replace(out, content)
    cells = len(config.cells())
    words = f"{count(cells, 'cell')} of {count(config.rounds, 'round')}"
    lines = [f"Wrote {out}: {words}, {len(content) / 1e3:,.0f} kB"]
    if show_hosts and (hosts := {part.facts["host"] for part in parts} - {""}):
        lines.append(f"It names the host: {', '.join(sorted(hosts))}")
    return lines + _telling(config, private)


def _parts(config: Config, rows: Sequence[Mapping[str, str]], summary: Path) -> Iterator[Part]:
    """What is in the raw file of each cell and round, which must be those of the summary."""
    named: dict[tuple[str, ...], dict[str, Mapping[str, str]]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("workload", "backend", "dtype", "size"))
        named.setdefault(key, {})[row["scope"]] = row
    cells = [*config.cells(), *config.pictures()]
    if {_key(cell) for cell in cells} != named.keys():
        raise NotPacked(f"{summary} is not of the cells in this config: run 'make sweep' first")
    for cell in cells:
        rounds: list[Round] = []
        for number in range(1, config.rounds + 1):
            parts = record.parts(
                cell.csv(number),
                **dict(zip(("workload", "backend", "dtype", "size"), _key(cell), strict=True)),
                round=number,
            )
            if parts[0].facts["status"] == OK:
                rounds.append(outcomes.reduced(parts, cell.scope))
            yield from parts
        if not _are(rounds if len(rounds) == config.rounds else [], named[_key(cell)]):
            raise NotPacked(
                f"{cell.folder} is not what {summary} was made of: run 'make sweep' first"
            )


def _are(rounds: Sequence[Round], rows: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether the summary's rows of a cell are made of these rounds; none where it is not ok."""
    ok = {scope: row for scope, row in rows.items() if row["status"] == OK}
    if not rounds:
        return not ok
    return all(
        float(row["median_s"]) == median(round.median_s(scope) for round in rounds)
        for scope, row in ok.items()
        if scope != END_TO_END and all(round.has(scope) for round in rounds)
    ) and bool(ok)


def _key(cell: Cell) -> tuple[str, ...]:
    return cell.workload, cell.backend, cell.dtype, str(cell.size)


def _without(private: Private, row: Mapping[str, str]) -> dict[str, str]:
    """A row without paths, and names of users and hosts."""
    return {
        name: value if name in NAMES or not value else private.anything(value, name)
        for name, value in row.items()
    }


def _probes(config: Config) -> dict[str, Any]:
    """What was found out about each backend here; of one whose file was removed, nothing."""
    paths = {name: probe_json(name) for name in config.backends}
    return {name: record.read_json(path) for name, path in paths.items() if path.exists()}


def _plain(value: Any) -> Any:
    """The config's values as JSON has them; of a file, its name."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _telling(config: Config, private: Private) -> list[str]:
    """Names that the user gave, which stay, since machines are compared by them."""
    names = [*config.workloads, *config.backends]
    telling = [name for name in names if private.text(name) != name]
    words = "names a person or this host; names of workloads and backends stay as they are"
    return [f"{', '.join(telling)}: {words}"] if telling else []

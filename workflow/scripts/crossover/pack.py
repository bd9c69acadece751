"""`make pack`: the last sweep as one small file to hand on, without who and where."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crossover import archive, differences, identity, privacy, record, summary, table
from crossover.cells import Cell, probe_json
from crossover.config import Config
from crossover.privacy import Private
from crossover.record import Part
from crossover.words import count, listed

NAME = "pack.zip"
CELL = ("workload", "backend", "dtype", "size")
# Columns that hold a name from the config or a figure, and no free text. A user may be called cpu.
NAMES = {
    *("workload", "backend", "dtype", "size", "scope", "baseline", "status", "grade", "finding"),
    *("device", "driver", "machine", "cpu", "library", "version"),
}


class NotPacked(ValueError):
    """Results that are too large for an archive."""


class NotOfThisConfig(NotPacked):
    """Results that are not those of one sweep of this config: run it first."""


def pack(config: Config, path: Path | None, show_hosts: bool) -> list[str]:
    """Write the archive, all of it or nothing; what to say of it. Raises FileNotFoundError,
    NotPacked, record.Damaged and record.NotWritten."""
    out = path or config.folder / NAME
    summary_csv = config.folder / "summary.csv"
    rows = table.read(summary_csv)
    _refuse_another_summary(config, rows, summary_csv)
    parts = list(_parts(config))
    probes = _probes(config)
    _refuse_other_settings(config, parts, probes)
    hosts = {part.facts[name] for part in parts for name in ("host", "node")} - {""}
    private = privacy.here(show_hosts, hosts)
    try:
        content = archive.packed(
            [_without(private, row) for row in rows],
            [Part(_without(private, part.facts), part.own) for part in parts],
            private.anything(_plain(asdict(config))),
            private.anything(probes),
        )
    except ValueError as error:
        raise NotPacked(str(error)) from None
    record.replace(out, content)
    cells = len(config.cells())
    words = f"{count(cells, 'cell')} of {count(config.rounds, 'round')}"
    lines = [f"Wrote {out}: {words}, {len(content) / 1e3:,.0f} kB"]
    if show_hosts and hosts:
        lines.append(f"It names the host: {', '.join(sorted(hosts))}")
    return lines + _telling(config, private)


def _refuse_another_summary(config: Config, rows: Sequence[Mapping[str, str]], path: Path) -> None:
    """Raises NotOfThisConfig where the raw files that are there give another summary."""
    cells = [*config.cells(), *config.pictures()]
    given = _by_cell(rows)
    if {_key(cell) for cell in cells} != given.keys():
        raise NotOfThisConfig(f"{path} is not of the cells in this config")
    made = _by_cell(
        summary.summarize(
            cells,
            config.rounds,
            config.baseline,
            mixed=config.mixed_machines,
            asked=config.gpu_models,
            baselines=config.baselines,
        )
    )
    for cell in cells:
        if made[_key(cell)] != given[_key(cell)]:
            raise NotOfThisConfig(f"{cell.folder} is not what {path} was made of")


def _by_cell(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """What each cell's rows say that nothing but its own raw files decides."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in CELL)
        own = tuple(str(row[name]) for name in ("scope", "status", "rounds", "median_s"))
        found.setdefault(key, []).append(own)
    return found


def _key(cell: Cell) -> tuple[str, ...]:
    return cell.workload, cell.backend, cell.dtype, str(cell.size)


def _parts(config: Config) -> Iterator[Part]:
    """What is in the raw file of each cell and round."""
    for cell in [*config.cells(), *config.pictures()]:
        names = dict(zip(CELL, _key(cell), strict=True))
        for number in range(1, config.rounds + 1):
            yield from record.parts(cell.csv(number), **names, round=number)


def _refuse_other_settings(
    config: Config, parts: Iterable[Part], probes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raises NotOfThisConfig where something was measured with other settings than the config has:
    it was edited since, and the archive would have it wrong."""
    wanted = {
        name: {
            "budget_s": repr(config.budget_s),
            "seed": str(config.seed),
            "threads_requested": identity.threads(config, backend),
            "memory": backend.memory,
        }
        for name, backend in config.backends.items()
    }
    other = {
        f"{differences.SETTINGS[column]} of {part.facts['backend']}"
        for part in parts
        for column, value in wanted.get(part.facts["backend"], {}).items()
        if part.facts[column] not in ("", value)
    }
    for name, backend in config.backends.items():
        asked = json.loads(probes.get(name, {}).get("asked", "null"))
        now = [backend.device, json.loads(identity.options(backend))]
        if asked and asked[: len(now)] != now:
            other.add(f"device or options of {name}")
    if other:
        what = listed(sorted(other))
        raise NotOfThisConfig(f"not measured as this config says ({what})")


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

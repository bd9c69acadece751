"""What the summary answers: from which size on a backend is faster, and a file to take home."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any

from crossover import break_even, machines, prices, reuse, take_home
from crossover.break_even import BreakEven
from crossover.cells import END_TO_END
from crossover.intervals import Interval
from crossover.reuse import Reuse
from crossover.rows import COARSE
from crossover.speedup_curve import Logs
from crossover.status import OK

# On a host a round trip is the computation.
SCOPES_OF_HOSTS = ("compute", END_TO_END)
SCOPES = ("compute", "round_trip", END_TO_END)
BEST_CPU = "best CPU"  # a name that no backend can have
# The same break-even in money, by the column of the one in time; `cheaper` and `dearer` are ranges.
IN_MONEY = {name: f"cheaper_{name}" for name in break_even.COLUMNS}
IN_MONEY |= {"faster": "cheaper", "slower": "dearer"}
COLUMNS = (
    *("workload", "dtype", "backend", "scope", "against"),
    *break_even.COLUMNS,
    "words",
    *("price_ratio", *IN_MONEY.values(), "cheaper_words"),
    *("machine", "device", "apart"),
)
REUSE_COLUMNS = (
    *("workload", "dtype", "backend", "size", "baseline"),
    *reuse.COLUMNS,
    "apart",
)

Row = Mapping[str, str]


class Curves:
    """The rows of one workload in one dtype, with one rig for each backend (machines.View): `own`
    are the backends that it is about, all of them unless named, and `apart` says where that was if
    not on the machine that is told first."""

    def __init__(
        self, rows: Sequence[Row], own: Container[str] | None = None, apart: str = ""
    ) -> None:
        self.apart = apart
        ok = [row for row in rows if row["status"] == OK]
        self.workload, self.dtype = rows[0]["workload"], rows[0]["dtype"]
        self.baselines = {row["backend"]: row["baseline"] for row in rows}
        self.rows = {(row["backend"], row["scope"], int(row["size"])): row for row in ok}
        # Drawing has rows of its own, without this scope.
        self.backends = list(dict.fromkeys(r["backend"] for r in ok if r["scope"] == "compute"))
        self.prices = prices.known(ok)
        # What float32 is computed in, of the backends whose option says so.
        self.coarse = {r["backend"]: r["precision"] for r in ok if r["precision"] in COARSE}
        self.currency = next((row["currency"] for row in ok if row["currency"]), "")
        self.own = [name for name in self.backends if own is None or name in own]
        self.scopes = {scope for _, scope, _ in self.rows}
        self.devices = {backend for backend, scope, _ in self.rows if scope == "download"}
        self.power = _power({int(row["size"]): float(row["flop"] or 0) for row in ok})

    def logs(self, backend: str, scope: str) -> Logs:
        """The logarithm of each pair's speedup over the baseline, by size and round."""
        return {
            size: {number: log(speedup) for number, speedup in _by_round(row)}
            for (name, where, size), row in self.rows.items()
            if (name, where) == (backend, scope) and row["speedup_by_round"]
        }

    def over(self, backend: str, rival: str, scope: str) -> Logs:
        """The same over another backend, in the rounds that both have."""
        mine, theirs = self.logs(backend, scope), self.logs(rival, scope)
        if rival == self.baselines[backend]:
            return mine
        return {
            size: {n: mine[size][n] - theirs[size][n] for n in mine[size] if n in theirs[size]}
            for size in mine
            if size in theirs
        }

    def rivals(self, backend: str) -> list[str]:
        """The host backends that have pairs with the same baseline: on the same machine. A coarser
        answer is no rival to a full one, unless it is the baseline."""
        return [
            name
            for name in self.backends
            if name not in self.devices
            and name != backend
            and self.baselines[name] == self.baselines[backend]
            and (name not in self.coarse or name == self.baselines[backend])
        ]

    def find(self, backend: str, scope: str, rivals: Iterable[str]) -> BreakEven | None:
        """From which size on a backend is faster than the best of its rivals; None where nothing
        was paired."""
        curves = [logs for rival in rivals if (logs := self.over(backend, rival, scope))]
        return break_even.find(curves, self.power) if curves else None

    def find_in_money(self, backend: str, scope: str, rivals: Iterable[str]) -> BreakEven | None:
        """From which size on a call is cheaper: what it costs is its time times a price, so that
        each curve is moved by the logarithm of the prices' ratio, and its intervals with it. None
        where a price is not known, or none differs: then what is faster is cheaper."""
        curves = {rival: logs for rival in rivals if (logs := self.over(backend, rival, scope))}
        if not curves or not self.prices.keys() >= {backend, *curves}:
            return None
        moved = {rival: log(self.prices[rival] / self.prices[backend]) for rival in curves}
        if not any(moved.values()):
            return None
        by_size = [
            {
                size: {number: value + moved[rival] for number, value in rounds.items()}
                for size, rounds in logs.items()
            }
            for rival, logs in curves.items()
        ]
        return break_even.find(by_size, self.power)

    def break_evens(self) -> Iterator[dict[str, Any]]:
        """The rows of break_even.csv; kind and all after it are empty where no interval is."""
        for backend in self.own:
            if backend == (baseline := self.baselines[backend]):
                continue
            row = next(row for (name, _, _), row in self.rows.items() if name == backend)
            against = {baseline: [baseline]}
            if (rivals := self.rivals(backend)) != [baseline]:
                against[BEST_CPU] = rivals
            for scope in SCOPES if backend in self.devices else SCOPES_OF_HOSTS:
                if scope not in self.scopes:
                    continue
                for name, others in against.items():
                    found = self.find(backend, scope, others)
                    cheaper = self.find_in_money(backend, scope, others)
                    yield {
                        "workload": self.workload,
                        "dtype": self.dtype,
                        "backend": backend,
                        "scope": scope,
                        "against": name,
                        **break_even.to_row(found),
                        "words": found.words() if found else "",
                        "price_ratio": self._price_ratio(backend, name),
                        **{IN_MONEY[key]: v for key, v in break_even.to_row(cheaper).items()},
                        "cheaper_words": cheaper.words("cheaper", "dearer") if cheaper else "",
                        "machine": row["machine"],
                        "device": row["device"],
                        "apart": self.apart,
                    }

    def _price_ratio(self, backend: str, rival: str) -> float | str:
        """Over one rival; '' where a price is not known, and of the best of several."""
        if not self.prices.keys() >= {backend, rival}:
            return ""
        return self.prices[backend] / self.prices[rival]

    def reuses(self) -> Iterator[dict[str, Any]]:
        """The rows of reuse.csv: what each size costs on a device, in each way to use it."""
        for backend, scope, size in self.rows:
            if scope != "compute" or backend not in self.devices or backend not in self.own:
                continue
            if (found := self.reuse(backend, size)) is not None:
                yield {
                    "workload": self.workload,
                    "dtype": self.dtype,
                    "backend": backend,
                    "size": size,
                    "baseline": self.baselines[backend],
                    **reuse.to_row(found),
                    "apart": self.apart,
                }

    def entries(self) -> Iterator[take_home.Entry]:
        """What the file to take home says: an entry for each device that was measured. Who asks
        about float32 is not answered with a coarser type: that is 'float32 in float16' there."""
        for backend in self.backends:
            if backend not in self.devices:
                continue
            baseline = self.baselines[backend]
            mine = {size: row for (b, s, size), row in self.rows.items()
                    if (b, s) == (backend, "compute")}  # fmt: skip
            yield take_home.Entry(
                workload=self.workload,
                dtype=" in ".join(filter(None, [self.dtype, self.coarse.get(backend)])),
                backend=backend,
                baseline=baseline,
                device=next(iter(mine.values()))["device"],
                round_trip=self.find(backend, "round_trip", [baseline]),
                best=self.find(backend, "round_trip", self.rivals(backend)),
                reuse={
                    size: found for size in mine if (found := self.reuse(backend, size)) is not None
                },
            )

    def reuse(self, backend: str, size: int) -> Reuse | None:
        """Seconds with and without the device at one size; None where a side has no time."""

        def seconds(name: str, scope: str) -> float | None:
            row = self.rows.get((name, scope, size))
            return float(row["median_s"]) if row else None

        baseline = self.baselines[backend]
        host_s, device_s = seconds(baseline, "compute"), seconds(backend, "compute")
        if host_s is None or device_s is None:
            return None
        row = self.rows[backend, "compute", size]
        has_inputs = (row["input_bytes"] or "0") != "0"
        return reuse.reuse(
            host_s,
            device_s,
            upload_s=seconds(backend, "upload") if has_inputs else 0.0,
            download_s=seconds(backend, "download"),
            round_trip_s=seconds(backend, "round_trip"),
            first_call_s=seconds(backend, "first_call"),
            host_first_call_s=seconds(baseline, "first_call"),
            speedup=_interval(row),
        )


def in_money(row: Row) -> BreakEven | None:
    """The break-even in money of a row of break_even.csv."""
    return break_even.of_row({name: row[column] for name, column in IN_MONEY.items()})


def curves(rows: Iterable[Row]) -> list[Curves]:
    """One for each workload and dtype, in the summary's order; machines that differ are told one
    after the other."""
    return [curve for view in machines.views(rows) for curve in _of_view(view)]


def _of_view(view: machines.View) -> list[Curves]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in view.rows:
        groups.setdefault((row["workload"], row["dtype"]), []).append(row)
    return [Curves(group, view.backends(*of), view.words) for of, group in groups.items()]


def use_gpu(rows: Sequence[Row]) -> str:
    """The text of use_gpu.py: of several machines, that of the first view."""
    main = machines.views(rows)[0]
    ok = [row for row in main.rows if row["status"] == OK]
    entries = [entry for one in _of_view(main) for entry in one.entries()]
    return take_home.render(entries, [row["cpu"] for row in ok], [int(row["cores"]) for row in ok])


def _by_round(row: Row) -> Iterator[tuple[int, float]]:
    for part in row["speedup_by_round"].split():
        number, _, speedup = part.partition(":")
        yield int(number), float(speedup)


def _interval(row: Row) -> Interval | None:
    if not row["finding"]:
        return None
    return Interval(*(float(row[name]) for name in ("speedup_low", "speedup", "speedup_high")))


def _power(flop: Mapping[int, float]) -> float:
    """The largest power with which the work grows: 1 for add, 3 for products of matrices."""
    known = sorted((size, work) for size, work in flop.items() if work > 0)
    slopes = [log(w2 / w1) / log(n2 / n1) for (n1, w1), (n2, w2) in pairwise(known)]
    return max([1.0, *slopes])

"""From which size on is a backend faster, and stays so?

At each measured size the curve (speedup_curve.py) is above 0, under 0, or not clear. The sizes are
asked in two orders fixed beforehand, and in each the first that is not clear ends the asking: from
the largest one down, where faster is expected, and from the smallest one up, where slower is. Then
no correction for the number of sizes is due: whatever the curve, something false is claimed only
if the first size in its order with nothing to claim is called different by chance. What is expected
has the level EXPECTED, the opposite OTHERWISE; together, over both orders, 5 %. Where what is known
changes its sign, the crossing's interval is where the curve's holds 0.

Against the best of several rivals (the CPU backends) none is chosen: faster than the best is faster
than each, and slower than the best is slower than one of them, at a level divided by their number.
So no round decides with whom it is compared. Simulated with five rivals, three rounds and 5 %
between processes, where 2.5 % are promised: choosing by the same rounds gave 6.6 % of false
"slower", choosing by the other rounds 3.4 to 4.9 % of false "faster", since what was chosen may not
be the best and rounds are no longer independent; this way neither is above 2.5 %. The price: the
interval is wider, by 18 % with two rivals and by 35 to 57 % with five; the point leans to the
cautious side, by at most 3.4 %.

Sources: Maurer, Hothorn and Lehmacher, "Multiple comparisons in drug clinical trials and
preclinical assays: a-priori ordered hypotheses", in Biometrie in der chemisch-pharmazeutischen
Industrie 6 (1995) 3-18, for fixed orders; Berger, "Multiparameter hypothesis testing and acceptance
sampling", Technometrics 24 (1982) 295-300, for each of several.

Assumed: what speedup_curve.py assumes, and that between two neighbouring sizes that are both faster
the backend is faster too. Each curve is right in 95 of 100; many curves are not corrected for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, log

from crossover.intervals import CONFIDENCE, Interval
from crossover.speedup_curve import At, Line, Logs, line, of_rounds

FROM = "from n* on"
FROM_SMALLEST = "from the smallest size on"
NEVER = "never up to n"
NOT_CLEAR = "not clear between a and b"
ONLY_BETWEEN = "faster only between a and b"

EXPECTED, OTHERWISE = 0.02, 0.005  # twice their sum is 5 %
STEPS, HALVINGS = 8, 14  # between two sizes: where a curve is looked at, how an edge is narrowed

Range = tuple[float, float]


COLUMNS = (
    *("kind", "size", "low", "high", "until", "until_low", "until_high"),
    *("smallest", "largest", "missing", "faster", "slower"),
)


@dataclass(frozen=True)
class BreakEven:
    """The break-even size n* of one curve, and what is known on both sides of it.

    `size` is n* and `low, high` its 95 % interval, None where there is no such end. FROM has all
    three. FROM_SMALLEST: size and high are the smallest size. NEVER: low is the largest.
    NOT_CLEAR: a and b are low and high. ONLY_BETWEEN: a is size (None where it is not clear), b is
    `until`, which has an interval too.
    """

    kind: str
    size: float | None
    low: float | None
    high: float | None
    until: float | None
    until_low: float | None
    until_high: float | None
    smallest: int  # of the sizes with an interval
    largest: int
    missing: tuple[int, ...]  # sizes without one: not measured, or in one round only
    faster: tuple[Range, ...]  # where it is, and where slower, with 95 % for all of it together
    slower: tuple[Range, ...]

    def words(self, ahead: str = "faster", behind: str = "slower") -> str:
        """'from n = 316,000 on (95 %: 200,000 to 501,000)'; what is compared is time, unless said
        otherwise."""
        if self.kind == FROM:
            return f"from n = {_n(self.size)} on (95 %: {_n(self.low)} to {_n(self.high)})"
        if self.kind == FROM_SMALLEST:
            return f"from the smallest size, n = {_n(self.smallest)}, on"
        if self.kind == NEVER:
            return f"never up to n = {_n(self.largest)}"
        if self.kind == ONLY_BETWEEN:
            return f"only between n = {_n(self.size or self.high)} and {_n(self.until)}"
        if self.low == self.high:
            return f"not clear at n = {_n(self.low)}"
        after = [words for words, ranges in ((ahead, self.faster), (behind, self.slower))
                 if ranges and ranges[-1][0] == self.high]  # fmt: skip
        beyond = f", {after[0]} from there on" if after else ""
        return f"not clear between n = {_n(self.low)} and {_n(self.high)}{beyond}"


def to_row(found: BreakEven | None) -> dict[str, str]:
    """As texts; empty where there is nothing. Ranges are spelled '1000.0 to 20000.0; ...'."""
    if found is None:
        return dict.fromkeys(COLUMNS, "")
    row = {name: "" if (v := getattr(found, name)) is None else str(v) for name in COLUMNS}
    row["missing"] = "; ".join(map(str, found.missing))
    for name, ranges in (("faster", found.faster), ("slower", found.slower)):
        row[name] = "; ".join(f"{low!r} to {high!r}" for low, high in ranges)
    return row


def of_row(row: Mapping[str, str]) -> BreakEven | None:
    """What `to_row` wrote."""
    if not row["kind"]:
        return None

    def number(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    def ranges(name: str) -> tuple[Range, ...]:
        pairs = [part.split(" to ") for part in row[name].split("; ") if part]
        return tuple((float(low), float(high)) for low, high in pairs)

    return BreakEven(
        row["kind"],
        *(number("size"), number("low"), number("high")),
        *(number("until"), number("until_low"), number("until_high")),
        smallest=int(row["smallest"]),
        largest=int(row["largest"]),
        missing=tuple(int(size) for size in row["missing"].split("; ") if size),
        faster=ranges("faster"),
        slower=ranges("slower"),
    )


def find(rivals: Sequence[Logs], power: float = 1.0) -> BreakEven | None:
    """n* against one rival, or against the best of several: a curve for each, from its own pairs.
    `power` is the largest with which the work grows with n: 1 for add, 3 for matmul.

    A size or a round that is missing may be left out; a size with fewer than two rounds has no
    interval. None where no size has one. Raises ValueError for what no curve can have.
    """
    lines = tuple(found for rival in rivals if (found := line(rival, power)).sizes)
    if not lines:
        return None
    best = _Best(lines, tuple(sorted({size for found in lines for size in found.sizes})))
    sizes, runs = best.sizes, _runs(best)
    turns = [(a, b) for a, b in pairwise(runs) if a.sign != b.sign]
    after = {a: _crossing(best, a.last, b.first, b.sign) for a, b in turns}
    before = {b: after[a] for a, b in turns}
    ranges = [
        (
            run.sign,
            before[run].high if run in before else float(sizes[run.first]),
            after[run].low if run in after else float(sizes[run.last]),
        )
        for run in runs
    ]
    kind, start, until = _answer(sizes, runs, before, after)
    return BreakEven(
        kind,
        *(start.point, start.low, start.high),
        *(until.point, until.low, until.high),
        smallest=sizes[0],
        largest=sizes[-1],
        missing=tuple(sorted({size for rival in rivals for size in rival}.difference(sizes))),
        faster=tuple((low, high) for sign, low, high in ranges if sign > 0),
        slower=tuple((low, high) for sign, low, high in ranges if sign < 0),
    )


def over_best(rivals: Mapping[str, Sequence[float]]) -> tuple[str, Interval] | None:
    """At one size, the speedup over the best of several with its 95 % interval, and which that is
    as far as can be seen; from the logarithms of each one's pairs. None without two pairs of one.
    """
    found = {name: of_rounds(logs) for name, logs in rivals.items() if len(logs) > 1}
    if not found:
        return None
    level = (1 - CONFIDENCE) / 2
    name, best = min(found.items(), key=lambda item: item[1].mean)
    low = min(at.lower(level) for at in found.values())
    high = min(at.upper(level / len(found)) for at in found.values())
    return name, Interval(exp(low), exp(best.mean), exp(high))


@dataclass(frozen=True)
class _Ends:
    """A size and its interval, as far as there are such."""

    low: float | None = None
    point: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class _Crossing(_Ends):
    low: float
    point: float
    high: float


@dataclass(frozen=True)
class _Run:
    """Neighbouring sizes, by their place, with the same finding: +1 or -1."""

    sign: int
    first: int
    last: int


@dataclass(frozen=True)
class _Best:
    """The speedup over the best of the rivals that were measured around a size."""

    lines: tuple[Line, ...]
    sizes: tuple[int, ...]

    def at(self, x: float) -> list[At]:
        return [found for one in self.lines if (found := one.at(x))]

    def lower(self, x: float, level: float = EXPECTED) -> float:
        return min((at.lower(level) for at in self.at(x)), default=-inf)

    def upper(self, x: float, level: float = EXPECTED) -> float:
        return min((at.upper(level / len(self.lines)) for at in self.at(x)), default=inf)

    def mean(self, x: float) -> float:
        return min((at.mean for at in self.at(x)), default=0.0)

    def sign(self, place: int, faster: float, slower: float) -> int:
        """+1 where it is faster at that level, -1 where slower, 0 where neither is clear."""
        x = log(self.sizes[place])
        if self.lower(x, faster) > 0:
            return 1
        return -1 if self.upper(x, slower) < 0 else 0


def _runs(best: _Best) -> list[_Run]:
    """What is known from the smallest size up and from the largest down, as far as it is clear."""
    up = range(len(best.sizes))
    signs: dict[int, int] = {}
    for places, faster, slower in ((up, OTHERWISE, EXPECTED), (up[::-1], EXPECTED, OTHERWISE)):
        for place in places:
            sign = best.sign(place, faster, slower)
            if sign == 0:
                break
            signs[place] = sign
    runs: list[_Run] = []
    for place, sign in sorted(signs.items()):
        if runs and (runs[-1].sign, runs[-1].last) == (sign, place - 1):
            runs[-1] = _Run(sign, runs[-1].first, place)
        else:
            runs.append(_Run(sign, place, place))
    return runs


def _answer(
    sizes: Sequence[int],
    runs: Sequence[_Run],
    before: Mapping[_Run, _Crossing],
    after: Mapping[_Run, _Crossing],
) -> tuple[str, _Ends, _Ends]:
    """The kind, n*, and where faster ends again."""
    smallest, largest = float(sizes[0]), float(sizes[-1])
    last = runs[-1] if runs else None
    if last is None or last.last < len(sizes) - 1:
        low = float(sizes[last.last]) if last else smallest
        return NOT_CLEAR, _Ends(low, None, largest), _Ends()
    if last.sign > 0 and last in before:
        return FROM, before[last], _Ends()
    if last.sign > 0 and last.first == 0:
        return FROM_SMALLEST, _Ends(None, smallest, smallest), _Ends()
    if last.sign < 0 and last.first == 0:
        return NEVER, _Ends(largest), _Ends()
    ahead = [run for run in runs if run.sign > 0]
    if last.sign > 0 or not ahead:
        low = float(sizes[runs[-2].last]) if len(runs) > 1 else smallest
        return NOT_CLEAR, _Ends(low, None, float(sizes[last.first])), _Ends()
    if ahead[0] in before:
        start: _Ends = before[ahead[0]]
    elif ahead[0].first == 0:
        start = _Ends(None, smallest, smallest)
    else:
        start = _Ends(smallest, None, float(sizes[ahead[0].first]))
    return ONLY_BETWEEN, start, after[ahead[-1]]


def _crossing(best: _Best, left: int, right: int, sign: int) -> _Crossing:
    """Between two sizes of which only the right one has this sign. Where the curve may cross more
    than once, the interval holds every crossing, and the point is the last."""

    def over(x: float) -> bool:
        return best.upper(x) >= 0

    def under(x: float) -> bool:
        return best.lower(x) <= 0

    from_left, from_right = (over, under) if sign > 0 else (under, over)
    x = [log(size) for size in best.sizes[left : right + 1]]
    low, high = _edge(from_left, x), _edge(from_right, x[::-1])
    point = min(max(_edge(lambda at: sign * best.mean(at) <= 0, x[::-1]), low), high)
    exact = {log(size): float(size) for size in best.sizes}
    return _Crossing(*(exact.get(at, exp(at)) for at in (low, point, high)))


def _edge(inside: Callable[[float], bool], x: Sequence[float]) -> float:
    """The last x on the way before `inside` holds; on the way from a size where it does not."""
    outer = x[0]
    for start, stop in pairwise(x):
        for step in range(1, STEPS + 1):
            inner = start + (stop - start) * step / STEPS if step < STEPS else stop
            if inside(inner):
                for _ in range(HALVINGS):
                    middle = (outer + inner) / 2
                    outer, inner = (outer, middle) if inside(middle) else (middle, inner)
                return outer
            outer = inner
    return outer


def _n(size: float | None) -> str:
    """A measured size exactly, another one with three digits."""
    if size is None:
        return "?"
    rounded = size if size == int(size) else float(f"{size:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"

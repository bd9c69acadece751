"""What eats the gain, in a sentence: transfers, drawing, first calls; and what a CPU gives as well.

Shares are of medians at the largest size that has both times; a line names three cells, the worst
first, and how many more there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from crossover.cells import END_TO_END
from crossover.findings import AHEAD, Findings
from crossover.words import count, listed, percent, seconds

NEVER = "never"


def eaten(found: Sequence[Findings]) -> str:
    """'' where nothing of it was measured."""
    parts = [*_transfers(found), *_drawing(found), *_first_calls(found), *_calls(found)]
    gain = "the gain" if any(one.gpus for one in found) else "any gain"
    return f"What eats {gain}, at the largest sizes: {'; '.join(parts)}." if parts else ""


def on_the_cpu(found: Sequence[Findings]) -> str:
    """Which other CPU backends are ahead of the baseline; for a sweep that measured a GPU."""
    hosts = list(dict.fromkeys(host for one in found for host in one.hosts))
    ahead = []
    for host in hosts:
        gains = [gain for one in found if host in one.hosts for gain in _gain(one, host)]
        if gains:
            ahead.append(f"{label(found, host)} for {listed(gains, last=' and for ')}")
    if ahead:
        return f"Without a GPU, faster than {_baselines(found)}: {listed(ahead)}."
    if hosts:
        names = listed([label(found, host) for host in hosts], last=" or ")
        return f"Without a GPU, not seen faster than {_baselines(found)} at large sizes: {names}."
    return ""


def _baselines(found: Iterable[Findings]) -> str:
    names = dict.fromkeys(one.baseline(host) for one in found for host in one.hosts)
    return listed(list(names), last=" or ")


def label(found: Iterable[Findings], host: str) -> str:
    """A CPU backend, and what it has that the baseline has not, where the code is the same."""
    one = next(one for one in found if host in one.hosts)
    name = one.labelled(host)
    if one.baseline(host) not in one.curves.backends:
        return name
    mine, plain = one.facts(host), one.facts(one.baseline(host))
    if mine["library"] != plain["library"]:
        return name
    own = []
    if mine["memory"] != plain["memory"]:
        own.append(f"{mine['memory']} memory")
    if mine["threads_effective"] != plain["threads_effective"]:
        number = mine["threads_effective"]
        own.append(count(int(number), "thread") if number.isdigit() else f"{number} threads")
    return f"{name} (the same code, {' and '.join(own)})" if own else name


def _gain(one: Findings, host: str) -> Iterator[str]:
    even, last = one.even(host, "compute"), one.at_largest(host, "compute")
    if even and even.kind in AHEAD and last:
        yield f"{one.name} {even.words()}, at n = {last.size:,} {last.words()}"


def _transfers(found: Iterable[Findings]) -> Iterator[str]:
    shares = []
    for one, gpu in _gpus(found):
        for size in one.sizes(gpu, "round_trip")[-1:]:
            whole, inside = one.seconds(gpu, "round_trip", size), one.seconds(gpu, "compute", size)
            if whole and inside and inside < whole:
                shares.append((1 - inside / whole, _named(found, one, gpu)))
    if shares:
        words = [f"{percent(share)} ({name})" for share, name in sorted(shares, reverse=True)]
        yield f"transfers are {listed(words)} of a round trip"


def _drawing(found: Iterable[Findings]) -> Iterator[str]:
    shares = []
    for one in found:
        for backend in one.gpus or [*one.baselines, *one.hosts][:1]:
            for size in one.sizes(backend, END_TO_END)[-1:]:
                whole = one.seconds(backend, END_TO_END, size)
                inside = one.seconds(backend, "round_trip", size)
                if whole and inside and inside < whole:
                    named = one.name if one.gpus == [backend] else f"{one.name} by {backend}"
                    spent = f"{seconds(whole - inside)} of {seconds(whole)}"
                    shares.append((1 - inside / whole, f"({named}, {spent})"))
    if shares:
        words = [f"{percent(share)} {rest}" for share, rest in sorted(shares, reverse=True)]
        yield f"drawing is {listed(words)} of the whole"


def _first_calls(found: Iterable[Findings]) -> Iterator[str]:
    """The worst of all cells: it is paid once in a process."""
    first, imports = 0.0, 0.0
    for one, gpu in _gpus(found):
        for size in one.sizes(gpu, "first_call"):
            first = max(first, one.seconds(gpu, "first_call", size) or 0)
            row = one.row(gpu, "first_call", size)
            imports = max(imports, float((row and row["import_s"]) or 0))
    if first:
        before = f", after {seconds(imports)} of importing" if imports else ""
        yield f"the first call of a process took up to {seconds(first)}{before}"


def _calls(found: Iterable[Findings]) -> Iterator[str]:
    """From how many calls on data that stays there its way there and back is paid."""
    words, never = [], []
    for one, gpu in _gpus(found):
        size = max((n for name, n in one.reuses if name == gpu), default=None)
        if size is None:
            continue
        row = one.reuses[gpu, size]
        warm, cold = (_from(*(row[f"{kind}{end}"] for end in ("_low", "", "_high")))
                      for kind in ("warm", "cold"))  # fmt: skip
        if warm == NEVER:
            never.append(_named(found, one, gpu))
        elif warm:
            fresh = f"; in a new process {cold}" if cold not in ("", warm) else ""
            words.append(f"{warm} ({_named(found, one, gpu)}{fresh})")
    if words:
        yield f"uploading once pays {listed(words)}"
    if never:
        yield f"uploading once never pays ({listed(never)})"


def _from(*ends: float | str) -> str:
    """'from 3 calls on, 2 to 4'; never, or not clear, where its interval has no end; '' where it
    is not known. `ends` are the interval's low, the number and the high, as reuse.csv has them."""
    low, point, high = (float(end) if end != "" else None for end in ends)
    if point is None or low is None or high is None:
        return ""
    if low == inf:
        return NEVER
    if high == inf:
        return "from a number of calls on that is not clear"
    if low == high:
        return f"from {count(int(point), 'call')} on"
    return f"from {count(int(point), 'call')} on, {low:,.0f} to {high:,.0f}"


def _gpus(found: Iterable[Findings]) -> Iterator[tuple[Findings, str]]:
    return ((one, gpu) for one in found for gpu in one.gpus)


def _named(found: Iterable[Findings], one: Findings, gpu: str) -> str:
    """The workload, and by which GPU where there are several."""
    several = len({name for _, name in _gpus(found)}) > 1
    return f"{one.name} by {gpu}" if several else one.name

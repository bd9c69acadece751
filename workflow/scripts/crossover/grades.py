"""How far an ok row is to be trusted: `good`, or all that speaks against it, joined by ' + '.

Nothing is thrown away for its grade. Some of it another try may cure (`make retry`), a missing
partner is measured again with its baseline (`make fresh`), the rest is how such a cell is.
"""

from collections.abc import Collection, Mapping, Sequence
from statistics import median

GOOD = "good"
FEW_THREADS = "few_threads"
DISTURBED = "disturbed"
DRIFTING = "drifting"
ABOVE_CEILING = "above_ceiling"
RECOMPILED = "recompiled"
LAUNCH_BOUND = "launch_bound"
SINGLE_CALL = "single_call"
NOT_PAIRED = "not_paired"
SHARED_NODE = "shared_node"

# In the order in which they are named.
MEANING = {
    FEW_THREADS: "fewer threads than asked for, see threads_* in summary.csv",
    DISTURBED: "others used the cores meanwhile",
    SHARED_NODE: "others may have measured on the node at the same time",
    DRIFTING: "slower by more than 5 % in the second half of a round",
    ABOVE_CEILING: "faster than this machine's memory, arithmetic or link",
    RECOMPILED: "compiled again after the first call, see recompiled in the raw files",
    LAUNCH_BOUND: "so short that the timing loop is more than 1 % of it",
    SINGLE_CALL: "one call is longer than the budget of a round",
    NOT_PAIRED: "not measured next to the baseline, on the same machine",
}
# The make target that removes such rounds, so that the next sweep measures them again.
CURE = {
    **dict.fromkeys((FEW_THREADS, DISTURBED, DRIFTING, ABOVE_CEILING), "retry"),
    NOT_PAIRED: "fresh",
}

LARGEST_POOL = 64  # NumPy's wheels build OpenBLAS for no more
DRIFT = 1.05  # second half of a round over its first
FEWEST_FOR_DRIFT = 10  # samples
LOOP_SHARE = 0.01  # of a call, that the loop around it may take


def joined(found: Collection[str]) -> str:
    """The text of the column `grade`."""
    return " + ".join(name for name in MEANING if name in found) or GOOD


def parts(grade: str) -> list[str]:
    """What `joined` was made of: nothing for a good row, and for one that is not ok."""
    return [name for name in grade.split(" + ") if name in MEANING]


def with_also(grade: str, name: str) -> str:
    """A row's grade where one more thing was found out."""
    return joined({*parts(grade), name})


def few_threads(facts: Mapping[str, str]) -> bool:
    """Fewer threads than asked for, `all` being all the usable cores that a pool can have, or on a
    cluster the cores that the scheduler was asked for."""
    if not facts["threads_effective"]:
        return False
    requested = facts["threads_requested"]
    cores = int(facts["cores_requested"] or facts["cores"])
    asked = min(cores, LARGEST_POOL) if requested == "all" else int(requested)
    return int(facts["threads_effective"]) < asked


def shared_node(facts: Mapping[str, str]) -> bool:
    """On a cluster: neither was the node ours alone, nor is the lock known to be the node's."""
    return facts["node_use"] == "shared"


def recompiled(facts: Mapping[str, str]) -> bool:
    """Was something compiled again after the first call? Empty where nothing is compiled at all."""
    return int(facts.get("recompiled") or 0) > 0


def drifting(seconds: Sequence[float]) -> bool:
    """A round's samples in the order taken: is the second half slower than the first?"""
    half = len(seconds) // 2
    if len(seconds) < FEWEST_FOR_DRIFT:
        return False
    return median(seconds[-half:]) > DRIFT * median(seconds[:half])


def launch_bound(call_s: float | None, median_s: float) -> bool:
    """`call_s` is what one empty call of the timing loop takes, None where it is not known."""
    return call_s is not None and call_s > LOOP_SHARE * median_s

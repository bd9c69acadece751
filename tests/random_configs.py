"""Random configs for hypothesis: right ones, and the same with some things wrong."""

from typing import Any

from hypothesis import strategies as st

import own_files

NAMES = st.sampled_from(
    ["mine", "null", "a.b+c-d", "_x", "1e6", "x" * 99 + "y", "x" * 20, "Numpy", "render"]
)
SIZES = st.one_of(
    st.integers(1, 10**15),
    st.sampled_from(["1e6", "1_000", 3.0, "2e3, 1000"]),
    st.lists(st.integers(1, 10**9), min_size=1, max_size=3),
)
DTYPES = st.lists(st.sampled_from(["float32", "float64"]), min_size=1, max_size=3)
THREADS = st.one_of(st.just("all"), st.integers(1, 64), st.just("2"))
FILES = st.sampled_from([*own_files.GOOD, "./mine.py", "a b/../mine.py"])
OURS = st.fixed_dictionaries({"sizes": SIZES}, optional={"dtypes": DTYPES})
OWN = st.fixed_dictionaries({"sizes": SIZES, "file": FILES}, optional={"dtypes": DTYPES})
BACKENDS = st.sampled_from(
    [
        {"numpy": {}},
        {"numpy": None, "torch_cpu": {"library": "torch"}},
        {"numpy": {"threads": 1}, "gpu": {"library": "torch", "device": "cuda:1"}},
        {"numpy": {}, "again": {"library": "numpy", "memory": "recycled"}},
    ]
)
REST = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES.filter(lambda name: name not in ("Numpy", "render")),
        "dtypes": DTYPES,
        "threads": THREADS,
        "rounds": st.one_of(st.integers(1, 9), st.just("3")),
        "budget_s": st.one_of(st.floats(1e-3, 10), st.just("2e-1")),
        "timeout_s": st.integers(1, 10**6),
        "seed": st.integers(0, 2**63),
        "machine": st.text("abc .-", min_size=1, max_size=9).filter(str.strip),
        "arrays": st.one_of(st.none(), st.just({"keep_mb": 0.5})),
        "strict": st.booleans(),
        "price_per_hour": st.one_of(st.floats(1e-9, 1e9), st.just("1e-3")),
        "currency": st.sampled_from(["USD", "€", "my own"]),
    },
)
HOSTILE_FILES = st.sampled_from([*own_files.BAD, *own_files.ODD, ".", "~", "http://x/y.py"])
HOSTILE_NAMES = st.sampled_from(
    [
        *("", ".", "..", "a/b", "../../x", "-x", "x" * 101, "a b", "é", "{size}", "*", "$(x)"),
        *("x\n", "\0", "add", "ADD", "cells", "backends", "roofline_float32.svg", "no", "sizes"),
        *("file", "numpy"),
    ]
)
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from([10**400, "1e999999999", "{workload}", "x" * 10_000, "float23", "1:30", "010"]),
    HOSTILE_FILES,
)
ANYTHING = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(HOSTILE_NAMES, st.integers()), inner, max_size=3),
    ),
    max_leaves=5,
)


@st.composite
def configs(draw: Any) -> dict[Any, Any]:
    """A config that is right, and then up to three things in it replaced, renamed or removed."""
    workloads = draw(st.dictionaries(st.sampled_from(["add", "matmul", "polar"]), OURS, max_size=2))
    if draw(st.booleans()) or not workloads:
        workloads[draw(NAMES)] = draw(OWN)
    values = {"workloads": workloads, "backends": dict(draw(BACKENDS)), **draw(REST)}
    values = _copied(values)
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 3]))):
        parent, key = draw(st.sampled_from(_places(values)))
        match draw(st.sampled_from(["replace", "file", "rename", "remove", "add"])):
            case "replace":
                parent[key] = draw(ANYTHING)
            case "file" if isinstance(parent[key], dict):
                parent[key]["file"] = draw(HOSTILE_FILES)
            case "rename":
                parent[draw(HOSTILE_NAMES)] = parent.pop(key)
            case "remove":
                del parent[key]
            case _:
                parent[draw(HOSTILE_NAMES)] = draw(ANYTHING)
        if not values:
            break
    return values


def _copied(value: Any) -> Any:
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _places(values: dict[Any, Any]) -> list[tuple[dict[Any, Any], Any]]:
    """Each key of each mapping, with that mapping."""
    found = [(values, key) for key in values]
    for value in values.values():
        if isinstance(value, dict):
            found += _places(value)
    return found

"""What a page is made of, of machines that do not exist."""

from math import exp

import made_up
from crossover import decide, prices, table
from crossover.page import Results

SVG = """<?xml version="1.0" encoding="utf-8"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="576pt"
 height="300pt" viewBox="0 0 576 300" role="group" aria-label="{label}">
<!-- a comment -->
<path d="M 20 280 L 560 20" style="stroke: #0072b2; fill: none"/>
<g class="point" role="img"><title>a, n = 10, 1.5x &lt;b&gt;</title>
<circle cx="100" cy="240" r="6" style="fill: #0072b2"/></g>
<g class="point" role="img"><title>a, n = 100, 2.5x</title>
<circle cx="300" cy="145" r="6" style="fill: #0072b2"/></g>
<g class="point" role="img"><title>a, n = 1000, 3.5x</title>
<circle cx="500" cy="50" r="6" style="fill: #0072b2"/></g>
</svg>
"""
PROBE = {
    **{"backend": "numpy", "device": "cpu", "library": "numpy", "version": "2.4.6"},
    **{"boot": "secret-boot", "host": "secret-host", "import_s": 0.21946103399932326},
    "machine_facts": {
        "cpu": {"model": made_up.CPU, "usable_cores": 2},
        "memory": {"total_bytes": 25276059648, "swap_bytes": 0},
        "thread_pools": [{"internal_api": "openblas", "version": "0.3.31", "num_threads": 2}],
    },
    "available": True,
}
NO_GPU = {"backend": "torch_cuda", "device": "cuda", "available": False, "reason": made_up.NO_CUDA}
CONFIG = {
    "workloads": {"add": {"sizes": ["1e4", 100000], "dtypes": ["float64"]}},
    "backends": {"numpy": {}, "torch_cuda": {"library": "torch", "device": "cuda"}},
    "rounds": 3,
}
VERDICT = "From *n* = 1,000,000 on.\n\n- add float64, torch_cuda: 40x as fast (38x to 42x).\n"


def results(rows=None, **changes):
    """Of a machine with a GPU, unless told otherwise; rows are those of made_up."""
    summary = summary_of(made_up.with_gpu() if rows is None else rows)
    curves = decide.curves(summary)
    given = {
        **{"name": "made_up", "verdict": VERDICT, "summary": summary},
        "break_even": texts(row for curve in curves for row in curve.break_evens()),
        "reuse": texts(row for curve in curves for row in curve.reuses()),
        "article": "",
        "pictures": {
            f"add/float64/{name}.svg": SVG.format(label=name) for name in ("time", "speedup")
        },
        "probes": {"numpy": PROBE, "torch_cuda": NO_GPU},
        **{"config": CONFIG, "added": ""},
    }
    return Results(**(given | changes))


def summary_of(rows):
    """As table.read gives them: every column, as text; speedups with their rounds."""
    found = []
    for row in rows:
        row = {"workload": "add", "dtype": "float64", "baseline": rows[0]["backend"]} | row
        if row.get("pairs") == 3 and row["backend"] != row["baseline"]:
            spread = exp(0.4 * 0.05)
            ratios = (row["speedup"] / spread, row["speedup"], row["speedup"] * spread)
            row["speedup_by_round"] = " ".join(f"{n}:{r!r}" for n, r in enumerate(ratios, 1))
        found.append(row)
    return [dict.fromkeys(table.COLUMNS, "") | row for row in texts(found)]


def texts(rows):
    return [{name: "" if v is None else str(v) for name, v in row.items()} for row in rows]


EVIL = '</script><script>alert("1")</script><img src=x onerror=alert(2)>'


def hostile():
    """Every text that comes from outside is an attack, or what breaks a table or a template."""
    rows = made_up.hostile() + made_up.bad(EVIL, 1000, "error", f"`{EVIL}` | {{{{ 7 * 7 }}}}")
    for row in rows:
        row |= {"workload": "<i>w</i>", "cpu": EVIL, "device": "'\"><script>x()</script>"}
    probes = {EVIL: {"available": False, "reason": EVIL, EVIL: EVIL, "machine_facts": {EVIL: EVIL}}}
    return results(
        rows,
        name=EVIL,
        verdict=f"{EVIL} ![x](http://example.com/x.png) [y](javascript:z) <http://example.com>\n",
        article=f"| a |\n|---|\n| {EVIL} |\n",
        pictures={f"{EVIL.replace('/', '')}/float64/speedup.svg": SVG.format(label="&lt;b&gt;")},
        probes=probes,
        config={"name": EVIL, EVIL: [EVIL]},
        added=EVIL,
    )


PRICES = {"numpy": 1.0, "torch_cpu": 1.0, "torch_cuda": 3.0}


def priced():
    """With prices, and the GPU's energy at its two largest sizes."""
    rows = prices.annotate(made_up.with_gpu(), PRICES, "EUR")
    for row in rows:
        gpu = (row["backend"], row["scope"]) == ("torch_cuda", "compute")
        if gpu and row["size"] >= 1_000_000:
            row["joules"] = row["median_s"] * 400
    return results(rows)


CASES = {
    "gpu": results,
    "priced": priced,
    "no_gpu": lambda: results(made_up.without_gpu()),
    "one_round": lambda: results(made_up.one_round()),
    "noisy": lambda: results(made_up.noisy()),
    "long_names": lambda: results(made_up.long_names(), config={"name": "a" * 300}),
    "all_failed": lambda: results(made_up.nothing()),
    "empty": lambda: results([], pictures={}, probes={}, verdict=""),
    "hostile": hostile,
}

PLOTS = f"{OUT}/plots/{{workload}}/{{dtype}}"
DRAWING = ["style.py", "svg.py", "words.py", "intervals.py", *READING]
CHARTING = ["charts.py", "hover.py", "notes.py", "ticks.py", "table.py", "grades.py", *DRAWING]
CHARTING += ["machines.py"]
DECIDED = ["decided.py", "decide.py", "break_even.py", "speedup_curve.py", "reuse.py"]
DECIDED += ["machines.py", "prices.py", "rows.py"]

# How many calls pay for the transfers is asked only where there is a device to transfer to.
REUSE = (
    {
        "reuse_svg": report(f"{PLOTS}/reuse.svg", **on_page("reuse", caption="calls")),
        "reuse_png": f"{PLOTS}/reuse.png",
    }
    if DEVICES
    else {}
)


rule charts:
    input:
        summary=SUMMARY,
        break_even=rules.decide.output.break_even,
        reuse=rules.decide.output.reuse,
        code=[
            source(SCRIPTS / "charts.py"),
            *library("chart_time.py", "chart_speedup.py", "chart_parts.py", "chart_reuse.py"),
            *library("take_home.py", "cells.py", *DECIDED, *CHARTING),
        ],
    output:
        **REUSE,
        time_svg=report(f"{PLOTS}/time.svg", **on_page("time")),
        time_png=f"{PLOTS}/time.png",
        speedup_svg=report(f"{PLOTS}/speedup.svg", **on_page("speedup")),
        speedup_png=f"{PLOTS}/speedup.png",
        parts_svg=report(f"{PLOTS}/parts.svg", **on_page("parts")),
        parts_png=f"{PLOTS}/parts.png",
    log:
        f"logs/{CONFIG.name or 'default'}/charts/{{workload}}/{{dtype}}.log",
    conda:
        ENVIRONMENT
    message:
        "draw {wildcards.workload}, {wildcards.dtype}"
    script:
        "../scripts/charts.py"


# One job for all of them: most of the time of a job is its imports.
rule accuracy:
    input:
        summary=SUMMARY,
        code=[
            source(SCRIPTS / "accuracy.py"),
            *library("chart_accuracy.py", *CHARTING),
        ],
    output:
        svg=[
            report(
                f"{OUT}/plots/{name}/accuracy.svg",
                **on_page("accuracy", category=name, dtype="all"),
            )
            for name in WORKLOADS
        ],
        png=[f"{OUT}/plots/{name}/accuracy.png" for name in WORKLOADS],
    log:
        f"logs/{CONFIG.name or 'default'}/accuracy.log",
    conda:
        ENVIRONMENT
    params:
        workloads=WORKLOADS,
    message:
        "draw how accurate each workload is"
    script:
        "../scripts/accuracy.py"


rule roofline:
    input:
        summary=SUMMARY,
        ceilings=ceilings(),
        code=[
            source(SCRIPTS / "roofline.py"),
            *library("chart_roofline.py", "roofline.py", "cells.py", *CHARTING),
            *library("summary.py", "outcomes.py", "apart.py", "interference.py", "machine.py"),
            *library("nvml.py", "scheduler.py"),
            *library("workloads/__init__.py", "placement.py"),
        ],
    output:
        svg=[
            report(
                f"{OUT}/plots/roofline_{dtype}.svg",
                **on_page("roofline", category="All workloads", dtype=dtype),
            )
            for dtype in DTYPES
        ],
        png=[f"{OUT}/plots/roofline_{dtype}.png" for dtype in DTYPES],
    log:
        f"logs/{CONFIG.name or 'default'}/roofline.log",
    conda:
        ENVIRONMENT
    params:
        ceilings=[f"{one.backend}/{one.dtype}" for one in cells.ceilings_of(SORTED_CELLS)],
        rounds=CONFIG.rounds,
        dtypes=DTYPES,
    message:
        "draw how near to the machine each dtype is"
    script:
        "../scripts/roofline.py"


if CONFIG.is_survey:

    localrules:
        regimes,

    rule regimes:
        input:
            summary=SUMMARY,
            break_even=rules.decide.output.break_even,
            reuse=rules.decide.output.reuse,
            code=[
                source(SCRIPTS / "regimes.py"),
                *library("chart_regimes.py", "regimes.py", "workloads/__init__.py"),
                *library("verdict.py", "findings.py", "costs.py", "trust.py"),
                *library("fastest.py", "placement.py", "slowing.py", "take_home.py", "cells.py"),
                *library("cheaper.py"),
                *library(*DECIDED, *CHARTING),
            ],
        output:
            markdown=report(SURVEY, category="Verdict", caption="../report/kinds.rst"),
            svg=report(
                f"{OUT}/plots/regimes.svg",
                **on_page("regimes", category="All workloads", dtype="all"),
            ),
            png=f"{OUT}/plots/regimes.png",
        log:
            f"logs/{CONFIG.name or 'default'}/regimes.log",
        conda:
            ENVIRONMENT
        params:
            regimes=[f"{name}: {kind}" for name, kind in REGIMES.items()],
        message:
            "draw what kind of work is worth moving"
        script:
            "../scripts/regimes.py"


rule curve:
    input:
        tables=lambda wildcards: [str(cell.csv(1)) for cell in drawn_cells(wildcards)],
        arrays=lambda wildcards: [str(cell.array) for cell in drawn_cells(wildcards)],
        code=[
            source(SCRIPTS / "curve.py"),
            *library("curve.py", "raster.py", "ink.py", "cells.py", *DRAWING),
        ],
    output:
        svg=report(f"{PLOTS}/curve.svg", **on_page("curve")),
        png=f"{PLOTS}/curve.png",
    log:
        f"logs/{CONFIG.name or 'default'}/curve/{{workload}}/{{dtype}}.log",
    conda:
        ENVIRONMENT
    params:
        backends=BACKENDS,
        baseline=CONFIG.baseline,
        sizes=lambda wildcards: [
            *reversed(CONFIG.workloads[wildcards.workload].sizes_in(wildcards.dtype))
        ],
    message:
        "draw the curve of {wildcards.workload}, {wildcards.dtype}"
    script:
        "../scripts/curve.py"

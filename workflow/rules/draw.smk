PLOTS = f"{OUT}/plots/{{workload}}/{{dtype}}"
DRAWING = ["style.py", *READING]


rule charts:
    input:
        summary=SUMMARY,
        code=[
            source(SCRIPTS / "charts.py"),
            *library("charts.py", "notes.py", "table.py", *DRAWING),
            *library("grades.py", "intervals.py", "machines.py"),
        ],
    output:
        time_svg=report(f"{PLOTS}/time.svg", **on_page("time")),
        time_png=f"{PLOTS}/time.png",
        speedup_svg=report(f"{PLOTS}/speedup.svg", **on_page("speedup")),
        speedup_png=f"{PLOTS}/speedup.png",
    log:
        f"logs/{CONFIG.name or 'default'}/charts/{{workload}}/{{dtype}}.log",
    conda:
        ENVIRONMENT
    message:
        "draw {wildcards.workload}, {wildcards.dtype}"
    script:
        "../scripts/charts.py"


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
        sizes=lambda wildcards: list(reversed(CONFIG.workloads[wildcards.workload].sizes)),
    message:
        "draw the curve of {wildcards.workload}, {wildcards.dtype}"
    script:
        "../scripts/curve.py"

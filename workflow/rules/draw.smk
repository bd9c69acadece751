PLOTS = f"{OUT}/plots/{{workload}}/{{dtype}}"
DRAWING = ["style.py", "record.py", "turn.py"]


rule charts:
    input:
        summary=SUMMARY,
        code=[relative(SCRIPTS / "charts.py"), *library("charts.py", "status.py", *DRAWING)],
    output:
        time_svg=f"{PLOTS}/time.svg",
        time_png=report(f"{PLOTS}/time.png", **on_page("time")),
        speedup_svg=f"{PLOTS}/speedup.svg",
        speedup_png=report(f"{PLOTS}/speedup.png", **on_page("speedup")),
    log:
        f"logs/{CONFIG.name or 'default'}/charts/{{workload}}/{{dtype}}.log",
    message:
        "draw {wildcards.workload}, {wildcards.dtype}"
    conda:
        ENVIRONMENT
    script:
        "../scripts/charts.py"


rule curve:
    input:
        tables=lambda wildcards: [str(cell.csv(1)) for cell in drawn_cells(wildcards)],
        arrays=lambda wildcards: [str(cell.array) for cell in drawn_cells(wildcards)],
        code=[
            relative(SCRIPTS / "curve.py"),
            *library("curve.py", "cells.py", "status.py", *DRAWING),
        ],
    output:
        svg=f"{PLOTS}/curve.svg",
        png=report(f"{PLOTS}/curve.png", **on_page("curve")),
    log:
        f"logs/{CONFIG.name or 'default'}/curve/{{workload}}/{{dtype}}.log",
    message:
        "draw the curve of {wildcards.workload}, {wildcards.dtype}"
    params:
        backends=list(CONFIG.backends),
        baseline=CONFIG.baseline,
        sizes=lambda wildcards: list(reversed(CONFIG.workloads[wildcards.workload].sizes)),
    conda:
        ENVIRONMENT
    script:
        "../scripts/curve.py"

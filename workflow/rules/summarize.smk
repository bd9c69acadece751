rule summarize:
    input:
        cells=tables([*CELLS, *PICTURES]),
        arrays=[str(cell.array) for cell in CELLS],
        ceilings=ceilings(),
        code=[
            source(SCRIPTS / "summarize.py"),
            *library("summary.py", "outcomes.py", "grades.py", "intervals.py", *READING),
            *library("apart.py", "machines.py"),
            *library("roofline.py", "workloads/__init__.py", "placement.py"),
            *library("table.py", "cells.py", "interference.py", "machine.py", "nvml.py"),
            *library("scheduler.py", "prices.py"),
        ],
    output:
        summary=report(SUMMARY, category="Summary", caption="../report/summary.rst"),
    log:
        f"logs/{CONFIG.name or 'default'}/summarize.log",
    conda:
        ENVIRONMENT
    params:
        asked=[f"{name}={model}" for name, model in sorted(CONFIG.gpu_models.items())],
        baseline=CONFIG.baseline,
        baselines=[f"{name}={own}" for name, own in sorted(CONFIG.baselines.items())],
        cells=[f"{c.workload}/{c.backend}/{c.dtype}/{c.size}" for c in SORTED_CELLS],
        currency=CONFIG.currency,
        mixed_machines=CONFIG.mixed_machines,
        pictures=[f"{p.workload}/{p.backend}/{p.dtype}/{p.size}" for p in sorted(PICTURES)],
        prices=[f"{name} {price!r}" for name, price in sorted(CONFIG.prices.items())],
        rounds=CONFIG.rounds,
    message:
        f"summarize {len(CELLS)} cells of {CONFIG.rounds} rounds"
    script:
        "../scripts/summarize.py"

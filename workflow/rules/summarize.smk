rule summarize:
    input:
        cells=[str(cell.csv(round)) for cell in CELLS for round in range(1, CONFIG.rounds + 1)],
        code=[
            relative(SCRIPTS / "summarize.py"),
            *library("summary.py", "record.py", "status.py", "cells.py"),
        ],
    output:
        summary=report(SUMMARY, category="Summary", caption="../report/summary.rst"),
    log:
        f"logs/{CONFIG.name or 'default'}/summarize.log",
    message:
        f"summarize {len(CELLS)} cells of {CONFIG.rounds} rounds"
    params:
        baseline=CONFIG.baseline,
        cells=[f"{c.workload}/{c.backend}/{c.dtype}/{c.size}" for c in CELLS],
        rounds=CONFIG.rounds,
    conda:
        ENVIRONMENT
    script:
        "../scripts/summarize.py"

rule summarize:
    input:
        cells=tables([*CELLS, *PICTURES]),
        code=[
            source(SCRIPTS / "summarize.py"),
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
        cells=[f"{c.workload}/{c.backend}/{c.dtype}/{c.size}" for c in SORTED_CELLS],
        pictures=[f"{p.workload}/{p.backend}/{p.dtype}/{p.size}" for p in sorted(PICTURES)],
        rounds=CONFIG.rounds,
    conda:
        ENVIRONMENT
    script:
        "../scripts/summarize.py"

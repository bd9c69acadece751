rule ceilings:
    input:
        backend=backend_file,
        code=[
            source(SCRIPTS / "ceilings.py"),
            *HARNESS,
            *library("ceilings.py", "cells.py"),
        ],
    output:
        csv="results/ceilings/{backend}/{dtype}/{round}.csv",
    log:
        "logs/ceilings/{backend}/{dtype}/{round}.log",
    priority: priority_of
    group:
        GROUP
    conda:
        ENVIRONMENT
    threads: whole_machine()
    resources:
        **ASKED,
    params:
        **OF_BACKEND,
        budget_s=repr(CONFIG.budget_s),
        memory=of_backend(lambda backend: backend.memory),
    message:
        "ceilings of {wildcards.backend}, {wildcards.dtype}, "
        f"round {{wildcards.round}} of {CONFIG.rounds}"
    script:
        "../scripts/ceilings.py"

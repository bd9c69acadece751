# The probe is no input, not even an ancient() one: Snakemake does not look for reasons of their own
# in jobs below one that runs anyway, so that a new option would run the probe now and the cells one
# sweep later; and a probe that was deleted would re-run them all. Its priority puts it first. A cell
# that finds no answer to its own question asks the library itself.
CELL = "cells/{workload}/{backend}/{dtype}/{size}"


rule measure:
    input:
        workload=workload_file,
        backend=backend_file,
        code=[source(SCRIPTS / "measure.py"), *HARNESS],
    output:
        csv=f"results/{CELL}/1.csv",
        array=f"results/{CELL}/output.npy",
    log:
        f"logs/{CELL}/1.log",
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
        seed=CONFIG.seed,
    message:
        "{wildcards.workload}, {wildcards.backend}, {wildcards.dtype}, n={wildcards.size}, "
        f"round 1 of {CONFIG.rounds}"
    script:
        "../scripts/measure.py"


# Later rounds keep no output array: it is the same as the first one's, or a mismatch.
use rule measure as measure_again with:
    output:
        csv=f"results/{CELL}/{{round}}.csv",
    log:
        f"logs/{CELL}/{{round}}.log",
    wildcard_constraints:
        round=r"[2-9]|[1-9]\d+",
    message:
        "{wildcards.workload}, {wildcards.backend}, {wildcards.dtype}, n={wildcards.size}, "
        f"round {{wildcards.round}} of {CONFIG.rounds}"

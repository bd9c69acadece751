# The probe is ancient(): running it again must not re-run the cells. They re-run for what is in
# params and in the sources, nothing else.
CELL = "cells/{workload}/{backend}/{dtype}/{size}"


rule measure:
    input:
        probe=ancient("results/backends/{backend}.json"),
        workload=workload_file,
        backend=backend_file,
        code=[source(SCRIPTS / "measure.py"), *HARNESS],
    output:
        csv=f"results/{CELL}/1.csv",
        array=f"results/{CELL}/output.npy",
    log:
        f"logs/{CELL}/1.log",
    priority: priority_of
    conda:
        ENVIRONMENT
    threads: whole_machine()
    params:
        budget_s=repr(CONFIG.budget_s),
        device=of_backend(lambda backend: backend.device),
        machine=of_backend(lambda backend: identity.where(CONFIG, backend)),
        options=of_backend(identity.options),
        seed=CONFIG.seed,
        threads=of_backend(lambda backend: identity.threads(CONFIG, backend)),
        versions=of_backend(identity.versions),
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

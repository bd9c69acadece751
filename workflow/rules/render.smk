# By the way of drawing, what it needs besides matplotlib.
METHODS = {"line": (), "raster": ("raster.py", "ink.py")}


rule render:
    input:
        workload=workload_file,
        code=[
            source(SCRIPTS / "render.py"),
            *HARNESS,
            *library("rendering.py"),
        ],
        method=lambda wildcards: library(*METHODS[wildcards.method]),
    output:
        csv="results/render/{workload}/{dtype}/{size}/{method}/{round}.csv",
    log:
        "logs/render/{workload}/{dtype}/{size}/{method}/{round}.log",
    wildcard_constraints:
        method=any_of(METHODS),
    priority: priority_of
    group:
        GROUP
    conda:
        ENVIRONMENT
    threads: whole_machine()
    resources:
        **ASKED,
    params:
        budget_s=repr(CONFIG.budget_s),
        # A text would be searched for {wildcards}.
        machine=of_workload(lambda workload: WHERE_PICTURES_ARE),
        seed=CONFIG.seed,
        versions=identity.versions_of("matplotlib", "numpy"),
    message:
        "render {wildcards.workload}, {wildcards.method}, {wildcards.dtype}, n={wildcards.size}, "
        f"round {{wildcards.round}} of {CONFIG.rounds}"
    script:
        "../scripts/render.py"

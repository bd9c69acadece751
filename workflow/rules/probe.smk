rule probe:
    input:
        backend=backend_file,
        code=[source(SCRIPTS / "probe.py"), *HARNESS, *library("facts.py", "gpu.py")],
    output:
        facts="results/backends/{backend}.json",
    log:
        "logs/backends/{backend}.log",
    priority: 1 + (1 + len(GROUPS)) * CONFIG.rounds
    group:
        GROUP
    conda:
        ENVIRONMENT
    threads: whole_machine()
    resources:
        **ASKED,
    params:
        **OF_BACKEND,
    message:
        "probe {wildcards.backend}"
    script:
        "../scripts/probe.py"

rule probe:
    input:
        backend=backend_file,
        code=[source(SCRIPTS / "probe.py"), *HARNESS],
    output:
        facts="results/backends/{backend}.json",
    log:
        "logs/backends/{backend}.log",
    priority: 1 + len(GROUPS) * CONFIG.rounds
    conda:
        ENVIRONMENT
    threads: whole_machine()
    params:
        device=of_backend(lambda backend: backend.device),
        machine=of_backend(lambda backend: identity.where(CONFIG, backend)),
        options=of_backend(identity.options),
        threads=of_backend(lambda backend: identity.threads(CONFIG, backend)),
        versions=of_backend(identity.versions),
    message:
        "probe {wildcards.backend}"
    script:
        "../scripts/probe.py"

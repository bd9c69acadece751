rule decide:
    input:
        summary=SUMMARY,
        code=[
            source(SCRIPTS / "decide.py"),
            *library("decide.py", "break_even.py", "speedup_curve.py", "intervals.py"),
            *library("reuse.py", "take_home.py", "use_gpu_template.py", "table.py", "cells.py"),
            *library(*READING),
        ],
    output:
        break_even=report(
            f"{OUT}/break_even.csv", category="Summary", caption="../report/break_even.rst"
        ),
        reuse=report(f"{OUT}/reuse.csv", category="Summary", caption="../report/reuse.rst"),
        use_gpu=f"{OUT}/use_gpu.py",
    log:
        f"logs/{CONFIG.name or 'default'}/decide.log",
    conda:
        ENVIRONMENT
    message:
        "decide from which size on"
    script:
        "../scripts/decide.py"

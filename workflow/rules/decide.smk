rule decide:
    input:
        summary=SUMMARY,
        code=[
            source(SCRIPTS / "decide.py"),
            *library("decide.py", "break_even.py", "speedup_curve.py", "intervals.py"),
            *library("reuse.py", "take_home.py", "use_gpu_template.py", "table.py", "cells.py"),
            *library("verdict.py", "findings.py", "costs.py", "trust.py", "words.py", "rows.py"),
            *library("fastest.py", "grades.py", "machines.py", "slowing.py", *READING),
            *library("cheaper.py", "prices.py"),
        ],
    output:
        verdict=report(f"{OUT}/verdict.md", category="Verdict", caption="../report/verdict.rst"),
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


# Only where something was measured that can stand beside the article's figures.
ARTICLE = f"{OUT}/article.md" if article.wanted(CELLS) else []

if ARTICLE:

    localrules:
        article,

    rule article:
        input:
            summary=SUMMARY,
            code=[
                source(SCRIPTS / "article.py"),
                *library("article.py", "words.py", "rows.py", "intervals.py", "cells.py"),
                *library("table.py", *READING),
            ],
        output:
            markdown=report(ARTICLE, category="Verdict", caption="../report/article.rst"),
            csv=report(f"{OUT}/article.csv", category="Verdict", caption="../report/article.rst"),
        log:
            f"logs/{CONFIG.name or 'default'}/article.log",
        conda:
            ENVIRONMENT
        message:
            "the article beside us"
        script:
            "../scripts/article.py"


# Only where there are several kinds of work to tell apart.
SURVEY = f"{OUT}/regimes.md" if CONFIG.is_survey else []

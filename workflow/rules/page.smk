PAGE_PARTS = ("page.html.j2", "page.css", "page.js")


rule page:
    input:
        verdict=rules.decide.output.verdict,
        summary=SUMMARY,
        break_even=rules.decide.output.break_even,
        reuse=rules.decide.output.reuse,
        article=ARTICLE,
        regimes=SURVEY,
        pictures=sorted(file for file in pictures() if file.endswith(".svg")),
        probes=[str(cells.probe_json(name)) for name in BACKENDS],
        code=[
            source(SCRIPTS / "page.py"),
            *[source(ROOT / "workflow/page" / name) for name in PAGE_PARTS],
            *library("page.py", "page_files.py", "page_parts.py", "page_costs.py", "svg.py"),
            *library("inline_svg.py", "words.py", "grades.py", "intervals.py", "table.py"),
            *library("cells.py", "assumed.py", "take_home.py", *DECIDED, *READING),
        ],
    output:
        page=f"{OUT}/report.html",
    log:
        f"logs/{CONFIG.name or 'default'}/page.log",
    conda:
        ENVIRONMENT
    params:
        name=CONFIG.name,
        versions=identity.versions_of("itables", "jinja2", "markdown-it-py"),
    message:
        "make the page"
    script:
        "../scripts/page.py"

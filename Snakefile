# Is it worth moving this to the GPU, and from which size on? Crossover measures it here.
#
#   config.yaml        what to measure, the one file to edit
#   workflow/rules/    one file per stage, in the order of the data
#   results/           what comes out

from snakemake.utils import min_version

min_version("9.15")


include: "workflow/rules/common.smk"  # config.yaml -> cells
include: "workflow/rules/nodes.smk"  # what a cluster is asked for, and which jobs go together
include: "workflow/rules/probe.smk"  # one job per backend: is it here, does it work?
include: "workflow/rules/measure.smk"  # one job per cell and round: raw samples
include: "workflow/rules/ceilings.smk"  # what the machine can do at best
include: "workflow/rules/render.smk"  # what making the picture costs, on its own
include: "workflow/rules/summarize.smk"  # one row per cell and scope
include: "workflow/rules/decide.smk"  # from which size on, and a file to take home
include: "workflow/rules/draw.smk"  # charts and the curve
include: "workflow/rules/page.smk"  # everything on one page


# On a cluster only what is measured goes to nodes.
localrules:
    all,
    summarize,
    decide,
    charts,
    accuracy,
    roofline,
    curve,
    page,


rule all:
    default_target: True
    input:
        probes(),
        samples(),
        ceilings(),
        SUMMARY,
        rules.decide.output,
        ARTICLE,
        SURVEY,
        pictures(),
        rules.page.output,
    message:
        f"results are in {OUT}/"

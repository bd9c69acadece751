# What a cluster is asked for, and which jobs it gets as one: all of it empty where jobs run here.

import os
from functools import cache

# The name that the profile's group-components give a number to: how many jobs go into one submission.
TOGETHER = "measuring"
# A limit of one, in each submission on its own: Snakemake adds up what the jobs of a group need if
# they could run side by side, and takes the largest of it if they cannot.
TURN = "turn"


resource_scopes:
    turn="local",


if PLACES and workflow.is_main_process:
    limit = workflow.resource_settings._parsed_resources.get(TURN)
    if limit is None or limit.value != 1:
        words = "a group would ask for the sum of what its jobs need, and for as many GPUs"
        sys.exit(
            f"on a cluster Snakemake needs --resources {TURN}=1, as profiles/slurm has: else {words}"
        )

# A job on a node measures itself, instead of handing each cell to another Snakemake (srun's) that
# needs seconds to start. Not in an array of Slurm's: there the first job's command is everyone's, and
# the step that srun starts is who finds its own.
if PLACES and not workflow.is_main_process and "SLURM_ARRAY_TASK_ID" not in os.environ:

    localrules:
        probe,
        measure,
        measure_again,
        ceilings,
        render,


EXTRA = nodes.plain(PROFILE.get("slurm_extra", ""))
WHERE_PICTURES_ARE = identity.host(CONFIG, PLACES)


def where(wildcards):
    """The backend on whose kind of node a job runs: what is drawn is measured beside the baseline."""
    return wildcards.get("backend", CONFIG.baseline)


@cache
def batches():
    """By kind of node and set of what is compared, the number of a batch; {} in the jobs, where
    nothing is submitted. Snakemake reads the profile's group-components after this file."""
    most = workflow.group_settings.group_components.get(TOGETHER, 1)
    return nodes.batches(list(GROUPS), CELLS, PLACES, most) if most > 1 else {}


@signed
def group_of(wildcards):
    """Whole sets of what is compared, of one round, on one kind of node."""
    if not batches():
        return None
    place = PLACES[where(wildcards)].name
    round = wildcards.get("round", "1")
    one = tuple(wildcards.get(name) for name in ("workload", "dtype", "size"))
    if one in GROUPS:
        name = f"{place}-round{round}-part{batches().get((place, one), 1)}"
    elif "dtype" in wildcards.keys():
        name = f"{place}-round{round}-ceilings"
    else:
        name = f"{place}-probes"
    # As Snakemake does for a group with wildcards in its name.
    workflow.parent_groupids[name] = TOGETHER
    return name


def asked(key, otherwise=None):
    """A resource as a function of a job: what the backend's entry says, or the profile, or else
    `otherwise`, of the wildcards."""
    known = {
        name: dict(backend.resources).get(key, PROFILE.get(key))
        for name, backend in CONFIG.backends.items()
    }

    @signed
    def resource(wildcards, attempt):
        value = known[where(wildcards)]
        if value is None and otherwise is not None:
            value = otherwise(wildcards)
        # What was killed for its memory or its time is tried again with more.
        return value * 2 ** (attempt - 1) if key in ("mem_mb", "runtime") else value

    return resource


def of_place(get):
    found = {name: get(place) for name, place in PLACES.items()}
    return signed(lambda wildcards: found[where(wildcards)])


def memory_mb(wildcards):
    gpu = PLACES[where(wildcards)].gpu
    if "size" not in wildcards.keys():
        return nodes.memory_mb(nodes.CEILINGS, gpu)
    workload = CONFIG.workloads[wildcards.workload]
    return nodes.memory_mb(nodes.cost(workload.file, int(wildcards.size), wildcards.dtype), gpu)


def ask_steadily(executor):
    """The plugin for Slurm (2.8) asks ever less often while nothing has ended, up to three minutes
    apart: the end of a batch, and whatever went wrong, would be noticed as late. One squeue for all
    jobs every slurm-init-seconds-before-status-checks is no burden.

    Before each it asks for Slurm's MinJobAge as well. Without an answer, as when the controller is
    restarted, it asks sacct instead; where nothing is accounted that fails, and it forgets its jobs
    and waits for ever. The number never changes: it is asked for once."""
    every = getattr(workflow.executor_settings, "init_seconds_before_status_checks", None)
    if every:
        type(executor).next_seconds_between_status_checks = property(
            lambda self: every, lambda self, longer: None
        )
        slurm = sys.modules[type(executor).__module__]
        if age := slurm.get_min_job_age():
            slurm.get_min_job_age = lambda: age


GROUP = group_of if PLACES and workflow.is_main_process else None
ASKED = {}
if PLACES:
    ASKED = {
        key: of_place(lambda place, key=key: dict(place.machine + place.common).get(key))
        for key in (*nodes.MACHINE, *nodes.NODE)
    } | {
        "gpu": of_place(lambda place: 1 if place.gpu else None),
        "exclusive": of_place(lambda place: int(place.exclusive)),
        "slurm_extra": of_place(lambda place: place.extra(EXTRA)),
        "cpus_per_task": asked("cpus_per_task"),
        "mem_mb": asked("mem_mb", memory_mb),
        "runtime": asked("runtime", lambda wildcards: nodes.minutes(CONFIG.timeout_s)),
        TURN: 1,
    }
